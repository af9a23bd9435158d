"""A person's edit of the configuration: on a copy, which takes its place only when it is good."""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from cacheroute_cli.config.load import BadConfig
from cacheroute_cli.config.sources import Unreadable, read_text
from cacheroute_cli.config.store import doubts_in, problems_of, put
from cacheroute_cli.config.texts import template
from cacheroute_cli.diagnostics import Fault, UsageFault, note

_EDITORS = ("VISUAL", "EDITOR")
_USUAL_EDITOR = "vi"


class EditorFailed(Fault):
    """The editor did not end well; nothing is changed."""

    code = "config.editor"


def edit_by_hand(path: Path) -> None:
    """Open the configuration in an editor; raises BadConfig when it does not come back good."""
    if not sys.stdin.isatty() and not any(os.environ.get(name) for name in _EDITORS):
        raise UsageFault("nobody is here to edit", hint=f"the file is {path}")
    try:
        before = read_text(path)
    except FileNotFoundError:
        before = template()
    except Unreadable as problem:
        raise BadConfig(str(problem)) from None
    with tempfile.NamedTemporaryFile("w", prefix="cacheroute-", suffix=".toml", delete=False) as f:
        f.write(before)
    copy = Path(f.name)
    _run_editor(copy)
    after = copy.read_text(encoding="utf-8")
    if problems := (problems_of(after, copy) or doubts_in(after, copy)):
        raise BadConfig(
            "\n".join(problems), hint=f"{path} is as it was; what you wrote is kept in {copy}"
        )
    copy.unlink()
    if after == before and path.exists():
        note("nothing was changed")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    put(path, after)
    note(f"{path} is written")


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
