"""The look of what people read: rows laid out under their headers, and labelled lines.

Unknown is a dash, state is a word and a sign, and colour only repeats them.
"""

import re
import textwrap
from collections.abc import Sequence
from typing import TypeVar

from cacheroute.console.cells import UNKNOWN, cells, clip, pad, printable
from cacheroute.console.columns import GAP as _GAP
from cacheroute.console.columns import Column, Tone
from cacheroute.console.lines import Line

R = TypeVar("R")

_CODES: dict[Tone, str] = {"good": "32", "warn": "33", "bad": "31", "dim": "2", "plain": ""}
_NARROWEST = 8
_SHORT = 4
"""Cells of a first fact, a verdict, that is not worth a row of its own."""
_LABEL = 10
"""Cells that the label of a line takes, blanks included."""
_COLOR = re.compile(r"(\x1b\[[0-9;]*m)")


def render_table(
    columns: Sequence[Column[R]],
    rows: Sequence[R],
    *,
    width: int | None,
    color: bool,
    headers: bool = True,
    may_drop: bool = True,
) -> list[str]:
    """Lay the rows out under their headers; `width` None is as wide as it takes.

    What has no room is cut where that may be, to its floor, and then left out by rank; only when
    nobody else can go are names cut as well. `may_drop` false keeps columns that somebody has
    asked for by name.
    """
    if may_drop:
        columns = [column for column in columns if not column.spare or _tells(column, rows)]
    texts, widths = _measured(columns, rows, headers=headers)
    if width is not None and may_drop:
        if _excess(columns, widths, width) > 0:
            kept = [at for at, column in enumerate(columns) if not column.spare]
            columns, texts, widths = _only(kept, columns, texts, widths)
        while _least(columns, widths) > width and (worst := max(c.rank for c in columns)):
            kept = [at for at, column in enumerate(columns) if column.rank < worst]
            columns, texts, widths = _only(kept, columns, texts, widths)
    if width is not None:
        _give_way(columns, widths, width)
    lines = []
    if headers:
        header = _laid_out(columns, [column.header for column in columns], widths)
        lines.append(_toned(header, "dim", color))
    for row, line in zip(rows, texts, strict=True):
        tones = [column.tone(row) if column.tone else "plain" for column in columns]
        lines.append(_laid_out(columns, line, widths, tones if color else None))
    return lines


def fit(line: str, width: int) -> str:
    """Cut a line that may be coloured to so many cells."""
    if cells(_COLOR.sub("", line)) <= width:
        return line
    kept, room = "", width
    for part in _COLOR.split(line):
        if _COLOR.fullmatch(part):
            kept += part
        elif room > 0:
            shown = clip(part, room)
            kept += shown
            room -= cells(shown)
    return kept


def cells_shown(line: str) -> int:
    """Return how many cells a line takes that may be coloured."""
    return cells(_COLOR.sub("", line))


def render_line(line: Line, *, color: bool) -> str:
    """Write a labelled line, its facts apart from each other."""
    first, *others = [printable(fact) for fact in line.facts]
    label = f"{line.label:<{_LABEL - 1}} "
    return (label + _GAP.join([_toned(first, line.tone, color), *others])).rstrip()


def render_lines(lines: Sequence[Line], *, width: int | None, color: bool) -> list[str]:
    """Write labelled lines; what has no room in `width` goes on below, between two facts."""
    return [
        render_line(part, color=color)
        for line in lines
        for part in ([line] if width is None else _folded(line, max(width - _LABEL, _NARROWEST)))
    ]


def _folded(line: Line, room: int) -> list[Line]:
    rows: list[list[str]] = [[]]
    for fact in map(printable, line.facts):
        if below := _behind_a_verdict(rows[-1], fact, room):
            rows[-1].append(below[0])
            rows += [[piece] for piece in below[1:]]
            continue
        pieces = _in_words(fact, room) if cells(fact) > room else [fact]
        for piece in pieces:
            if rows[-1] and cells(_GAP.join([*rows[-1], piece])) > room:
                rows.append([piece.lstrip()])
            else:
                rows[-1].append(piece)
    first, *others = [tuple(row) for row in rows]
    head = Line(label=line.label, facts=first, tone=line.tone)
    return [head, *(Line(label="", facts=facts) for facts in others)]


def _behind_a_verdict(row: Sequence[str], fact: str, room: int) -> list[str]:
    """Fold a sentence that follows one short word below itself; empty where that is not so."""
    if len(row) != 1 or cells(row[0]) > _SHORT:
        return []
    left = room - cells(row[0]) - len(_GAP)
    if left < _NARROWEST or cells(fact) <= left:
        return []
    first, *more = _in_words(fact, left)
    if cells(first) > left:
        return []
    return [first, *(" " * (room - left) + piece for piece in more)]


def _in_words(fact: str, room: int) -> list[str]:
    # A path or a URL in two pieces could not be copied.
    return textwrap.wrap(fact, room, break_on_hyphens=False, break_long_words=False)


def _tells(column: Column[R], rows: Sequence[R]) -> bool:
    return any(column.text(row) != UNKNOWN for row in rows)


def _measured(
    columns: Sequence[Column[R]], rows: Sequence[R], *, headers: bool
) -> tuple[list[list[str]], list[int]]:
    texts = [[printable(column.text(row)) for column in columns] for row in rows]
    widths = [
        max([cells(column.header) if headers else 0, *(cells(line[at]) for line in texts)])
        for at, column in enumerate(columns)
    ]
    return texts, widths


def _only(
    kept: Sequence[int],
    columns: Sequence[Column[R]],
    texts: Sequence[Sequence[str]],
    widths: Sequence[int],
) -> tuple[list[Column[R]], list[list[str]], list[int]]:
    return (
        [columns[at] for at in kept],
        [[line[at] for at in kept] for line in texts],
        [widths[at] for at in kept],
    )


def _least(columns: Sequence[Column[R]], widths: Sequence[int]) -> int:
    """Return the width when everything that may give way has."""
    narrowest = [
        min(width, column.floor) if column.gives_way else width
        for column, width in zip(columns, widths, strict=True)
    ]
    return _excess(columns, narrowest, 0)


def _laid_out(
    columns: Sequence[Column[R]],
    texts: Sequence[str],
    widths: Sequence[int],
    tones: Sequence[Tone] | None = None,
) -> str:
    line = ""
    for at, (column, text, width) in enumerate(zip(columns, texts, widths, strict=True)):
        cell = pad(clip(text, width), width, right=column.right)
        line += (column.gap if at else "") + _toned(cell, tones[at] if tones else "plain", True)
    return line.rstrip()


def _excess(columns: Sequence[Column[R]], widths: Sequence[int], width: int) -> int:
    return sum(widths) + sum(len(column.gap) for column in columns[1:]) - width


def _give_way(columns: Sequence[Column[R]], widths: list[int], width: int) -> None:
    excess = _excess(columns, widths, width)
    flexible = [at for at, column in enumerate(columns) if column.gives_way]
    # First down to the floor of each, and below it only when that was not enough.
    for floors in ([column.floor for column in columns], [_NARROWEST] * len(columns)):
        while excess > 0:
            # One cell at a time from the widest, so that no column is cut to spare another.
            room = [at for at in flexible if widths[at] > floors[at]]
            at = max(room, key=lambda at: widths[at], default=None)
            if at is None:
                break
            widths[at] -= 1
            excess -= 1


def _toned(text: str, tone: Tone, color: bool) -> str:
    code = _CODES[tone]
    return f"\x1b[{code}m{text}\x1b[0m" if color and code else text
