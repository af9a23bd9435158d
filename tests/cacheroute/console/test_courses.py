"""Values fitted to columns: looks hold, gaps stay gaps, and no peak is lost."""

from array import array
from itertools import pairwise
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.courses import WINDOWS_S, binned, stretch_of, time_marks, top_of
from cacheroute.console.points import Points


def points(*told: tuple[float, float]) -> Points:
    return Points(
        times_s=array("d", [at for at, _ in told]), values=array("f", [value for _, value in told])
    )


def values_of(told: Points, *, now_s: float, window_s: float, bins: int) -> list[float]:
    return binned(told, stretch_of(now_s, window_s, bins), usual_s=1.0, now_s=now_s)


def test_a_value_holds_until_the_next_look() -> None:
    found = values_of(points((0, 5), (2, 7)), now_s=3.5, window_s=4, bins=4)

    assert found == [5, 5, 7, 7]


def test_a_look_at_which_nobody_knew_is_a_gap() -> None:
    found = values_of(points((0, 5), (1, nan), (2, nan), (3, 7)), now_s=3.5, window_s=4, bins=4)

    assert found[0] == 5
    assert isnan(found[1])
    assert isnan(found[2])
    assert found[3] == 7


def test_no_look_for_much_longer_than_usual_is_a_gap() -> None:
    told = points((0, 5), (1, 5), (2, 5), (8, 6), (9, 6))

    found = values_of(told, now_s=9.5, window_s=10, bins=10)

    assert found[:3] == [5, 5, 5]
    assert all(map(isnan, found[3:8]))
    assert found[8:] == [6, 6]


def test_looks_that_were_rarer_before_leave_no_gaps() -> None:
    told = points((0, 1), (10, 2), (20, 3), (21, 4), (22, 5))

    found = values_of(told, now_s=22.5, window_s=23, bins=23)

    assert not any(map(isnan, found))


def test_a_column_has_the_highest_of_its_values() -> None:
    told = points(*((at, 90.0 if at == 33 else 10.0) for at in range(60)))

    found = values_of(told, now_s=59.5, window_s=60, bins=6)

    assert found == [10, 10, 10, 90, 10, 10]


def test_what_was_before_the_window_reaches_into_it() -> None:
    found = binned(
        points((0, 5), (10, 7)), stretch_of(19.0, 15, 3), usual_s=10.0, now_s=19.0
    )  # columns of 5 s from 5 s on

    assert found == [5, 7, 7]


def test_the_last_value_does_not_hold_for_ever() -> None:
    found = values_of(points((0, 5), (1, 5)), now_s=20.0, window_s=21, bins=21)

    assert found[:2] == [5, 5]
    assert all(map(isnan, found[2:]))


def test_columns_stay_where_they_are_as_time_goes_on() -> None:
    early, late = stretch_of(100.2, 60, 60), stretch_of(100.9, 60, 60)

    assert early == late
    assert stretch_of(101.1, 60, 60).since_s == early.since_s + 1


@given(
    st.lists(st.tuples(st.floats(0, 400), st.one_of(st.just(nan), st.floats(0, 1e6))), max_size=80),
    st.sampled_from([5, 60, 300]),
    st.integers(1, 50),
)
def test_no_column_has_a_value_that_was_never_seen(
    told: list[tuple[float, float]], window_s: int, bins: int
) -> None:
    told.sort(key=lambda one: one[0])
    history = points(*told)

    found = values_of(history, now_s=400.0, window_s=window_s, bins=bins)

    seen = {value for value in history.values if not isnan(value)}
    assert len(found) == bins
    assert all(isnan(value) or value in seen for value in found)


@pytest.mark.parametrize(
    ("highest", "top"), [(0, 1), (0.4, 0.4), (7, 8), (31, 40), (99, 100), (1_234, 1_500)]
)
def test_the_top_of_an_axis_is_round_and_above_all(highest: float, top: float) -> None:
    assert top_of([[nan, highest / 2], [highest]]) == pytest.approx(top)


def test_marks_are_apart_and_on_whole_minutes() -> None:
    for window_s in WINDOWS_S:
        for width in (20, 40, 75, 150):
            marks = time_marks(1_764_512_281.0, 1_764_512_281.0 + window_s, width)
            cells = [cell for cell, _ in marks]

            assert all(0 <= cell <= width for cell in cells)
            assert all(b - a >= 8 for a, b in pairwise(cells))
            assert all(len(text) == 5 for _, text in marks)


def test_an_axis_without_room_has_no_marks() -> None:
    assert time_marks(0.0, 300.0, 5) == []
    assert time_marks(10.0, 10.0, 80) == []
