"""How many more will come."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.dispatch.influx import FEWEST, REMEMBERED, Influx


def an_influx(*came_s: float) -> Influx:
    influx = Influx()
    for at_s in came_s:
        influx.came(at_s)
    return influx


def test_as_many_are_expected_in_a_time_as_have_come_in_as_long_a_one() -> None:
    influx = an_influx(0.0, 1.0, 2.0, 3.0)
    assert influx.expected(4.0, 2.0) == 2.0
    assert influx.expected(8.0, 2.0) == 1.0, "nobody has come since"


def test_a_few_tell_nothing() -> None:
    assert an_influx(*range(FEWEST - 1)).expected(5.0, 1.0) == 0.0
    assert an_influx(*range(FEWEST)).expected(5.0, 0.0) == 0.0


def test_a_burst_is_no_rate_that_goes_on() -> None:
    assert an_influx(*[7.0] * 10).expected(7.0, 3.0) == 10.0


def test_what_is_long_ago_is_forgotten() -> None:
    influx = an_influx(*[0.0] * REMEMBERED, *[1000.0 + n for n in range(REMEMBERED)])
    assert influx.expected(1000.0 + REMEMBERED, 1.0) == pytest.approx(1.0)


@given(st.lists(st.floats(0, 1e6), max_size=80).map(sorted), st.floats(0, 1e6))
def test_no_more_are_expected_than_are_remembered(came_s: list[float], within_s: float) -> None:
    now_s = came_s[-1] if came_s else 0.0
    assert 0 <= an_influx(*came_s).expected(now_s, within_s) <= REMEMBERED
