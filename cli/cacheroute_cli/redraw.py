"""A picture of lines that stays in its place on a terminal: only what changed is drawn again.

Nothing is cleared, so nothing flickers, and the last picture stays in the scrollback. The
cursor always rests below the picture; whatever the shell prints next comes after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cacheroute_cli.tables import cells_shown, fit

_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know these show all that is between them at once; others skip them."""
_ERASE_LINE_REST = "\x1b[K"
_ERASE_BELOW = "\x1b[J"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Of a terminal, in cells."""

    columns: int
    rows: int


class Picture:
    """What stands on the terminal now."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size: Size | None = None

    def redrawn(self, lines: Sequence[str], size: Size) -> str:
        """Return what to write so that these lines stand in the place of those before."""
        new = [fit(line, size.columns) for line in lines[: max(1, size.rows - 1)]]
        before, self._lines = self._lines, new
        was, self._size = self._size, size
        if not before or was is None:
            body = "".join(line + "\n" for line in new)
        elif was != size:
            body = _anew(before, new, size)
        else:
            body = _changed(before, new, size)
        return _BEGIN + body + _END if body else ""


def _anew(before: Sequence[str], new: Sequence[str], size: Size) -> str:
    """Draw all of it: a narrower terminal has broken the lines that were there."""
    rows = sum(max(1, -(-cells_shown(line) // size.columns)) for line in before)
    up = _up(min(rows, size.rows - 1))
    return up + _ERASE_BELOW + "".join(line + "\n" for line in new)


def _changed(before: Sequence[str], new: Sequence[str], size: Size) -> str:
    if list(before) == list(new):
        return ""
    out = [_up(len(before))]
    for at, line in enumerate(new):
        if at < len(before) and before[at] == line:
            out.append("\n")
            continue
        # In the last column, erasing the rest would take the last sign as well.
        rest = _ERASE_LINE_REST if cells_shown(line) < size.columns else ""
        out.append(f"{line}{rest}\n")
    if len(new) < len(before):
        out.append(_ERASE_BELOW)
    return "".join(out)


def _up(rows: int) -> str:
    return f"\x1b[{rows}A\r" if rows > 0 else "\r"
