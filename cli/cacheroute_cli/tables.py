"""The look of what people read: columns as a registry, and rows laid out under them.

A column knows its header, its alignment and how it writes a value; nothing else anywhere
does. Unknown is a dash, state is a word and a sign, and colour only repeats them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from cacheroute_cli.text import cells, clip, pad, printable

R = TypeVar("R")
Tone = Literal["good", "warn", "bad", "dim", "plain"]

_CODES: dict[Tone, str] = {"good": "32", "warn": "33", "bad": "31", "dim": "2", "plain": ""}
_GAP = "  "
_NARROWEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Generic[R]):
    """One column of a table over rows of type R."""

    key: str
    """Name of the value in `-o json`."""
    header: str
    text: Callable[[R], str]
    """Writes the value; what it returns may hold anything and is made safe."""
    doc: str
    """What the value means, in a sentence."""
    right: bool = False
    """Whether it is aligned right, as numbers are."""
    gives_way: bool = False
    """Whether it may be cut when the terminal is too narrow."""
    gap: str = _GAP
    """What stands before it."""
    tone: Callable[[R], Tone] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One labelled line: what it is about, then its facts."""

    label: str
    facts: tuple[str, ...]
    tone: Tone = "plain"
    """Colour of the first fact."""


def render_table(
    columns: Sequence[Column[R]],
    rows: Sequence[R],
    *,
    width: int | None,
    color: bool,
) -> list[str]:
    """Lay the rows out under their headers; `width` None is as wide as it takes."""
    texts = [[printable(column.text(row)) for column in columns] for row in rows]
    widths = [
        max([cells(column.header), *(cells(line[at]) for line in texts)])
        for at, column in enumerate(columns)
    ]
    if width is not None:
        _give_way(columns, widths, width)
    header = _laid_out(columns, [column.header for column in columns], widths)
    lines = [_toned(header, "dim", color)]
    for row, line in zip(rows, texts, strict=True):
        tones = [column.tone(row) if column.tone else "plain" for column in columns]
        lines.append(_laid_out(columns, line, widths, tones if color else None))
    return lines


def render_line(line: Line, *, color: bool) -> str:
    """Write a labelled line, its facts apart from each other."""
    first, *others = [printable(fact) for fact in line.facts]
    return _GAP.join([f"{line.label:<8}", *[_toned(first, line.tone, color)], *others]).rstrip()


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


def _give_way(columns: Sequence[Column[R]], widths: list[int], width: int) -> None:
    excess = sum(widths) + sum(len(column.gap) for column in columns[1:]) - width
    flexible = [at for at, column in enumerate(columns) if column.gives_way]
    while excess > 0:
        # One cell at a time from the widest, so that no column is cut to spare another.
        at = max(flexible, key=lambda at: widths[at], default=None)
        if at is None or widths[at] <= _NARROWEST:
            return
        widths[at] -= 1
        excess -= 1


def _toned(text: str, tone: Tone, color: bool) -> str:
    code = _CODES[tone]
    return f"\x1b[{code}m{text}\x1b[0m" if color and code else text
