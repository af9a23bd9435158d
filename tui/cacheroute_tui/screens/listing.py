"""A screen whose body is rows of one kind: filter, order, all or alive, faults, and width.

class Queues(ListScreen[LoadRow]):
    KIND = QUEUES                         # names of filters and orders
    KEYS = (*LISTING, Key(...))
    def columns(self) -> Sequence[Column[LoadRow]]: ...       # for self.shape
    def rows_of(self, look: Seen) -> Sequence[LoadRow]: ...
    def is_alive(self, row) / is_faulty(self, row): ...       # for a and f
    def body(self): yield self.make_table()
    def draw_more(self, snapshot): ...    # what stands beside the table
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

from textual.app import ComposeResult

from cacheroute.console.columns import Column, Kind
from cacheroute.console.filters import Filter, FilterProblem, read_filter
from cacheroute.console.sorting import Order
from cacheroute.console.store import Seen, Snapshot
from cacheroute_tui.keymap import LISTING, Key
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.widgets.filter_line import FilterLine
from cacheroute_tui.widgets.lines import Span
from cacheroute_tui.widgets.menu import Choice, Menu
from cacheroute_tui.widgets.vtable import VTable

R = TypeVar("R")


class ListScreen(ConsoleScreen, Generic[R]):
    """Rows of one kind."""

    KIND: ClassVar[Kind[Any]]
    KEYS: ClassVar[tuple[Key, ...]] = LISTING
    USUAL: ClassVar[tuple[str, str]] = ("usual", "As the Proxy tells them.")
    """The order of `rows_of`: a word for it, and what that means."""

    def __init__(self) -> None:
        super().__init__()
        self._filter: Filter[R] | None = None
        self.is_all = True
        self.is_faults_only = False
        self.is_wide = False
        self._shape_laid: object = None

    # -- what a screen overrides ---------------------------------------------------------

    def columns(self) -> Sequence[Column[R]]:
        """Return the columns for the room there is, left to right."""
        return self.KIND.columns if self.is_wide else self.KIND.usual

    def rows_of(self, look: Seen) -> Sequence[R]:
        """Return the rows in their usual order."""
        raise NotImplementedError

    def id_of(self, row: R) -> str:
        """Return what a row is called."""
        return self.KIND.name_of(row)

    def is_alive(self, row: R) -> bool:  # noqa: ARG002 - for those that tell
        """Whether a row is shown when not all are."""
        return True

    def is_faulty(self, row: R) -> bool:
        """Whether something is wrong with it."""
        return not self.is_alive(row)

    def told_by(self, look: Seen) -> object:  # noqa: ARG002 - for those whose rows say no more
        """Return what stands for all that rows say but ages, and is the same while that is."""
        return None

    def draw_more(self, snapshot: Snapshot) -> None:
        """Draw what stands beside the table."""

    def cursor_moved(self, row_id: str | None) -> None:
        """Draw what depends on the row under the cursor."""

    def opened(self, row_id: str) -> None:
        """Open a row."""

    # -- the table -----------------------------------------------------------------------

    def make_table(self) -> VTable[R]:
        """Make the table; to be yielded in `body`."""
        return VTable(self.columns(), id_of=self.id_of, now=self.now, takes_marks=True, id="rows")

    @property
    def table(self) -> VTable[R]:
        """The table."""
        found: VTable[R] = self.query_one("#rows", VTable)
        return found

    def body(self) -> ComposeResult:
        """Make the table."""
        yield self.make_table()

    def bottom(self) -> ComposeResult:
        """Make the field of the filter."""
        yield FilterLine(id="filter", problem_of=self._filter_problem)
        yield from super().bottom()

    def draw(self, snapshot: Snapshot) -> None:
        """Draw a snapshot."""
        shape = (self.shape, self.is_tall, self.is_wide)
        if shape != self._shape_laid:
            self._shape_laid = shape
            self.table.take_columns(self.columns())
        look = snapshot.look
        table = self.table
        if look is None:
            table.empty_text = snapshot.connection.trouble or "connecting …"
            table.show_rows(())
        else:
            rows = self.rows_of(look)
            table.empty_text = self.empty_text(rows)
            table.show_rows(rows, is_stale=self.is_stale, told=self.told_by(look))
        self.draw_more(snapshot)

    def empty_text(self, rows: Sequence[R]) -> str:
        """Return what is said when no row is shown."""
        if rows:
            return (
                f"none of {len(rows)} {self.KIND.noun} is shown; / changes the filter, a shows all"
            )
        return f"no {self.KIND.noun}"

    def beside_tabs(self) -> Sequence[Span]:
        """Say how many rows are marked, and what they are sorted and filtered by."""
        if not self.is_mounted:
            return ()
        marked, hidden = self.table.mark_counts
        orders = self.table.orders
        order = self.USUAL[0]
        if orders:
            order = orders[0].column.header.strip().lower() + ("▼" if orders[0].descending else "▲")
        parts = []
        if marked:
            outside = f", {hidden} hidden" if hidden else ""
            parts.append(Span(f"+{marked} marked{outside} ", "accent"))
        parts.append(Span(f"sort {order}", "dim"))
        shown = "faults" if self.is_faults_only else "" if self.is_all else "alive"
        if shown:
            parts.append(Span(f" {shown}", "accent"))
        text = self._filter.text if self._filter else ""
        if text:
            parts.append(Span(f" /{text[:20]}", "accent"))
        return parts

    def selected_id(self) -> str | None:
        """Return the id under the cursor."""
        return self.table.cursor_id

    def selected_ids(self) -> tuple[str, ...]:
        """Return the names of what is marked; with nothing marked, what is under the cursor."""
        marked = self.table.marked_rows
        if marked:
            return tuple(dict.fromkeys(map(self.KIND.name_of, marked)))
        return super().selected_ids()

    def selected_json(self) -> object | None:
        """Return a list of what is marked; with nothing marked, the row under the cursor."""
        marked, row = self.table.marked_rows, self.table.cursor_row
        if marked:
            return [self.row_json(row) for row in marked]
        return None if row is None else self.row_json(row)

    def row_json(self, row: R) -> object:
        """Return a row, column by column."""
        return {column.key: column.reader()(row) for column in self.KIND.columns}

    def changed(self, ids: Sequence[str]) -> None:
        """Take the marks from what is done."""
        done = frozenset(ids)
        self.table.unmark(
            self.id_of(row) for row in self.table.marked_rows if self.KIND.name_of(row) in done
        )

    def step_back(self) -> bool:
        """Take all marks away, if there are any."""
        has_marks = bool(self.table.mark_counts[0])
        if has_marks:
            self.table.clear_marks()
        return has_marks

    def source_changed(self) -> None:
        """Take all marks away: the same name is another thing at another Proxy."""
        self.table.clear_marks()

    def explained(self) -> tuple[str, ...]:
        """Return the column under the cursor, then the others."""
        under = self.table.column_under_cursor
        keys = [column.key for column in self.table.shown_columns if column.key != "sign"]
        first = [under.key] if under is not None and under.key != "sign" else []
        return tuple(dict.fromkeys([*first, *keys]))

    def on_vtable_opened(self, message: VTable.Opened) -> None:
        """Open the row."""
        if message.table is self.table:
            self.opened(message.row_id)

    def on_vtable_cursor_moved(self, message: VTable.CursorMoved) -> None:
        """Draw what depends on it."""
        if message.table is self.table:
            self.cursor_moved(message.row_id)

    def on_vtable_order_chosen(self, message: VTable.OrderChosen) -> None:
        """Sort by the header that was clicked."""
        self.take_order(message.order)

    def on_vtable_marks_changed(self, message: VTable.MarksChanged) -> None:
        """Say how many there are."""
        if message.table is self.table:
            self.refresh_frame()

    # -- keys ----------------------------------------------------------------------------

    def take_order(self, orders: Sequence[Order[R]]) -> None:
        """Sort by these columns."""
        self.table.sort(orders)
        self.refresh_frame()

    def action_sort(self) -> None:
        """Choose the column to sort by."""
        by = self.table.orders[0].column.key if self.table.orders else None
        choices = [
            Choice(id=column.key, text=f"{column.header.strip() or column.key:<12} {column.doc}")
            for column in self.KIND.columns
            if column.key != "sign"
        ]
        usual = Choice(id="", text=f"{self.USUAL[0]:<12} {self.USUAL[1]}")

        def chosen(key: str | None) -> None:
            if key is None:
                return
            self.take_order((Order(column=self.KIND.column(key)),) if key else ())

        self.app.push_screen(
            Menu(f"sort {self.KIND.noun} by", [usual, *choices], chosen=by or ""), chosen
        )

    def action_sort_by(self, columns: int) -> None:
        """Sort by a column to the left or to the right of the one in force."""
        shown = [column for column in self.table.shown_columns if column.key != "sign"]
        if not shown:
            return
        keys = [column.key for column in shown]
        now = self.table.orders[0].column.key if self.table.orders else None
        at = keys.index(now) + columns if now in keys else 0
        self.take_order((Order(column=shown[at % len(shown)]),))

    def action_reverse(self) -> None:
        """Turn the order round."""
        orders = self.table.orders or (Order(column=self.KIND.column(self._usual_key())),)
        first = Order(column=orders[0].column, descending=not orders[0].descending)
        self.take_order((first, *orders[1:]))

    def _usual_key(self) -> str:
        keys = [column.key for column in self.KIND.columns]
        return "score" if "score" in keys else keys[0]

    def action_all(self) -> None:
        """Show all rows, or only those that are alive."""
        self.is_all = not self.is_all
        self._narrow()

    def action_faults(self) -> None:
        """Show only rows that something is wrong with, or all again."""
        self.is_faults_only = not self.is_faults_only
        self._narrow()

    def action_mark(self) -> None:
        """Mark the row under the cursor, or unmark it."""
        self.table.toggle_mark()

    def action_wide(self) -> None:
        """Show more columns, or the usual ones."""
        self.is_wide = not self.is_wide
        self.table.widen(self.is_wide)
        self.redraw()

    def action_filter(self) -> None:
        """Type a filter."""
        self.query_one(FilterLine).open(self._filter.text if self._filter else "")

    def _filter_problem(self, text: str) -> str | None:
        try:
            self._read_filter(text)
        except FilterProblem as problem:
            return str(problem)
        return None

    def _read_filter(self, text: str) -> Filter[R] | None:
        return read_filter(text, self.KIND) if text.strip() else None

    def on_filter_line_changed(self, message: FilterLine.Changed) -> None:
        """Filter while it is typed."""
        self.take_filter(message.text)

    def on_filter_line_closed(self) -> None:
        """Give the focus back to the rows."""
        self.set_focus(self.table)

    def take_filter(self, text: str) -> None:
        """Filter by a text; raises FilterProblem."""
        self._filter = self._read_filter(text)
        self._narrow()

    def _narrow(self) -> None:
        self.table.narrow(self._filter, accepts=self._test())
        self.refresh_frame()
        self.redraw()

    def _test(self) -> Any:
        if self.is_faults_only:
            return self.is_faulty
        return None if self.is_all else self.is_alive
