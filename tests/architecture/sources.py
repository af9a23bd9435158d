"""The files of this repository, sorted by what they are."""

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PACKAGES = {
    ROOT / "cacheroute": ROOT / "tests" / "cacheroute",
    ROOT / "cli" / "cacheroute_cli": ROOT / "tests" / "cli",
    ROOT / "tui" / "cacheroute_tui": ROOT / "tests" / "tui",
}
"""Where each package is, and where its tests are."""


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file."""

    path: Path

    @property
    def name(self) -> str:
        """Its path from the root of the repository."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def tree(self) -> ast.Module:
        """Its syntax."""
        return parsed(self.path)

    @property
    def docstring(self) -> str | None:
        """What the module says of itself."""
        return ast.get_docstring(self.tree)

    @property
    def lines(self) -> int:
        """How long it is."""
        return self.path.read_text(encoding="utf-8").count("\n")


@functools.cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def sources(folder: Path) -> Iterator[Source]:
    """Find every Python file below a folder, in a fixed order."""
    return (Source(path) for path in sorted(folder.rglob("*.py")))


def product() -> Iterator[Source]:
    """Find every Python file that is installed with the package."""
    for package in PACKAGES:
        yield from sources(package)


def own_files() -> Iterator[Source]:
    """Find every Python file of the repository."""
    yield from product()
    yield from sources(ROOT / "tests")
    yield from sources(ROOT / "examples")
