"""Which rows a table shows and in what order, where its cursor is, and what is marked.

All of it belongs to ids and not to places, so it holds over looks, orders and filters. For two
seconds after a key the order stays, so no row jumps under the finger. Nothing here draws.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from cacheroute.console.filters import Filter
from cacheroute.console.sorting import Order, in_order

R = TypeVar("R")

FROZEN_S = 2.0
"""How long the order of rows stays after a key was pressed."""


class TableRows(Generic[R]):
    """The rows of one table; `now` returns monotonic seconds.

    Whatever arranges rows returns whether the cursor is on another id than before.
    """

    def __init__(self, *, id_of: Callable[[R], str], now: Callable[[], float]) -> None:
        self._id_of = id_of
        self._now = now
        self._given: Sequence[R] = ()
        self._shown: list[R] = []
        self._is_as_given = False
        self._place_of: dict[str, int] = {}
        self._orders: tuple[Order[R], ...] = ()
        self._filter: Filter[R] | None = None
        self._accepts: Callable[[R], bool] | None = None
        self._pressed_s: float | None = None
        self._cursor_id: str | None = None
        self._cursor_at = 0
        self._is_chosen = False
        self._marks: set[str] = set()

    # -- rows ----------------------------------------------------------------------------

    @property
    def shown(self) -> Sequence[R]:
        """The rows that are shown, top down."""
        return self._shown

    @property
    def orders(self) -> tuple[Order[R], ...]:
        """What they are ordered by."""
        return self._orders

    @property
    def is_order_frozen(self) -> bool:
        """Whether a key was pressed so lately that rows must not jump."""
        return self._pressed_s is not None and self._now() - self._pressed_s < FROZEN_S

    def pressed(self) -> None:
        """Hold the order of rows for two seconds."""
        self._pressed_s = self._now()

    def take(self, rows: Sequence[R], *, is_same: bool = False) -> bool:
        """Show these rows, in the order that was chosen; marks of others are gone.

        With `is_same` they are those of before, in the same order, but for their ages.
        """
        self._given = rows
        if is_same and self._is_as_given:
            self._shown = list(rows)
            return False
        if self._marks:
            self._marks.intersection_update(map(self._id_of, rows))
        return self._arrange(keeps_order=self.is_order_frozen)

    def narrow(self, found: Filter[R] | None, accepts: Callable[[R], bool] | None) -> bool:
        """Show only rows that a filter and a test accept."""
        self._filter, self._accepts = found, accepts
        return self._arrange()

    def sort(self, orders: Sequence[Order[R]]) -> bool:
        """Order rows by these columns; by none, rows stay as they were given."""
        self._orders = tuple(orders)
        self._pressed_s = None
        return self._arrange()

    def _arrange(self, *, keeps_order: bool = False) -> bool:
        rows: Iterable[R] = self._given
        chosen = (self._filter, self._accepts, self._orders or None)
        self._is_as_given = not keeps_order and chosen == (None, None, None)
        if self._filter is not None:
            rows = self._filter.of(rows)
        if self._accepts is not None:
            rows = [row for row in rows if self._accepts(row)]
        found = list(rows)
        if keeps_order:
            last = len(self._shown)
            place_of = self._place_of
            found.sort(key=lambda row: place_of.get(self._id_of(row), last))
        elif self._orders:
            found = in_order(found, self._orders)
        self._shown = found
        self._place_of = {self._id_of(row): place for place, row in enumerate(found)}
        return self._keep_cursor()

    # -- the cursor ----------------------------------------------------------------------

    @property
    def cursor_id(self) -> str | None:
        """The id of the row under the cursor; None when no row is shown."""
        return self._cursor_id

    @property
    def cursor_at(self) -> int:
        """Its place, from 0."""
        return self._cursor_at

    @property
    def cursor_row(self) -> R | None:
        """The row under the cursor."""
        place = self._place_of.get(self._cursor_id or "")
        return None if place is None else self._shown[place]

    def place_of(self, row_id: str) -> int | None:
        """Return where a row is shown, if it is."""
        return self._place_of.get(row_id)

    def move_to(self, place: int) -> bool:
        """Put the cursor on a row by its place; out of range is the first or the last."""
        if not self._shown:
            return False
        self._is_chosen = True
        self._cursor_at = min(max(0, place), len(self._shown) - 1)
        before, self._cursor_id = self._cursor_id, self._id_of(self._shown[self._cursor_at])
        return before != self._cursor_id

    def _keep_cursor(self) -> bool:
        # Nobody has chosen a row before a key or a click: then it is the first, whichever that is.
        place = self._place_of.get(self._cursor_id or "") if self._is_chosen else None
        before = self._cursor_id
        if place is None:
            place = min(self._cursor_at, len(self._shown) - 1)
            self._cursor_id = self._id_of(self._shown[place]) if place >= 0 else None
        self._cursor_at = max(0, place)
        return self._cursor_id != before

    # -- marks ---------------------------------------------------------------------------

    @property
    def marks(self) -> frozenset[str]:
        """The ids that are marked, those that a filter hides too."""
        return frozenset(self._marks)

    @property
    def mark_count(self) -> int:
        """How many are marked."""
        return len(self._marks)

    @property
    def hidden_marks(self) -> int:
        """How many of them are not shown."""
        return sum(1 for row_id in self._marks if row_id not in self._place_of)

    @property
    def marked_rows(self) -> list[R]:
        """The rows that are marked: the shown ones top down, then the others."""
        if not self._marks:
            return []
        last = len(self._shown)
        found = [row for row in self._given if self._id_of(row) in self._marks]
        return sorted(found, key=lambda row: self._place_of.get(self._id_of(row), last))

    def is_marked(self, row_id: str) -> bool:
        """Whether a row is marked."""
        return row_id in self._marks

    def toggle_mark(self) -> bool:
        """Mark the row under the cursor, or unmark it; False when there is none."""
        if self._cursor_id is None:
            return False
        # Whoever marks a row has chosen it, so the cursor stays with it from now on.
        self._is_chosen = True
        self._marks ^= {self._cursor_id}
        return True

    def unmark(self, row_ids: Iterable[str]) -> None:
        """Take marks away."""
        self._marks.difference_update(row_ids)
