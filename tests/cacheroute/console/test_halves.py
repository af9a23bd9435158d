"""Numbers in two bytes: what comes out of what was put in."""

from math import inf, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.halves import MOST, at_place, packed

FIGURES = st.floats(min_value=0.1, max_value=60_000_000)


@given(FIGURES)
def test_a_number_keeps_three_digits(value: float) -> None:
    assert at_place([packed([value])], 0) == [pytest.approx(value, rel=5e-4)]


@given(st.integers(min_value=0, max_value=2_048))
def test_a_count_stays_as_it_is(count: int) -> None:
    assert at_place([packed([count])], 0) == [count]


@given(st.lists(st.one_of(st.none(), FIGURES), max_size=20))
def test_unknown_is_a_gap_and_a_number_is_none(column: list[float | None]) -> None:
    kept = packed(column)

    assert len(kept) <= 2 * len(column)
    for place, value in enumerate(column):
        assert isnan(at_place([kept], place)[0]) is (value is None)


def test_a_column_of_which_nothing_is_known_takes_no_bytes() -> None:
    assert packed([None, None]) == packed([]) == b""


def test_beyond_the_end_of_a_column_is_a_gap() -> None:
    first, second = packed([1.0]), packed([2.0, 3.0])

    found = at_place([first, b"", second], 1)

    assert isnan(found[0])
    assert isnan(found[1])
    assert found[2] == 3.0


def test_what_is_too_much_is_kept_as_the_most() -> None:
    kept = packed([1e12, -1e12, None, 5.0])

    assert [at_place([kept], place)[0] for place in (0, 1, 3)] == [
        pytest.approx(MOST, rel=1e-3), pytest.approx(-MOST, rel=1e-3), 5.0,
    ]  # fmt: skip
    assert isnan(at_place([kept], 2)[0])
    assert at_place([packed([inf])], 0) == [inf]
