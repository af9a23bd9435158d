"""Rows without a screen: order, cursor and marks belong to ids, and hold over whatever comes."""

from cacheroute.console.columns import Column, Kind
from cacheroute.console.filters import read_filter
from cacheroute.console.sorting import Order
from cacheroute_tui.widgets.table_rows import FROZEN_S, TableRows

LOAD: Column[tuple[str, int]] = Column(
    key="load", header="LOAD", text=lambda row: str(row[1]), value=lambda row: row[1], doc=""
)
KIND = Kind(
    name="rows", noun="rows", columns=(LOAD,), name_of=lambda row: row[0],
    searched=lambda row: row[0],
)  # fmt: skip
ABC = [("a", 3), ("b", 2), ("c", 1)]


class Watch:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.at_s = 0.0

    def __call__(self) -> float:
        """Return it."""
        return self.at_s


def rows_of(given: list[tuple[str, int]], now: Watch | None = None) -> TableRows[tuple[str, int]]:
    found: TableRows[tuple[str, int]] = TableRows(id_of=lambda row: row[0], now=now or Watch())
    found.take(given)
    return found


def marked(rows: TableRows[tuple[str, int]], *ids: str) -> TableRows[tuple[str, int]]:
    for one in ids:
        place = rows.place_of(one)
        assert place is not None
        rows.move_to(place)
        assert rows.toggle_mark()
    return rows


def test_the_cursor_stays_with_its_id_when_the_order_changes() -> None:
    rows = rows_of(ABC)
    assert rows.move_to(0) is False, "it was there"
    assert rows.move_to(1) is True
    assert rows.sort([Order(column=LOAD)]) is False

    assert [row[0] for row in rows.shown] == ["c", "b", "a"]
    assert (rows.cursor_id, rows.cursor_at, rows.cursor_row) == ("b", 1, ("b", 2))


def test_when_its_row_goes_the_cursor_stays_at_its_place() -> None:
    rows = rows_of(ABC)
    rows.move_to(1)

    assert rows.take([("a", 3), ("c", 1)]) is True
    assert rows.cursor_id == "c"
    assert rows.take([]) is True
    assert rows.cursor_row is None
    assert rows.take([]) is False


def test_a_place_out_of_range_is_the_first_or_the_last() -> None:
    rows = rows_of(ABC)
    rows.move_to(99)
    assert rows.cursor_id == "c"
    rows.move_to(-1)
    assert rows.cursor_id == "a"
    assert rows_of([]).move_to(0) is False


def test_the_order_is_held_for_two_seconds_after_a_key() -> None:
    now = Watch()
    rows = rows_of(ABC, now)
    rows.sort([Order(column=LOAD)])
    rows.pressed()
    rows.take([("a", 0), ("b", 2), ("c", 1), ("d", -1)])
    assert [row[0] for row in rows.shown] == ["c", "b", "a", "d"]

    now.at_s = FROZEN_S + 0.1
    rows.take([("a", 0), ("b", 2), ("c", 1), ("d", -1)])
    assert [row[0] for row in rows.shown] == ["d", "a", "c", "b"]


def test_a_mark_is_set_and_taken_away_by_the_same_call() -> None:
    rows = marked(rows_of(ABC), "b")
    assert rows.is_marked("b")
    assert not rows.is_marked("a")
    assert rows.marks == {"b"}
    assert rows.mark_count == 1

    marked(rows, "b")
    assert rows.mark_count == 0
    assert rows.marked_rows == []


def test_marks_hold_over_looks_orders_and_filters() -> None:
    rows = marked(rows_of(ABC), "a", "c")
    rows.sort([Order(column=LOAD)])
    assert rows.marked_rows == [("c", 1), ("a", 3)], "in the order that is shown"

    rows.narrow(read_filter("a", KIND), None)
    assert [row[0] for row in rows.shown] == ["a"]
    assert rows.marked_rows == [("a", 3), ("c", 1)], "those that are hidden come last"
    assert rows.hidden_marks == 1

    rows.take([("c", 7), ("b", 2), ("a", 9)])
    rows.narrow(None, None)
    assert rows.marked_rows == [("c", 7), ("a", 9)]
    assert rows.hidden_marks == 0


def test_who_leaves_the_fleet_loses_its_mark_and_comes_back_without_it() -> None:
    rows = marked(rows_of(ABC), "a", "b")
    rows.take([("b", 2), ("c", 1)])
    assert rows.marks == {"b"}
    rows.take(ABC)
    assert rows.marks == {"b"}


def test_a_row_that_was_marked_keeps_the_cursor() -> None:
    rows = rows_of(ABC)
    assert rows.cursor_id == "a"
    assert rows.toggle_mark()

    rows.take([("c", 1), ("b", 2), ("a", 3)])
    assert rows.cursor_id == "a"


def test_where_there_are_no_rows_nothing_is_marked() -> None:
    assert rows_of([]).toggle_mark() is False


def test_only_what_is_named_is_unmarked() -> None:
    rows = marked(rows_of(ABC), "a", "b")
    rows.unmark(["a", "never there"])
    assert rows.marks == {"b"}


def test_rows_that_are_the_same_are_taken_as_they_stand() -> None:
    rows = rows_of(ABC)
    rows.move_to(1)

    assert rows.take([("a", 30), ("b", 20), ("c", 10)], is_same=True) is False
    assert rows.shown == [("a", 30), ("b", 20), ("c", 10)]
    assert rows.cursor_row == ("b", 20)


def test_rows_that_are_the_same_stay_in_the_order_that_was_chosen() -> None:
    rows = rows_of(ABC)
    rows.sort([Order(column=LOAD)])

    rows.take([("a", 30), ("b", 20), ("c", 10)], is_same=True)

    assert rows.shown == [("c", 10), ("b", 20), ("a", 30)]
