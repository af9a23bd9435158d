"""Columns fold and spread without loss."""

from hypothesis import given
from hypothesis import strategies as st

from cacheroute.wire.console import Lists
from cacheroute.wire.console_columns import folded, spread, spread_lists


@given(st.lists(st.none() | st.integers(0, 3)))
def test_a_column_that_is_folded_and_spread_is_the_same(column: list[int | None]) -> None:
    again = folded(column)

    assert spread(again, len(column)) == column
    assert not (isinstance(again, list) and len(set(column)) == 1)


def test_a_column_of_the_wrong_length_is_cut_or_filled_with_what_is_not_known() -> None:
    assert spread([1, 2, 3], 2) == [1, 2]
    assert spread([1], 3) == [1, None, None]
    assert spread(None, 2) == [None, None]


def test_lists_stand_once_and_a_place_that_is_not_there_is_unknown() -> None:
    lists = Lists(values=[["a"], None], at=[0, 1, 0, 7, -1])

    assert spread_lists(lists, 5) == [["a"], None, ["a"], None, None]
    assert spread_lists(Lists(values=[["a"]], at=0), 2) == [["a"], ["a"]]
    assert spread_lists(Lists(), 2) == [None, None]
