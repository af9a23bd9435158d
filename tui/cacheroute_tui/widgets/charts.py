"""A chart of what was: braille lines or block columns over a time axis, gaps left blank.

It draws line by line, a few segments each, and only those lines that have changed. A column of
a long window stands for many looks, so it is worked out anew less often than looks come.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.segment import Segment
from rich.style import Style
from textual.events import Resize
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from cacheroute.console.amounts import render_number
from cacheroute.console.cells import UNTOLD, cells, clip, pad, printable
from cacheroute.console.courses import binned, stretch_of, time_marks, top_of
from cacheroute.console.points import Points
from cacheroute.core.clock import Instant
from cacheroute_tui.drawing import as_ascii, palette_of
from cacheroute_tui.widgets.plots import (
    ASCII_LINES,
    BRAILLE_PER_CELL,
    NO_COURSE,
    Row,
    ascii_line_rows,
    block_rows,
    line_rows,
)

ChartKind = Literal["lines", "blocks"]

_AXIS_CELLS = 5
"""A number of four cells and the axis itself."""
_SIGNS = "━┅┈╌"
_MIN_CELLS = 12
_WINDOW_CELLS = 50
"""Width from which there is room to say what the axis says as well."""
_LABEL_CELLS = 12
_WHOLE_FROM = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One thing over time."""

    label: str
    points: Points
    ink: int | None = None
    """Which colour of the palette; None is its place among the courses."""


