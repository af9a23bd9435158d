"""Which columns have room, and how wide each is: pure arithmetic over the registry."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from cacheroute.console.cells import cells, clip
from cacheroute.console.columns import Column

R = TypeVar("R")

MIN_WIDTH = 9
"""Cells that a column which gives way keeps."""
MAX_WIDTH = 40
"""Cells that a measured column takes at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed(Generic[R]):
    """One column that has room."""

    column: Column[R]
    width: int


def shortened(text: str, width: int) -> str:
    """Cut a text to so many cells; of one word the middle goes, since names differ at the end."""
    if cells(text) <= width:
        return text
    if " " in text or width < _LEAST_FOR_TAIL:
        return clip(text, width)
    tail_cells = (width - 1) * 2 // 3
    tail = ""
    for character in reversed(text):
        if cells(character + tail) > tail_cells:
            break
        tail = character + tail
    head = clip(text, width - cells(tail))
    return head + tail


_LEAST_FOR_TAIL = 8


def placed(
    columns: Sequence[Column[R]], sample: Sequence[R], width: int, *, keeps_all: bool = False
) -> tuple[Placed[R], ...]:
    """Choose columns for so many cells, a blank before each; the highest ranks go first.

    With `keeps_all` none is left out for its rank; those that do not fit are cut off right.
    """
    wanted = {column.key: _natural(column, sample) for column in columns}
    kept = list(columns)
    if not keeps_all:
        while kept and _least(kept, wanted) > width:
            last = max(kept, key=lambda column: column.rank)
            if last.rank == 0:
                break
            # Of several with the same rank the one to the right goes first.
            last = [column for column in kept if column.rank == last.rank][-1]
            kept.remove(last)
    over = sum(wanted[column.key] + 1 for column in kept) - width
    found = []
    for column in kept:
        own = wanted[column.key]
        if over > 0 and column.gives_way:
            cut = min(over, own - min(own, MIN_WIDTH))
            over -= cut
            own -= cut
        found.append(Placed(column=column, width=own))
    if keeps_all:
        used = 0
        for at, one in enumerate(found):
            used += one.width + 1
            if used > width:
                return tuple(found[: max(1, at)])
    return tuple(found)


def _least(columns: Sequence[Column[R]], wanted: dict[str, int]) -> int:
    return sum(
        1 + (min(wanted[c.key], MIN_WIDTH) if c.gives_way else wanted[c.key]) for c in columns
    )


def _natural(column: Column[R], sample: Sequence[R]) -> int:
    header = cells(column.header)
    if column.width is not None:
        return max(header, column.width)
    widest = max((cells(column.text(row)) for row in sample), default=0)
    return min(MAX_WIDTH, max(header, widest))
