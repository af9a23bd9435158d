"""Where the console's configuration is looked for, as the XDG base directories have it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CONFIG_VARIABLE = "CACHEROUTE_CONFIG"
"""Names the settings of the Proxy too; a file of the console ends in .toml."""
STACK_VARIABLE = "CACHEROUTE_STACK_FILE"
STACK_FILES = ("stack.yaml", "cacheroute.yaml")
_FILE = Path("cacheroute") / "config.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The files of one command, whether they are there or not."""

    user: Path | None
    """The one that is edited; None without a home."""
    is_named: bool
    """Whether somebody named that file, so that it must be there."""
    system: tuple[Path, ...]
    """The first outranks the others."""
    stack: Path | None
    """The stack file here; None where there is none."""


def places(named: str | None, environ: Mapping[str, str], here: Path) -> Places:
    """Return where to look; `named` is what `--config` says."""
    from_variable = environ.get(CONFIG_VARIABLE, "").strip()
    if named is None and from_variable.lower().endswith(".toml"):
        named = from_variable
    folders = environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    return Places(
        user=expanded(named).absolute() if named is not None else _users(environ),
        is_named=named is not None,
        # A relative folder would be another one in each folder, and is to be ignored.
        system=tuple(Path(f) / _FILE for f in folders.split(":") if f.startswith("/")),
        stack=_stack_file(environ, here),
    )


def expanded(path: str) -> Path:
    """Return a path with `~` taken for the home folder; where nobody is called `~NAME` it stays."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _stack_file(environ: Mapping[str, str], here: Path) -> Path | None:
    if named := environ.get(STACK_VARIABLE):
        return here / named
    return next((here / name for name in STACK_FILES if (here / name).is_file()), None)


def _users(environ: Mapping[str, str]) -> Path | None:
    folder = environ.get("XDG_CONFIG_HOME", "")
    if folder.startswith("/"):
        return Path(folder) / _FILE
    home = environ.get("HOME", "")
    return Path(home) / ".config" / _FILE if home.startswith("/") else None
