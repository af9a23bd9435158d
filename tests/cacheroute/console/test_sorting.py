"""In which order rows are shown."""

import pytest

from cacheroute.console.columns import UnknownColumn
from cacheroute.console.rows.instances import INSTANCES
from cacheroute.console.sorting import OrderProblem, in_order, read_order
from tests.cacheroute.console.builders import a_row

ROWS = [
    a_row("i-10", resource={"gpu_util_avg": 63}),
    a_row("i-9"),
    a_row("I-2", is_alive=False, state="dead"),
    a_row("i-1", draining=True, resource={"gpu_util_avg": 0}),
]


def ids(order: str) -> list[str]:
    return [row.id for row in in_order(ROWS, read_order(order, INSTANCES))]


def test_numbers_in_names_count_as_numbers() -> None:
    assert ids("id") == ["i-1", "I-2", "i-9", "i-10"]
    assert ids("id:desc") == ["i-10", "i-9", "I-2", "i-1"]


def test_unknown_comes_last_whichever_way_round() -> None:
    assert ids("gpu") == ["i-1", "i-10", "i-9", "I-2"]
    assert ids("gpu:desc") == ["i-10", "i-1", "i-9", "I-2"]


def test_states_have_an_order_of_their_own() -> None:
    assert ids("state") == ["i-10", "i-9", "i-1", "I-2"]


def test_what_is_equal_goes_by_the_next_column_and_else_stays() -> None:
    assert ids("state,id:desc") == ["i-10", "i-9", "i-1", "I-2"]
    assert ids("weight") == ["i-10", "i-9", "I-2", "i-1"]


def test_lists_are_sorted_by_their_words() -> None:
    rows = [a_row("a", tags=["z"]), a_row("b", tags=[]), a_row("c", tags=["k", "x"])]

    assert [row.id for row in in_order(rows, read_order("tags", INSTANCES))] == ["b", "c", "a"]


def test_an_order_that_is_none_is_refused() -> None:
    with pytest.raises(OrderProblem, match="asc or desc, not 'down'"):
        read_order("gpu:down", INSTANCES)
    with pytest.raises(UnknownColumn, match="'gpuu'"):
        read_order("gpuu", INSTANCES)
