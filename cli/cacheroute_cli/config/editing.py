"""A person's edit of the configuration: on a copy, which takes its place only when it is good."""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from cacheroute_cli.config.load import BadConfig
from cacheroute_cli.config.sources import Unreadable, read_text
from cacheroute_cli.config.store import (
    ConfigChanged,
    ConfigUnwritable,
    doubts_in,
    problems_of,
    put_over,
)
from cacheroute_cli.config.texts import template
from cacheroute_cli.diagnostics import Fault, UsageFault, note

_EDITORS = ("VISUAL", "EDITOR")
_USUAL_EDITOR = "vi"


class EditorFailed(Fault):
    """The editor did not end well; nothing is changed."""

    code = "config.editor"


def edit_by_hand(path: Path) -> None:
    """Open the configuration in an editor.

    Raises BadConfig when it does not come back good, ConfigUnwritable, or ConfigChanged when
    another command has changed it meanwhile; what was typed is kept.
    """
    if not sys.stdin.isatty() and not any(os.environ.get(name) for name in _EDITORS):
        raise UsageFault("nobody is here to edit", hint=f"the file is {path}")
    try:
        before: str | None = read_text(path)
    except FileNotFoundError:
        before = None
    except Unreadable as problem:
        raise BadConfig(str(problem)) from None
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix="cacheroute-", suffix=".toml", delete=False
    ) as f:
        f.write(template() if before is None else before)
    copy = Path(f.name)
    _run_editor(copy)
    after = _edited(copy, path)
    if after == before:
        copy.unlink()
        note("nothing was changed")
        return
    try:
        # Nobody is locked out for as long as a person types; who comes second sees the first.
        put_over(path, before, after)
    except ConfigChanged as fault:
        raise ConfigChanged(fault.message, hint=_kept(copy, path)) from None
    except OSError as problem:
        raise ConfigUnwritable(
            f"{path} cannot be written ({_reason(problem)})", hint=_kept(copy, path)
        ) from None
    copy.unlink()
    note(f"{path} is written")


def _edited(copy: Path, path: Path) -> str:
    """Return what came back from the editor; raises BadConfig when it is not good."""
    try:
        after = read_text(copy)
    except (Unreadable, FileNotFoundError) as problem:
        raise BadConfig(str(problem), hint=_kept(copy, path)) from None
    if problems := (problems_of(after, copy) or doubts_in(after, copy)):
        raise BadConfig("\n".join(problems), hint=_kept(copy, path))
    return after


def _kept(copy: Path, path: Path) -> str:
    return f"{path} is left as it is; what you wrote is kept in {copy}"


def _reason(problem: OSError | ValueError) -> str:
    words = problem.strerror if isinstance(problem, OSError) else None
    return (words or str(problem)).lower()


def _run_editor(copy: Path) -> None:
    said = next((os.environ[name] for name in _EDITORS if os.environ.get(name)), _USUAL_EDITOR)
    try:
        argv = [*shlex.split(said), str(copy)]
        code = subprocess.run(argv, check=False).returncode
    except (OSError, ValueError) as problem:
        copy.unlink()
        raise EditorFailed(
            f"the editor {said!r} cannot be started ({_reason(problem)})",
            hint="name another one in VISUAL or EDITOR",
        ) from None
    if code != 0:
        copy.unlink()
        raise EditorFailed(f"the editor {said!r} ended with exit {code}, and nothing was changed")
