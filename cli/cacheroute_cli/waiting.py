"""How long a slow start has taken: a line that redraws on a terminal, now and then a note else."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from cacheroute.console.amounts import render_duration
from cacheroute.console.cells import clip, printable
from cacheroute_cli.diagnostics import note, stderr_is_terminal

T = TypeVar("T")

_NOTE_EACH_S = 60.0
_LOOK_EACH_S = 0.2
_TAIL_BYTES = 4096
_MAX_SAID_CELLS = 100


@contextmanager
def waiting(what: str, last_said: Callable[[], str]) -> Iterator[Callable[[], None]]:
    """Show that something is waited for; yields what to call now and then meanwhile.

    `last_said` gives the last words of whoever is waited for.
    """
    began_s = time.monotonic()

    def line() -> str:
        said = clip(printable(last_said()), _MAX_SAID_CELLS)
        took = render_duration(time.monotonic() - began_s)
        return f"{what}  {took}" + (f"  {said}" if said else "")

    if not stderr_is_terminal():
        noted_s = began_s

        def tick() -> None:
            nonlocal noted_s
            if time.monotonic() - noted_s >= _NOTE_EACH_S:
                noted_s = time.monotonic()
                note(line())

        note(what)
        yield tick
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, markup=False, highlight=False)
    with console.status(Text(line())) as status:
        yield lambda: status.update(Text(line()))


def seldom(look: Callable[[], T | None]) -> Callable[[], T | None]:
    """Look now and then only, however often one is asked: a start may take half an hour."""
    next_s = 0.0

    def now_and_then() -> T | None:
        nonlocal next_s
        if time.monotonic() < next_s:
            return None
        next_s = time.monotonic() + _LOOK_EACH_S
        return look()

    return now_and_then


def last_line(text: str) -> str:
    """Return the last line of a log, as a terminal would show it."""
    lines = [line for line in text.split("\n") if line.strip()]
    return lines[-1].rstrip("\r").rpartition("\r")[2] if lines else ""


def tail_of(log: Path) -> str:
    """Return the end of a log that may not be there yet."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return file.read(_TAIL_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
