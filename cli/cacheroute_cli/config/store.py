"""The user's configuration file, changed: read, edited and put back whole, one change at a time."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cacheroute_cli.config.layers import Layer
from cacheroute_cli.config.load import BadConfig
from cacheroute_cli.config.places import Places
from cacheroute_cli.config.sources import Unreadable, fill_from_toml, read_text
from cacheroute_cli.config.toml_edit import CannotEdit
from cacheroute_cli.diagnostics import Exit, Fault

_EDIT = "'cacheroute config edit' opens it"


class ConfigUnwritable(Fault):
    """The configuration cannot be changed."""

    code = "config.unwritable"
    exit = Exit.FAILED


class ConfigChanged(Fault):
    """Another command has changed the configuration meanwhile."""

    code = "config.changed"
    exit = Exit.CONFLICT


class ConfigNotEditable(Fault):
    """The configuration is good and written in a way that only a person can change."""

    code = "config.not_editable"
    exit = Exit.CONFLICT


def users_file(places: Places) -> Path:
    """Return the file to change; raises ConfigUnwritable where there is no home for it."""
    if places.user is None:
        raise ConfigUnwritable(
            "there is no home folder to keep a configuration in",
            hint="set HOME or XDG_CONFIG_HOME, or name a file with --config",
        )
    return places.user


def problems_of(text: str, path: Path) -> list[str]:
    """Return what is wrong with a text as the configuration, a sentence each."""
    layer = Layer()
    fill_from_toml(layer, text, path)
    return layer.problems


def doubts_in(text: str, path: Path) -> list[str]:
    """Return what a good text asks of the console in vain, a sentence each."""
    from cacheroute_cli.config.doubts import doubts

    layer = Layer()
    fill_from_toml(layer, text, path)
    return doubts(layer.values)


def change(path: Path, edit: Callable[[str], str]) -> None:
    """Edit the file, which need not be there yet.

    Raises BadConfig when it is wrong already, ConfigNotEditable or ConfigUnwritable.
    """
    try:
        with _locked(path):
            text = _text(path)
            new = edit(text)
            # An edit proves that it is the one change; a reader proves that the change is good.
            if problems := problems_of(new, path):
                raise BadConfig("\n".join(problems), hint=_EDIT)
            _put(path, new)
    except CannotEdit as problem:
        raise ConfigNotEditable(f"{path}: {problem}", hint=_EDIT) from None
    except OSError as problem:
        raise ConfigUnwritable(
            f"{path} cannot be written ({(problem.strerror or 'unknown').lower()})"
        ) from None


def put_over(path: Path, before: str | None, text: str) -> None:
    """Write the file anew if it still says what it did before; None is no file.

    Raises ConfigChanged when it says something else, or OSError.
    """
    with _locked(path):
        try:
            now: str | None = read_text(path)
        except FileNotFoundError:
            now = None
        except Unreadable as problem:
            raise ConfigChanged(str(problem)) from None
        if now != before:
            raise ConfigChanged(f"{path} was changed by another command meanwhile")
        _put(path, text)


def _put(path: Path, text: str) -> None:
    """Write the file anew, so that a reader sees the old one or the new one; raises OSError."""
    # A link into a folder of dotfiles stays a link.
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        with beside.open("w", encoding="utf-8") as file:
            if target.exists():
                os.fchmod(file.fileno(), target.stat().st_mode & 0o777)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _text(path: Path) -> str:
    try:
        text = read_text(path)
    except FileNotFoundError:
        return ""
    except Unreadable as problem:
        raise BadConfig(str(problem)) from None
    if problems := problems_of(text, path):
        raise BadConfig("\n".join(problems), hint=_EDIT)
    return text


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one command after the other change the file."""
    folder = path.resolve().parent
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
