"""Who is ahead among costs of one speed, at any moment."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.routing.drift import Drift


def test_a_floor_falls_as_time_passes_and_nobody_is_touched() -> None:
    drift = Drift(3, speed=-1.0)
    drift.enter(0, 7.0, at_s=100.0)
    drift.enter(2, 5.0, at_s=101.0)
    assert [drift.floor(now_s) for now_s in (101.0, 103.0)] == pytest.approx([5, 3], abs=1e-4)
    assert drift.least_from(0)[1] == 2
    drift.leave(2)
    assert drift.floor(103.0) == pytest.approx(4, abs=1e-4)


def test_behind_an_overdue_first_token_it_rises() -> None:
    drift = Drift(1, speed=0.5)
    drift.enter(0, 7.0, at_s=100.0)
    assert drift.floor(104.0) == pytest.approx(9, abs=1e-4)


def test_where_nobody_is_there_is_no_floor() -> None:
    assert Drift(2, speed=-1.0).floor(5.0) == math.inf


@given(
    cost=st.floats(0, 1e6),
    at_s=st.floats(0, 1e7),
    passes_s=st.floats(0, 1e4),
    speed=st.sampled_from([-1000.0, -1.0, -1 / 3, 0.0, 0.25, 1.0]),
)
def test_a_floor_is_never_above_the_cost_and_next_to_it(
    cost: float, at_s: float, passes_s: float, speed: float
) -> None:
    drift = Drift(1, speed)
    drift.enter(0, cost, at_s)
    now_s = at_s + passes_s
    becomes = cost + speed * (now_s - at_s)
    assert becomes - 3e-5 * abs(speed) - 2e-9 * cost <= drift.floor(now_s) <= becomes
