"""Programs that get the terminal for themselves while the console waits: the reader's pager."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from textual.app import App, SuspendNotSupported

_NO_COLOR = os.environ.get("NO_COLOR")
"""As the console was started with: the toolkit takes it out of the environment."""


def surroundings() -> dict[str, str]:
    """Return the environment for programs that we start: ours, as it was before the toolkit."""
    found = dict(os.environ)
    if _NO_COLOR is not None:
        found["NO_COLOR"] = _NO_COLOR
    return found


def pager_command(environ: Mapping[str, str]) -> list[str] | None:
    """Return the words of the reader's pager; None where there is none."""
    said = environ.get("PAGER", "").strip()
    try:
        words = shlex.split(said) if said else []
    except ValueError:
        words = []
    for choice in (words, ["less", "-S"], ["more"]):
        if choice and shutil.which(choice[0], path=environ.get("PATH")):
            return choice
    return None


def read_in_pager(app: App[int], path: Path) -> str | None:
    """Give the terminal to the pager until it ends; returns what went wrong, or None."""
    environ = surroundings()
    command = pager_command(environ)
    if command is None:
        return "there is no pager here: set PAGER"
    try:
        with app.suspend():
            ended = subprocess.run([*command, str(path)], env=environ, check=False)
    except SuspendNotSupported:
        return "a pager needs a terminal of its own, which this one cannot give away"
    except OSError as problem:
        return f"{command[0]} cannot be started ({problem.strerror})"
    return None if ended.returncode == 0 else f"{command[0]} ended with {ended.returncode}"
