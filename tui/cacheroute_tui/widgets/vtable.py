"""A table of any length that draws only the lines that are seen, each from one string a run.

The cursor belongs to a row's id, so it stays with its row when the order changes; and for two
seconds after a key was pressed the order does not change, so no row jumps under the finger.
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
from cacheroute.console.sorting import Order, in_order
from cacheroute_tui.drawing import as_ascii, palette_of
from cacheroute_tui.keymap import MOVING, bindings
from cacheroute_tui.widgets.column_layout import Placed, placed
from cacheroute_tui.widgets.table_strips import Ground, header_strip, row_strip, text_strip

R = TypeVar("R")

FROZEN_S = 2.0
"""How long the order of rows stays after a key was pressed."""
_MEASURED_ROWS = 300


class VTable(ScrollView, Generic[R], can_focus=True):
    """Rows of one kind under columns of the console's registry."""

    DEFAULT_CSS = """
    VTable { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }
    """

    BINDINGS = bindings(MOVING)  # type: ignore[assignment]

    @dataclass
    class Opened(Message):
        """Enter, or a click on the row under the cursor."""

        table: "VTable[Any]"
        row_id: str

        @property
        def control(self) -> "VTable[Any]":
            """The table it is from."""
            return self.table

    @dataclass
    class CursorMoved(Message):
        """The cursor is on another row; `row_id` is None when there are none."""

        table: "VTable[Any]"
        row_id: str | None

        @property
        def control(self) -> "VTable[Any]":
            """The table it is from."""
            return self.table

    @dataclass
    class OrderChosen(Message):
        """A header was clicked."""

        table: "VTable[Any]"
        order: tuple[Order[Any], ...]

        @property
        def control(self) -> "VTable[Any]":
            """The table it is from."""
            return self.table

    def __init__(
        self,
        columns: Sequence[Column[R]],
        *,
        id_of: Callable[[R], str],
        now: Callable[[], float],
        fixed: int = 2,
        id: str | None = None,  # noqa: A002 - the toolkit's name
    ) -> None:
        """`now` returns monotonic seconds; the first `fixed` columns never scroll out."""
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._id_of = id_of
        self._now = now
        self._fixed = fixed
        self._given: Sequence[R] = ()
        self._rows: list[R] = []
        self._place_of: dict[str, int] = {}
        self._orders: tuple[Order[R], ...] = ()
        self._filter: Filter[R] | None = None
        self._accepts: Callable[[R], bool] | None = None
        self._pressed_s: float | None = None
        self._cursor_id: str | None = None
        self._cursor_at = 0
        self._is_chosen = False
        self._column_at = 0
        self._first = 0
        self._is_wide = False
        self._is_stale = False
        self._placed: tuple[Placed[R], ...] = ()
        self._strips: dict[tuple[str, bool], Strip] = {}
        self._drawn: list[Strip | None] = []
        # The toolkit works it out anew each time, which costs more than a line does.
        self._base: Style | None = None
        self.empty_text = "no rows"
        """What stands in the place of rows when there are none."""

    def show_rows(self, rows: Sequence[R], *, is_stale: bool = False) -> None:
        """Draw these rows, in the order that was chosen; stale ones are grey."""
        self._given = rows
        self._is_stale = is_stale
        self._arrange(keeps_order=self.is_order_frozen)

    def narrow(
        self, found: Filter[R] | None, *, accepts: Callable[[R], bool] | None = None
    ) -> None:
        """Show only rows that a filter and a test accept."""
        self._filter, self._accepts = found, accepts
        self._arrange()

    def sort(self, orders: Sequence[Order[R]]) -> None:
        """Order rows by these columns; by none, rows stay as they were given."""
        self._orders = tuple(orders)
        self._pressed_s = None
        self._arrange()

    def take_columns(self, columns: Sequence[Column[R]]) -> None:
        """Show other columns."""
        self._columns = tuple(columns)
        self._lay_out()

    def widen(self, is_wide: bool) -> None:
        """Show every column and scroll, or only as many as have room."""
        self._is_wide, self._first = is_wide, 0
        self._lay_out()

    @property
    def rows(self) -> Sequence[R]:
        """The rows as they are shown, top down."""
        return self._rows

    @property
    def orders(self) -> tuple[Order[R], ...]:
        """What they are ordered by."""
        return self._orders

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
        return self._cursor_id

    @property
    def cursor_row(self) -> R | None:
        """The row under the cursor."""
        place = self._place_of.get(self._cursor_id or "")
        return None if place is None else self._rows[place]

    @property
    def is_order_frozen(self) -> bool:
        """Whether a key was pressed so lately that rows must not jump."""
        return self._pressed_s is not None and self._now() - self._pressed_s < FROZEN_S

    def pressed(self) -> None:
        """Hold the order of rows for two seconds."""
        self._pressed_s = self._now()

    def _arrange(self, *, keeps_order: bool = False) -> None:
        rows: Iterable[R] = self._given
        if self._filter is not None:
            rows = self._filter.of(rows)
        if self._accepts is not None:
            rows = [row for row in rows if self._accepts(row)]
        found = list(rows)
        if keeps_order:
            last = len(self._rows)
            place_of = self._place_of
            found.sort(key=lambda row: place_of.get(self._id_of(row), last))
        elif self._orders:
            found = in_order(found, self._orders)
        self._rows = found
        self._place_of = {self._id_of(row): place for place, row in enumerate(found)}
        self._keep_cursor()
        self._lay_out()

    def _keep_cursor(self) -> None:
        # Nobody has chosen a row before a key or a click: then it is the first, whichever that is.
        place = self._place_of.get(self._cursor_id or "") if self._is_chosen else None
        if place is None:
            place = min(self._cursor_at, len(self._rows) - 1)
            before, self._cursor_id = self._cursor_id, None
            if place >= 0:
                self._cursor_id = self._id_of(self._rows[place])
            if self._cursor_id != before and self.is_attached:
                self.post_message(self.CursorMoved(self, self._cursor_id))
        self._cursor_at = max(0, place)

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        columns = self._columns
        if self._is_wide:
            columns = (*columns[: self._fixed], *columns[self._fixed + self._first :])
        sample = self._rows[:_MEASURED_ROWS]
        found = placed(columns, sample, width - 1, keeps_all=self._is_wide)
        if found != self._placed:
            self._placed = found
        self._strips.clear()
        height = len(self._rows) + 1
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
        for y in range(height):
            if self._drawn[y] != self._line(y):
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

    def _line(self, y: int) -> Strip:
        ground = self._ground
        if y == 0:
            return header_strip(
                self._placed,
                ground,
                order=self._orders[0] if self._orders else None,
                under=self.column_under_cursor if self.has_focus else None,
            )
        place = y - 1 + round(self.scroll_y)
        if place >= len(self._rows):
            return text_strip(f"  {self.empty_text}" if place == 0 else "", ground)
        row = self._rows[place]
        row_id = self._id_of(row)
        key = (row_id, row_id == self._cursor_id)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = row_strip(
                row, self._placed, ground, is_cursor=key[1], is_stale=self._is_stale
            )
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
        if not self._rows:
            return
        self._is_chosen = True
        self._cursor_at = min(max(0, place), len(self._rows) - 1)
        before, self._cursor_id = self._cursor_id, self._id_of(self._rows[self._cursor_at])
        self._scroll_to_cursor()
        self._refresh_changed()
        if before != self._cursor_id:
            self.post_message(self.CursorMoved(self, self._cursor_id))

    def move_to_id(self, row_id: str) -> bool:
        """Put the cursor on a row by its id; False when it is not shown."""
        place = self._place_of.get(row_id)
        if place is None:
            return False
        self.move_to(place)
        return True

    def _scroll_to_cursor(self) -> None:
        page = self._page
        top = round(self.scroll_y)
        if self._cursor_at < top:
            top = self._cursor_at
        elif self._cursor_at >= top + page:
            top = self._cursor_at - page + 1
        if top != round(self.scroll_y):
            self.scroll_to(y=top, animate=False, immediate=True)

    @property
    def _page(self) -> int:
        return max(1, self.size.height - 1)

    def action_move(self, rows: int) -> None:
        """Move the cursor down by so many rows."""
        self.pressed()
        self.move_to(self._cursor_at + rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor down by so many pages."""
        self.action_move(pages * self._page)

    def action_first(self) -> None:
        """Move the cursor to the first row."""
        self.pressed()
        self.move_to(0)

    def action_last(self) -> None:
        """Move the cursor to the last row."""
        self.pressed()
        self.move_to(len(self._rows) - 1)

    def action_column(self, columns: int) -> None:
        """Choose a column to the right; where not all have room, the others follow."""
        self.pressed()
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
        self.pressed()
        if self._cursor_id is not None:
            self.post_message(self.Opened(self, self._cursor_id))

    def on_click(self, event: events.Click) -> None:
        """Sort by the header under the pointer, or go to the row; once more opens it."""
        if event.y == 0:
            self._sort_at(event.x)
            return
        place = event.y - 1 + round(self.scroll_y)
        if place < len(self._rows):
            self.pressed()
            is_again = self._id_of(self._rows[place]) == self._cursor_id and event.chain > 1
            self.move_to(place)
            if is_again:
                self.action_open()

    def _sort_at(self, x: int) -> None:
        at = 2
        for one in self._placed:
            if at <= x < at + one.width:
                before = self._orders[0] if self._orders else None
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
