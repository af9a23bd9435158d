"""The map of scores: a line for each signal, a column for each Instance, and a cursor on a cell.

Only columns that are seen are worked out. Darkness is the third sign of a cell, after its
number and its shade, so the map needs no colour. The cursor belongs to an Instance's id.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from cacheroute.console.amounts import render_number
from cacheroute.console.cells import ascii_only, cells, clip, pad, printable
from cacheroute.console.heat import (
    ZERO_CELL,
    Shade,
    brief,
    cell_of,
    rank_text,
    signals_of,
    tails,
    total_text,
)
from cacheroute.console.rows.scores import ScoreRow
from cacheroute.console.rows.states import SIGNS, TONES
from cacheroute.console.score_map import ScoreMap, counted, of_rows
from cacheroute.console.standing import place_word
from cacheroute_tui.drawing import as_ascii, palette_of

_SHADES: Mapping[Shade, str] = {"none": " ", "light": "░", "medium": "▒", "dark": "▓"}
_ASCII_SHADES: Mapping[Shade, str] = {"none": " ", "light": ":", "medium": "+", "dark": "#"}
_ASCII = str.maketrans({"‹": "<", "›": ">", ZERO_CELL: "."})
_NAME_CELLS = 21
_WEIGHT_CELLS = 7
_MIN_CELLS = 5
_MAX_LABEL_CELLS = 12
_SOURCE_CELLS = 16
_FEET = ("TOTAL", "rank")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """What the cursor is on."""

    instance_id: str | None
    signal: str | None
    """None is the line of totals."""


class Heatmap(Widget, can_focus=True):
    """Scores by signal and Instance."""

    DEFAULT_CSS = "Heatmap { height: auto; width: 1fr; }"
    BINDINGS = [  # noqa: RUF012 - the toolkit's name
        Binding("left,h", "column(-1)", show=False, id="column.left"),
        Binding("right,l", "column(1)", show=False, id="column.right"),
        Binding("up,k", "line(-1)", show=False, id="row.up"),
        Binding("down,j", "line(1)", show=False, id="row.down"),
        Binding("pageup", "page(-1)", show=False, id="row.page_up"),
        Binding("pagedown", "page(1)", show=False, id="row.page_down"),
        Binding("home,g", "edge(0)", show=False, id="row.first"),
        Binding("end,G", "edge(-1)", show=False, id="row.last"),
    ]

    @dataclass
    class Moved(Message):
        """The cursor is on another cell."""

        spot: Spot

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - the toolkit's name
        super().__init__(id=id)
        self._rows = of_rows(())
        self._labels: list[str] = []
        self._weights: Mapping[str, float] = {}
        self._sources: Mapping[str, str] = {}
        self._signals: tuple[str, ...] = ()
        self._wanted: Mapping[str, float] = {}
        self._ties: Mapping[int, int] = {}
        self._ties_if: Mapping[int, int] = {}
        self._place = place_word(None)
        self._is_stale = False
        self._cell = _MIN_CELLS
        self._first = 0
        self._column = 0
        self._line_at = 0
        self._cursor_id: str | None = None
        self._drawn: list[list[tuple[str, Style]]] = []

    # -- what it shows -------------------------------------------------------------------

    def show(
        self,
        rows: ScoreMap,
        *,
        weights: Mapping[str, float],
        sources: Mapping[str, str],
        wanted: Mapping[str, float],
        strategy: str | None = None,
        is_stale: bool = False,
    ) -> None:
        """Draw these scores, left to right; `wanted` are the weights of a what-if."""
        self._place = place_word(strategy)
        self._rows = rows
        self._weights, self._sources, self._wanted = weights, sources, wanted
        self._is_stale = is_stale
        self._signals = signals_of(weights)
        self._labels = [clip(printable(one), _MAX_LABEL_CELLS) for one in tails(rows.ids)]
        self._ties = rows.ties()
        self._ties_if = counted([row.what_if_rank for row in rows]) if wanted else {}
        totals = map(total_text, rows.scores)
        widest = max([_MIN_CELLS, *map(cells, self._labels), *map(len, totals)])
        self._cell = widest + 1
        ids = rows.ids
        if self._cursor_id in ids:
            self._column = ids.index(self._cursor_id)
        else:
            self._column = min(self._column, max(0, len(ids) - 1))
            self._cursor_id = ids[self._column] if ids else None
        self._line_at = min(self._line_at, len(self._signals))
        self._draw()

    @property
    def spot(self) -> Spot:
        """What the cursor is on."""
        at = self._line_at
        signal = self._signals[at] if at < len(self._signals) else None
        return Spot(instance_id=self._cursor_id, signal=signal)

    @property
    def cursor_lines(self) -> Region:
        """Where the cursor is; with the names above the first line, the ranks below the last."""
        at, last = self._line_at + 1, self.height_needed - 1
        if at == 1:
            return Region(0, 0, 1, 2)
        return Region(0, at, 1, last - at + 1 if self._line_at >= len(self._signals) else 1)

    @property
    def cursor_row(self) -> ScoreRow | None:
        """The Instance under the cursor."""
        return self._rows[self._column] if self._column < len(self._rows) else None

    @property
    def text(self) -> str:
        """What is drawn, without styles."""
        return "\n".join("".join(text for text, _ in line) for line in self._drawn)

    @property
    def height_needed(self) -> int:
        """How many lines it draws."""
        return 1 + len(self._signals) + len(_FEET) + (2 if self._wanted else 0)

    def go_to(self, instance_id: str) -> bool:
        """Put the cursor on an Instance; False when it is not in the map."""
        if instance_id not in self._rows.ids:
            return False
        self._move(column=self._rows.ids.index(instance_id))
        return True

    # -- drawing -------------------------------------------------------------------------

    @property
    def _room(self) -> int:
        # One cell to the right stays for the sign that there are more.
        return max(1, (self.size.width - _NAME_CELLS - _WEIGHT_CELLS - 2) // (self._cell + 1))

    def _draw(self) -> None:
        self._first = min(self._first, self._column)
        self._first = max(self._first, self._column - self._room + 1, 0)
        shown = range(self._first, min(len(self._rows), self._first + self._room))
        self._rows.prefetch(shown)
        before = self._drawn
        self._drawn = [
            self._header(shown),
            *(self._of_signal(at, signal, shown) for at, signal in enumerate(self._signals)),
            self._totals(shown),
            self._ranks(shown),
        ]
        if self._wanted:
            self._drawn += self._what_if(shown)
        if len(before) != len(self._drawn):
            self.refresh(layout=True)
            return
        for y, (old, new) in enumerate(zip(before, self._drawn, strict=True)):
            if old != new:
                self.refresh(Region(0, y, self.size.width, 1))

    def _header(self, shown: range) -> list[tuple[str, Style]]:
        palette = palette_of(self)
        dim = palette.tones["dim"]
        left = "‹" if self._first else " "
        line = [
            (f" {pad('signal', _NAME_CELLS)}{pad('weight', _WEIGHT_CELLS - 1, right=True)}", dim)
        ]
        line.append((left, dim))
        for at in shown:
            row = self._rows[at]
            style = palette.tones[TONES[row.state]] if row.excluded else palette.title
            if at == self._column:
                style = palette.accent
            line.append((pad(self._labels[at], self._cell, right=True), style))
            line.append((SIGNS[row.state] if row.state != "alive" else " ", style))
        more = len(self._rows) - shown.stop
        if more > 0:
            line.append((f"›{more} more" if self._right_cells > len(f"›{more} more") else "›", dim))
        elif self._right_cells >= _SOURCE_CELLS:
            line.append(("  source", dim))
        return line

    @property
    def _right_cells(self) -> int:
        used = _NAME_CELLS + _WEIGHT_CELLS + 1
        shown = min(self._room, len(self._rows) - self._first)
        return self.size.width - used - shown * (self._cell + 1)

    def _aside(self, text: str) -> list[tuple[str, Style]]:
        """Return what stands to the right, where there is room for it."""
        if self._right_cells < _SOURCE_CELLS:
            return []
        return [(f"  {text}", palette_of(self).tones["dim"])]

    def _of_signal(self, at: int, signal: str, shown: range) -> list[tuple[str, Style]]:
        palette = palette_of(self)
        tones, counts = palette.tones, bool(self._weights[signal])
        is_line = at == self._line_at
        name_style = palette.accent if is_line else tones["plain" if counts else "dim"]
        weight = render_number(self._weights[signal])
        line = [
            (f" {pad(clip(brief(signal), _NAME_CELLS - 1), _NAME_CELLS)}", name_style),
            (pad(weight, _WEIGHT_CELLS - 1, right=True) + " ", tones["plain" if counts else "dim"]),
        ]
        shades = _ASCII_SHADES if as_ascii(self) else _SHADES
        for column in shown:
            row = self._rows[column]
            cell = cell_of(row, signal)
            style = tones["dim"]
            if counts and row.excluded is None and not self._is_stale:
                style = tones["warn" if cell.shade == "dark" else "plain"]
            if is_line and column == self._column:
                style += palette.cursor if self.has_focus else Style(underline=True)
            line.append((pad(cell.text, self._cell, right=True) + shades[cell.shade], style))
        return [*line, *self._aside(self._sources.get(signal, ""))]

    def _totals(self, shown: range) -> list[tuple[str, Style]]:
        palette = palette_of(self)
        is_line = self._line_at >= len(self._signals)
        best = self._rows.best
        line = [(f" {pad('TOTAL', _NAME_CELLS + _WEIGHT_CELLS)}",
                 palette.accent if is_line else palette.title)]  # fmt: skip
        for column in shown:
            row = self._rows[column]
            style = palette.tones["dim"] if row.excluded or self._is_stale else palette.title
            if row.excluded is None and row.score == best and not self._is_stale:
                style = palette.tones["good"]
            if is_line and column == self._column:
                style += palette.cursor if self.has_focus else Style(underline=True)
            line.append((pad(total_text(row.score), self._cell, right=True) + " ", style))
        return [*line, *self._aside("the Proxy's")]

    def _ranks(self, shown: range) -> list[tuple[str, Style]]:
        dim = palette_of(self).tones["dim"]
        line = [(f" {pad(self._place, _NAME_CELLS + _WEIGHT_CELLS)}", dim)]
        for column in shown:
            text = rank_text(self._rows.ranks[column], self._ties)
            line.append((pad(text, self._cell, right=True) + " ", dim))
        aside = "= ties: by turns" if self._place == "rank" else "it does not choose"
        return [*line, *self._aside(aside)]

    def _what_if(self, shown: range) -> list[list[tuple[str, Style]]]:
        palette = palette_of(self)
        accent, dim = palette.accent, palette.tones["dim"]
        label = _NAME_CELLS + _WEIGHT_CELLS
        totals, ranks = (
            [(f" {pad('WHAT-IF, only here', label)}", accent)],
            [(f" {pad(self._place, label)}", dim)],
        )
        for column in shown:
            row = self._rows[column]
            score, rank = row.what_if_score, row.what_if_rank
            told = total_text(score)
            totals.append(
                (pad(told, self._cell, right=True) + " ", accent if score is not None else dim)
            )
            place = rank_text(rank, self._ties_if)
            ranks.append(
                (pad(place, self._cell, right=True) + " ", accent if rank != row.rank else dim)
            )
        return [totals, ranks]

    def get_content_height(self, container: object, viewport: object, width: int) -> int:  # noqa: ARG002
        """Return the number of lines."""
        return self.height_needed

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        base, width = self.rich_style, self.size.width
        if y >= len(self._drawn):
            return Strip.blank(width, base)
        is_ascii = as_ascii(self)
        return Strip(
            [
                Segment(_ascii(text) if is_ascii else text, base + style)
                for text, style in self._drawn[y]
            ]
        ).adjust_cell_length(width, base)

    def on_resize(self) -> None:
        """Show as many columns as there is room for now."""
        self._drawn = []
        self._draw()

    def notify_style_update(self) -> None:
        """Draw in the new colours."""
        super().notify_style_update()
        if self.is_attached:
            self._drawn = []
            self._draw()

    # -- moving --------------------------------------------------------------------------

    def _move(self, *, column: int | None = None, line: int | None = None) -> None:
        if column is not None and self._rows:
            self._column = min(max(0, column), len(self._rows) - 1)
            self._cursor_id = self._rows.ids[self._column]
        if line is not None:
            self._line_at = min(max(0, line), len(self._signals))
        self._draw()
        self.post_message(self.Moved(self.spot))

    def action_column(self, steps: int) -> None:
        """Go to the Instance so many columns to the right."""
        self._move(column=self._column + steps)

    def action_line(self, steps: int) -> None:
        """Go to the signal so many lines down; the last line is of totals."""
        self._move(line=self._line_at + steps)

    def action_page(self, pages: int) -> None:
        """Go so many widths of the map to the right."""
        self._move(column=self._column + pages * self._room)

    def action_edge(self, at: int) -> None:
        """Go to the first Instance, or to the last."""
        self._move(column=at % len(self._rows) if self._rows else 0)

    def on_click(self, event: events.Click) -> None:
        """Go to the cell under the pointer."""
        x = event.x - _NAME_CELLS - _WEIGHT_CELLS - 1
        if x < 0 or x // (self._cell + 1) >= self._room:
            self._move(line=event.y - 1)
            return
        self._move(column=self._first + x // (self._cell + 1), line=event.y - 1)

    def on_focus(self) -> None:
        """Show the cursor."""
        self._draw()

    def on_blur(self) -> None:
        """Show where the cursor would be."""
        self._draw()


def _ascii(text: str) -> str:
    return ascii_only(text.translate(_ASCII))
