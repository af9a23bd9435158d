"""Every source file has its test file, at the same place in the tests' tree."""

import ast
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGES, ROOT, Source, sources

LOGIC = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def holds_code(source: Source) -> bool:
    """Whether there is something to test: more than prose, and in an `__init__` more than names."""
    if source.path.name == "__init__.py":
        return any(isinstance(node, LOGIC) for node in source.tree.body)
    return any(not _is_prose(node) for node in source.tree.body)


def _is_prose(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def places_of_its_test(source: Path, package: Path, tests: Path) -> list[Path]:
    """Return where its test may be; a `__main__` is called either way."""
    folder = tests / source.relative_to(package).parent
    stem = source.parent.name if source.name == "__init__.py" else source.stem
    stems = ["main", "__main__"] if source.name == "__main__.py" else [stem]
    return [folder / f"test_{stem}.py" for stem in stems]


def test_the_mirror_knows_its_ways() -> None:
    package, tests = ROOT / "cli" / "cacheroute_cli", ROOT / "tests" / "cli"

    [place] = places_of_its_test(package / "commands" / "demo.py", package, tests)
    ways = places_of_its_test(package / "__main__.py", package, tests)

    assert place == tests / "commands" / "test_demo.py"
    assert ways == [tests / "test_main.py", tests / "test___main__.py"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_every_source_file_has_its_test_file(package: Path) -> None:
    missing = [
        source.name
        for source in sources(package)
        if holds_code(source)
        and not any(p.exists() for p in places_of_its_test(source.path, package, PACKAGES[package]))
    ]

    assert not missing, "without a test file: " + " ".join(missing)
