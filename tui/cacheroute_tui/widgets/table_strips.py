"""The lines of a table as strips: one segment for each run of one style, and not one a cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from cacheroute.console.cells import cells, clip, pad, printable
from cacheroute.console.columns import Column, Tone
from cacheroute.console.sorting import Order
from cacheroute_tui.drawing import to_ascii
from cacheroute_tui.themes import Palette
from cacheroute_tui.widgets.column_layout import Placed, shortened

R = TypeVar("R")

Cells = dict[str, tuple[str, int, Tone]]
"""What a row says under the key of each column, how wide that is, and its tone."""
MARKER_CELLS = 2
"""Cells in front of a row: whether the cursor is there, and whether it is marked."""
_UNDERLINED = Style(underline=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What every line of a table stands on."""

    base: Style
    palette: Palette
    width: int
    """Cells of the line."""
    is_ascii: bool

    def said(self, text: str) -> str:
        """Write a text as the terminal can show it."""
        return to_ascii(text) if self.is_ascii else text


def header_strip(
    placed: Sequence[Placed[Any]],
    ground: Ground,
    *,
    order: Order[Any] | None,
    under: Column[Any] | None,
) -> Strip:
    """Draw the headers; the one that is sorted by has an arrow, the chosen one a line below."""
    dim = ground.base + ground.palette.tones["dim"]
    segments = [Segment(" ", dim)]
    used = 1
    for one in placed:
        column, width = one.column, one.width
        text, style = clip(column.header, width), dim
        if order is not None and order.column.key == column.key:
            arrow = "▼" if order.descending else "▲"
            text = column.header[: max(0, width - 1)] + arrow
            style = ground.base + ground.palette.accent
        if column is under:
            style += _UNDERLINED
        text = pad(text, width, right=column.right)
        segments += [Segment(" ", dim), Segment(ground.said(text), style)]
        used += width + 1
    return _filled(segments, used, ground.width, dim)


def row_strip(
    row: R,
    placed: Sequence[Placed[R]],
    ground: Ground,
    *,
    is_cursor: bool,
    is_stale: bool,
    is_marked: bool = False,
    known: Cells | None = None,
) -> Strip:
    """Draw a row; a marked one has a plus before it, a stale one no colours of its own.

    Cells that are `known` are not read from the row but for ages, and those that are read are
    known from then on.
    """
    if known is None:
        known = {}
    tones, base = ground.palette.tones, ground.base
    if is_cursor:
        base += ground.palette.cursor
    if is_marked:
        base += ground.palette.accent
    if is_stale:
        base += tones["dim"]
    run, style = (">" if is_cursor else " "), base
    gap = "+" if is_marked else " "
    segments: list[Segment] = []
    used = 1
    for one in placed:
        column, width = one.column, one.width
        cell = known.get(column.key)
        if cell is None:
            cell = _cell(row, column)
            if not column.ages:
                known[column.key] = cell
        text, taken, tone = cell
        own = base if is_stale or tone == "plain" else base + tones[tone]
        if taken > width:
            text = shortened(text, width)
            taken = cells(text)
        blanks = " " * (width - taken)
        text = blanks + text if column.right else text + blanks
        if own == style:
            run += gap + text
        else:
            segments.append(Segment(ground.said(run + gap), style))
            run, style = text, own
        gap = " "
        used += width + 1
    segments.append(Segment(ground.said(run), style))
    return _filled(segments, used, ground.width, base)


def _cell(row: R, column: Column[R]) -> tuple[str, int, Tone]:
    text = column.on_screen(row)
    if not text.isprintable():
        text = printable(text)
    tone = "plain" if column.tone is None else column.tone(row)
    return text, len(text) if text.isascii() else cells(text), tone


def text_strip(text: str, ground: Ground) -> Strip:
    """Draw what stands in the place of rows."""
    dim = ground.base + ground.palette.tones["dim"]
    line = pad(clip(printable(text), ground.width), ground.width)
    return Strip([Segment(ground.said(line), dim)], ground.width)


def _filled(segments: list[Segment], used: int, width: int, style: Style) -> Strip:
    if used < width:
        segments.append(Segment(" " * (width - used), style))
        return Strip(segments, width)
    strip = Strip(segments, used)
    return strip if used == width else strip.crop(0, width)
