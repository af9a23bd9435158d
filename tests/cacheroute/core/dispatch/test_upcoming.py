"""What is on its way to an Instance counts before it is there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.dispatch.upcoming import Upcoming


def test_nobody_on_the_way_leaves_what_the_instance_has() -> None:
    assert Upcoming().wait_ms(0.0, 250.0) == 250.0


def test_one_that_is_ready_before_us_goes_first() -> None:
    upcoming = Upcoming()
    upcoming.add(1.0, 500.0)
    assert upcoming.wait_ms(0.0, 0.0, own_ready_ms=2000.0) == pytest.approx(1500.0)


def test_one_that_is_ready_after_us_does_not_keep_us() -> None:
    upcoming = Upcoming()
    upcoming.add(1.0, 500.0)
    assert upcoming.wait_ms(0.0, 300.0, own_ready_ms=900.0) == 300.0


def test_one_that_is_late_is_taken_for_ready_now() -> None:
    upcoming = Upcoming()
    upcoming.add(1.0, 500.0)
    assert upcoming.wait_ms(5.0, 100.0) == pytest.approx(600.0)


def test_a_burst_is_served_one_after_the_other() -> None:
    upcoming = Upcoming()
    for _ in range(3):
        upcoming.add(0.0, 100.0)
    assert upcoming.wait_ms(0.0, 50.0) == pytest.approx(350.0)


def test_equal_ones_are_told_apart_and_given_back_once() -> None:
    upcoming = Upcoming()
    first, second = upcoming.add(1.0, 100.0), upcoming.add(1.0, 100.0)
    upcoming.remove(first)
    upcoming.remove(first)
    assert len(upcoming) == 1
    upcoming.remove(second)
    assert len(upcoming) == 0


@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(0, 5000)), max_size=20),
    st.floats(0, 5000),
    st.floats(0, 20_000),
)
def test_the_wait_is_never_shorter_than_what_the_instance_has(
    coming: list[tuple[float, float]], free_in_ms: float, own_ready_ms: float
) -> None:
    upcoming = Upcoming()
    for ready_mono_s, service_ms in coming:
        upcoming.add(ready_mono_s, service_ms)
    wait_ms = upcoming.wait_ms(3.0, free_in_ms, own_ready_ms)
    assert wait_ms >= free_in_ms - 1e-6
    later_ms = upcoming.wait_ms(3.0, free_in_ms, own_ready_ms + 1000)
    assert later_ms >= wait_ms


# What one more does to the others


def test_those_that_are_ready_while_we_are_read_wait_for_us() -> None:
    upcoming = Upcoming()
    upcoming.add(0.5, 100.0)
    upcoming.add(0.6, 100.0)
    # Ready at once and 1000 ms long: they begin at 1000 and 1100 instead of 500 and 600.
    assert upcoming.delay_ms(0.0, 0.0, 0.0, 1000.0) == pytest.approx(1000.0)


def test_those_that_are_ready_before_us_or_after_we_have_gone_do_not_wait() -> None:
    upcoming = Upcoming()
    upcoming.add(0.1, 100.0)
    upcoming.add(9.0, 100.0)
    assert upcoming.delay_ms(0.0, 0.0, 200.0, 1000.0) == 0.0


def test_where_others_wait_already_each_of_them_waits_for_all_of_us() -> None:
    upcoming = Upcoming()
    for _ in range(3):
        upcoming.add(0.2, 100.0)
    assert upcoming.delay_ms(0.0, 5000.0, 100.0, 70.0) == pytest.approx(3 * 70.0)


def test_nobody_on_the_way_is_held_up_by_nothing() -> None:
    assert Upcoming().delay_ms(0.0, 100.0, 0.0, 5000.0) == 0.0


@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(0, 5000)), max_size=20),
    st.floats(0, 5000),
    st.floats(0, 20_000),
    st.floats(0, 5000),
)
def test_nobody_is_held_up_by_more_than_our_own_time(
    coming: list[tuple[float, float]], free_in_ms: float, own_ready_ms: float, own_ms: float
) -> None:
    upcoming = Upcoming()
    for ready_mono_s, service_ms in coming:
        upcoming.add(ready_mono_s, service_ms)
    delay_ms = upcoming.delay_ms(3.0, free_in_ms, own_ready_ms, own_ms)
    # Before its turn nobody may be idle for us: so at most the idle time and our own.
    assert -1e-6 <= delay_ms <= len(coming) * (own_ready_ms + own_ms) + 1e-6