class Chart(Widget):
    """A heading, a plot with an axis left, and the time below."""

    DEFAULT_CSS = "Chart { height: 8; width: 1fr; }"

    def __init__(
        self,
        heading: str,
        *,
        unit: str = "",
        top: float | None = None,
        kind: ChartKind = "lines",
        id: str | None = None,  # noqa: A002 - the toolkit's name
    ) -> None:
        """`top` is the highest value of the axis; without it the values tell."""
        super().__init__(id=id)
        self._heading = heading
        self._unit = unit
        self._top = top
        self._kind: ChartKind = kind
        self._courses: tuple[Course, ...] = ()
        self._labels: tuple[str, ...] = ()
        self._asked: tuple[float, Instant, float] | None = None
        self._due_s = 0.0
        self._is_stale = False
        self._lines: list[list[tuple[str, Style]]] = []

    # -- what it shows -------------------------------------------------------------------

    def is_due(self, now_s: float, window_s: float, labels: Sequence[str] = ()) -> bool:
        """Whether what it shows would change; asking for values before may be saved."""
        if self._asked is None or self._asked[0] != window_s or tuple(labels) != self._labels:
            return True
        return now_s >= self._due_s or now_s < self._asked[1].mono_s

    def show(
        self,
        courses: Sequence[Course],
        *,
        window_s: float,
        now: Instant,
        usual_s: float,
        is_stale: bool = False,
    ) -> None:
        """Draw these; `usual_s` is how far apart looks are, `is_stale` draws in grey."""
        self._courses = tuple(courses)
        self._labels = tuple(course.label for course in courses)
        self._asked = (window_s, now, usual_s)
        self._is_stale = is_stale
        self._draw()

    def forget(self) -> None:
        """Let the next values be drawn whenever they come."""
        self._asked = None

    @property
    def text(self) -> str:
        """What is drawn, without styles."""
        return "\n".join("".join(text for text, _ in line) for line in self._lines)

    # -- drawing -------------------------------------------------------------------------

    def _draw(self) -> None:
        width, height = self.size.width, self.size.height
        if self._asked is None or width < _MIN_CELLS or height < 1:
            return
        window_s, now, usual_s = self._asked
        room = width - _AXIS_CELLS
        is_lines = self._kind == "lines"
        bins = room * BRAILLE_PER_CELL if is_lines else room
        stretch = stretch_of(now.mono_s, window_s, bins)
        self._due_s = now.mono_s + stretch.bin_s / 4
        values = [
            binned(course.points, stretch, usual_s=usual_s, now_s=now.mono_s)
            for course in self._courses
        ]
        before, lines = self._lines, [self._head(width, window_s)]
        rows = height - 2
        if rows > 0:
            top = self._top or top_of(values)
            lines += self._plot(values, room, rows, top)
            epoch_s = now.wall_s - now.mono_s
            lines.append(self._foot(room, stretch.since_s + epoch_s, stretch.until_s + epoch_s))
        self._lines = lines
        if len(before) != len(lines):
            self.refresh()
            return
        for y, (old, new) in enumerate(zip(before, lines, strict=True)):
            if old != new:
                self.refresh(Region(0, y, width, 1))

    def _head(self, width: int, window_s: float) -> list[tuple[str, Style]]:
        palette = palette_of(self)
        dim = palette.tones["dim"]
        right = f" {window_s / 60:.0f} min" if width >= _WINDOW_CELLS else ""
        room = width - len(right)
        unit = f" {self._unit}" if self._unit else ""
        spans = [(clip(f" {self._heading}{unit}", room), palette.title)]
        used = cells(spans[0][0])
        for number, course in enumerate(self._courses):
            last = course.points.last
            told = UNTOLD if last is None else _told(last)
            sign = ASCII_LINES[number % 4] if as_ascii(self) else _SIGNS[number % len(_SIGNS)]
            mark = f"  {sign} " if self._kind == "lines" and len(self._courses) > 1 else "  "
            text = f"{mark}{clip(printable(course.label), _LABEL_CELLS)} {told}"
            if used + cells(text) > room:
                break
            spans.append((text, self._ink(number)))
            used += cells(text)
        spans.append((" " * (room - used), dim))
        return [*spans, (right, dim)]

    def _plot(
        self, values: list[list[float]], room: int, rows: int, top: float
    ) -> list[list[tuple[str, Style]]]:
        is_ascii = as_ascii(self)
        plotted: list[Row]
        if self._kind == "blocks":
            plotted = block_rows(values[0] if values else (), rows, top=top, as_ascii=is_ascii)
        elif is_ascii:
            plotted = ascii_line_rows(values, room, rows, top=top)
        else:
            plotted = line_rows(values, room, rows, top=top)
        dim = palette_of(self).tones["dim"]
        tick = "|" if is_ascii else "┤"
        labels = {0: top, rows - 1: 0.0} if rows > 1 else {0: top}
        # A block reaches to the upper edge of its row, a line to the middle of it.
        has_middle = rows >= _AXIS_CELLS and rows % 2 == (0 if self._kind == "blocks" else 1)
        if has_middle:
            labels[rows // 2] = top / 2
        lines = []
        for y, row in enumerate(plotted):
            label = pad(_short(labels[y]) if y in labels else "", _AXIS_CELLS - 1, right=True)
            line = [(label + tick, dim)]
            line += [(text, self._ink(number)) for text, number in row]
            lines.append(line)
        return lines

    def _foot(self, room: int, since_s: float, until_s: float) -> list[tuple[str, Style]]:
        is_ascii = as_ascii(self)
        axis = ["-" if is_ascii else "─"] * room
        now = "now"
        for cell, text in time_marks(since_s, until_s, room):
            if cell + len(text) < room - len(now):
                axis[cell : cell + len(text)] = text
        axis[-len(now) :] = now
        corner = "+" if is_ascii else "└"
        text = " " * (_AXIS_CELLS - 1) + corner + "".join(axis)
        return [(text, palette_of(self).tones["dim"])]

    def _ink(self, number: int) -> Style:
        palette = palette_of(self)
        if self._is_stale or number == NO_COURSE or not palette.series:
            return palette.tones["dim"]
        ink = self._courses[number].ink if number < len(self._courses) else None
        return palette.series[(number if ink is None else ink) % len(palette.series)]

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002 - the toolkit's signature
        """Fit the columns to the new width."""
        self._lines = []
        self._draw()

    def notify_style_update(self) -> None:
        """Draw in the new colours."""
        super().notify_style_update()
        if self.is_attached:
            self._lines = []
            self._draw()

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        base, width = self.rich_style, self.size.width
        if y >= len(self._lines):
            return Strip.blank(width, base)
        line = self._lines[y]
        strip = Strip([Segment(text, base + style) for text, style in line])
        return strip.adjust_cell_length(width, base)


def _told(value: float) -> str:
    return f"{value:.0f}" if value >= _WHOLE_FROM else render_number(round(value, 1))


def _short(value: float) -> str:
    """Write a value of the axis in at most four cells."""
    for at, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= at:
            return f"{value / at:.3g}"[:3].rstrip(".") + unit
    return f"{value:.3g}"[:4]
