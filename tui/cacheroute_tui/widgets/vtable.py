"""A table of any length that draws only the lines that are seen, each from one string a run.

Which rows those are, and where cursor and marks stand, is for `table_rows`; here are keys, the
pointer and the screen.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from cacheroute.console.columns import Column
from cacheroute.console.filters import Filter
from cacheroute.console.sorting import Order
from cacheroute_tui.drawing import as_ascii, palette_of
from cacheroute_tui.keymap import MOVING, bindings
from cacheroute_tui.widgets.column_layout import Placed, placed
from cacheroute_tui.widgets.table_rows import TableRows
from cacheroute_tui.widgets.table_strips import (
    MARKER_CELLS,
    Cells,
    Ground,
    header_strip,
    row_strip,
    text_strip,
)

R = TypeVar("R")

_MEASURED_ROWS = 300


@dataclass
class _OfTable(Message):
    """What a table tells its screen."""

    table: "VTable[Any]"

    @property
    def control(self) -> "VTable[Any]":
        """The table it is from."""
        return self.table


class VTable(ScrollView, Generic[R], can_focus=True):
    """Rows of one kind under columns of the console's registry."""

    DEFAULT_CSS = """
    VTable { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }
    """

    BINDINGS = bindings(MOVING)  # type: ignore[assignment]

    @dataclass
    class Opened(_OfTable):
        """Enter, or a click on the row under the cursor."""

        row_id: str

    @dataclass
    class CursorMoved(_OfTable):
        """The cursor is on another row; `row_id` is None when there are none."""

        row_id: str | None

    @dataclass
    class OrderChosen(_OfTable):
        """A header was clicked."""

        order: tuple[Order[Any], ...]

    class MarksChanged(_OfTable):
        """Other rows are marked than before."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        *,
        id_of: Callable[[R], str],
        now: Callable[[], float],
        fixed: int = 2,
        takes_marks: bool = False,
        id: str | None = None,  # noqa: A002 - the toolkit's name
    ) -> None:
        """`now` returns monotonic seconds; the first `fixed` columns never scroll out."""
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._id_of = id_of
        self._rows = TableRows(id_of=id_of, now=now)
        self._fixed = fixed
        self._takes_marks = takes_marks
        self._column_at = 0
        self._first = 0
        self._is_wide = False
        self._is_stale = False
        self._placed: tuple[Placed[R], ...] = ()
        self._strips: dict[tuple[str, bool, bool], Strip] = {}
        self._drawn: list[Strip | None] = []
        self._told: object = None
        self._cells: dict[str, Cells] = {}
        # The toolkit works it out anew each time, which costs more than a line does.
        self._base: Style | None = None
        self.empty_text = "no rows"
        """What stands in the place of rows when there are none."""

    def show_rows(self, rows: Sequence[R], *, is_stale: bool = False, told: object = None) -> None:
        """Draw these rows, in the order that was chosen; stale ones are grey.

        Where `told` is the one that was given before, nothing but ages is read from them.
        """
        is_same = told is not None and told is self._told
        self._is_stale, self._told = is_stale, told
        if not is_same:
            self._cells.clear()
        before = self._rows.mark_count
        self._arranged(self._rows.take(rows, is_same=is_same), is_same=is_same)
        if before != self._rows.mark_count:
            self._tell_marks()

    def narrow(
        self, found: Filter[R] | None, *, accepts: Callable[[R], bool] | None = None
    ) -> None:
        """Show only rows that a filter and a test accept."""
        self._arranged(self._rows.narrow(found, accepts))

    def sort(self, orders: Sequence[Order[R]]) -> None:
        """Order rows by these columns; by none, rows stay as they were given."""
        self._arranged(self._rows.sort(orders))

    def take_columns(self, columns: Sequence[Column[R]]) -> None:
        """Show other columns."""
        self._columns = tuple(columns)
        self._cells.clear()
        self._lay_out()

    def widen(self, is_wide: bool) -> None:
        """Show every column and scroll, or only as many as have room."""
        self._is_wide, self._first = is_wide, 0
        self._lay_out()

    @property
    def rows(self) -> Sequence[R]:
        """The rows as they are shown, top down."""
        return self._rows.shown

    @property
    def orders(self) -> tuple[Order[R], ...]:
        """What they are ordered by."""
        return self._rows.orders

    @property
    def shown_columns(self) -> tuple[Column[R], ...]:
        """The columns that have room, left to right."""
        return tuple(one.column for one in self._placed)

    @property
    def column_under_cursor(self) -> Column[R] | None:
        """The column that was chosen with left and right."""
        columns = self.shown_columns
        return columns[min(self._column_at, len(columns) - 1)] if columns else None

    @property
    def cursor_id(self) -> str | None:
        """The id of the row under the cursor."""
        return self._rows.cursor_id

    @property
    def cursor_row(self) -> R | None:
        """The row under the cursor."""
        return self._rows.cursor_row

    @property
    def marked_rows(self) -> Sequence[R]:
        """The rows that are marked: the shown ones top down, then those that a filter hides."""
        return self._rows.marked_rows

    @property
    def mark_counts(self) -> tuple[int, int]:
        """How many rows are marked, and how many of those are not shown."""
        return self._rows.mark_count, self._rows.hidden_marks

    def toggle_mark(self) -> None:
        """Mark the row under the cursor, or unmark it."""
        self._rows.pressed()
        if self._takes_marks and self._rows.toggle_mark():
            self._tell_marks()

    def unmark(self, row_ids: Iterable[str]) -> None:
        """Take marks away."""
        self._rows.unmark(row_ids)
        self._tell_marks()

    def clear_marks(self) -> None:
        """Take all marks away."""
        self.unmark(self._rows.marks)

    def _tell_marks(self) -> None:
        self._refresh_changed()
        if self.is_attached:
            self.post_message(self.MarksChanged(self))

    def _arranged(self, has_moved: bool, *, is_same: bool = False) -> None:
        if has_moved and self.is_attached:
            self.post_message(self.CursorMoved(self, self.cursor_id))
        self._lay_out(is_same=is_same)

    def _lay_out(self, *, is_same: bool = False) -> None:
        width = self.scrollable_content_region.width
        columns = self._columns
        if self._is_wide:
            columns = (*columns[: self._fixed], *columns[self._fixed + self._first :])
        if not is_same or self.virtual_size.width != width:
            sample = self.rows[:_MEASURED_ROWS]
            self._placed = placed(columns, sample, width - 1, keeps_all=self._is_wide)
        self._strips.clear()
        height = len(self.rows) + 1
        if self.virtual_size.height != height or self.virtual_size.width != width:
            self.virtual_size = Size(width, height)
        self._scroll_to_cursor()
        self._refresh_changed()

    def _refresh_changed(self) -> None:
        """Refresh the lines that are not as they were drawn."""
        height = self.size.height
        if len(self._drawn) != height:
            self._drawn = [None] * height
            self.refresh()
            return
        ground = self._ground
        for y in range(height):
            if self._drawn[y] != self._line(y, ground):
                self.refresh(Region(0, y, self.size.width, 1))

    def on_resize(self) -> None:
        """Lay the columns out anew."""
        self._drawn = []
        self._lay_out()

    def notify_style_update(self) -> None:
        """Draw in the new colours."""
        super().notify_style_update()
        self._base = None
        self._strips.clear()
        self._drawn = []

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        strip = self._line(y)
        if y < len(self._drawn):
            self._drawn[y] = strip
        return strip

    def _line(self, y: int, ground: Ground | None = None) -> Strip:
        if y == 0:
            return header_strip(
                self._placed,
                ground or self._ground,
                order=self.orders[0] if self.orders else None,
                under=self.column_under_cursor if self.has_focus else None,
            )
        place = y - 1 + round(self.scroll_y)
        rows = self._rows
        if place >= len(rows.shown):
            return text_strip(f"  {self.empty_text}" if place == 0 else "", ground or self._ground)
        row = rows.shown[place]
        row_id = self._id_of(row)
        key = (row_id, row_id == rows.cursor_id, rows.is_marked(row_id))
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = row_strip(
                row, self._placed, ground or self._ground,
                is_cursor=key[1], is_marked=key[2], is_stale=self._is_stale,
                known=self._cells.setdefault(row_id, {}),
            )  # fmt: skip
        return strip

    @property
    def _ground(self) -> Ground:
        if self._base is None:
            self._base = self.rich_style
        return Ground(
            base=self._base,
            palette=palette_of(self),
            width=self.scrollable_content_region.width,
            is_ascii=as_ascii(self),
        )

    def move_to(self, place: int) -> None:
        """Put the cursor on a row by its place; out of range is the first or the last."""
        has_moved = self._rows.move_to(place)
        self._scroll_to_cursor()
        self._refresh_changed()
        if has_moved:
            self.post_message(self.CursorMoved(self, self.cursor_id))

    def move_to_id(self, row_id: str) -> bool:
        """Put the cursor on a row by its id; False when it is not shown."""
        place = self._rows.place_of(row_id)
        if place is None:
            return False
        self.move_to(place)
        return True

    def _scroll_to_cursor(self) -> None:
        page = self._page
        top = round(self.scroll_y)
        at = self._rows.cursor_at
        if at < top:
            top = at
        elif at >= top + page:
            top = at - page + 1
        if top != round(self.scroll_y):
            self.scroll_to(y=top, animate=False, immediate=True)

    @property
    def _page(self) -> int:
        return max(1, self.size.height - 1)

    def action_move(self, rows: int) -> None:
        """Move the cursor down by so many rows."""
        self._rows.pressed()
        self.move_to(self._rows.cursor_at + rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor down by so many pages."""
        self.action_move(pages * self._page)

    def action_first(self) -> None:
        """Move the cursor to the first row."""
        self._rows.pressed()
        self.move_to(0)

    def action_last(self) -> None:
        """Move the cursor to the last row."""
        self._rows.pressed()
        self.move_to(len(self.rows) - 1)

    def action_column(self, columns: int) -> None:
        """Choose a column to the right; where not all have room, the others follow."""
        self._rows.pressed()
        last = len(self._placed) - 1
        wanted = self._column_at + columns
        if self._is_wide and wanted > last and self._first < len(self._columns) - self._fixed - 1:
            self._first += 1
            self._lay_out()
        elif self._is_wide and wanted < self._fixed and self._first and columns < 0:
            self._first -= 1
            self._lay_out()
        else:
            self._column_at = min(max(0, wanted), max(0, last))
        self._refresh_changed()

    def action_open(self) -> None:
        """Open the row under the cursor."""
        self._rows.pressed()
        if self.cursor_id is not None:
            self.post_message(self.Opened(self, self.cursor_id))

    def on_click(self, event: events.Click) -> None:
        """Sort by the header, mark by the cell in front of a row, or go to the row, or open it."""
        if event.y == 0:
            self._sort_at(event.x)
            return
        place = event.y - 1 + round(self.scroll_y)
        if place < len(self.rows):
            self._rows.pressed()
            is_again = self._id_of(self.rows[place]) == self.cursor_id and event.chain > 1
            self.move_to(place)
            if self._takes_marks and event.x < MARKER_CELLS:
                self.toggle_mark()
            elif is_again:
                self.action_open()

    def _sort_at(self, x: int) -> None:
        at = MARKER_CELLS
        for one in self._placed:
            if at <= x < at + one.width:
                before = self.orders[0] if self.orders else None
                is_same = before is not None and before.column.key == one.column.key
                descending = is_same and before is not None and not before.descending
                order = (Order(column=one.column, descending=descending),)
                self.post_message(self.OrderChosen(self, order))
                return
            at += one.width + 1

    def on_focus(self) -> None:
        """Show which column is chosen."""
        self._refresh_changed()

    def on_blur(self) -> None:
        """Stop showing which column is chosen."""
        self._refresh_changed()
