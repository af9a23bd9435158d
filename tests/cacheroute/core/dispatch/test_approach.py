"""What one more means among those that are on their way."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.dispatch.approach import Approach, Arrival
from cacheroute.core.dispatch.influx import REMEMBERED, Influx

ARRIVALS = st.lists(st.tuples(st.floats(0, 10), st.floats(0, 5)), max_size=20)
MS = st.floats(0, 20_000)


def an_approach(
    *arrivals: tuple[float, float],
    free_in_s: float = 0.0,
    place_in_s: float = 0.0,
    blocked_s: float = 0.0,
    came_s: Sequence[float] = (),
    plain_s: Sequence[float] = (),
    text_passes: bool = True,
) -> Approach:
    """Those that are released after so many seconds and need so many, at the 100th second."""
    found = [Arrival(release_s, n, service_s) for n, (release_s, service_s) in enumerate(arrivals)]
    influx, line_influx = Influx(), Influx()
    for at_s in sorted((*came_s, *plain_s)):
        influx.came(at_s)
    for at_s in came_s:
        line_influx.came(at_s)
    return Approach(
        now_mono_s=100.0,
        arrivals=sorted(found),
        influx=influx,
        line_influx=line_influx,
        free_in_s=free_in_s,
        place_in_s=place_in_s,
        blocked_s=blocked_s,
        text_passes=text_passes,
    )


# What it waits for


def test_nobody_on_the_way_leaves_what_the_instance_has() -> None:
    approach = an_approach(free_in_s=0.25)
    assert approach.wait_ms(0.0, passes=False) == 250
    assert approach.place_in_ms == 0


def test_one_that_is_released_before_us_goes_first() -> None:
    assert an_approach((1.0, 0.5)).wait_ms(2000, passes=True) == pytest.approx(1500)


def test_one_that_is_released_after_us_does_not_keep_us_if_we_may_pass() -> None:
    assert an_approach((1.0, 0.5), free_in_s=0.3).wait_ms(900, passes=True) == pytest.approx(300)


def test_one_that_may_not_pass_waits_until_all_before_it_are_ready_and_read() -> None:
    approach = an_approach((1.0, 0.5), blocked_s=1.0)
    assert approach.wait_ms(0, passes=False) == pytest.approx(1500)
    # One that leaves the line before it is released blocks and is not read.
    assert an_approach(blocked_s=1.0).wait_ms(0, passes=False) == pytest.approx(1000)


def test_a_burst_is_served_one_after_the_other() -> None:
    burst = an_approach(*[(0.0, 0.1)] * 3, free_in_s=0.05)
    assert burst.wait_ms(0, passes=True) == pytest.approx(350)


def test_a_place_to_be_prepared_in_is_told_in_ms() -> None:
    assert an_approach(place_in_s=1.5).place_in_ms == 1500


@given(ARRIVALS, st.floats(0, 5), st.floats(0, 12), MS, st.booleans())
def test_who_is_ready_later_never_waits_for_fewer(
    arrivals: list[tuple[float, float]],
    free_in_s: float,
    blocked_s: float,
    own_ready_ms: float,
    passes: bool,
) -> None:
    approach = an_approach(*arrivals, free_in_s=free_in_s, blocked_s=blocked_s)
    wait_ms = approach.wait_ms(own_ready_ms, passes=passes)
    assert wait_ms >= free_in_s * 1000 - 1e-6
    assert approach.wait_ms(own_ready_ms + 1000, passes=passes) >= wait_ms
    assert approach.wait_ms(own_ready_ms, passes=False) >= wait_ms


# What it does to the others


def test_those_that_are_released_while_we_are_read_wait_for_us() -> None:
    approach = an_approach((0.5, 0.1), (0.6, 0.1))
    # Ready at once and 1000 ms long: they begin at 1000 and 1100 instead of 500 and 600.
    assert approach.delay_ms(0, 1000, passes=True) == pytest.approx(1000)


def test_those_that_are_released_before_us_or_after_we_have_gone_do_not_wait() -> None:
    approach = an_approach((0.1, 0.1), (9.0, 0.1))
    assert approach.delay_ms(200, 1000, passes=True) == 0


def test_where_others_wait_already_each_of_them_waits_for_all_of_us() -> None:
    approach = an_approach(*[(0.2, 0.1)] * 3, free_in_s=5.0)
    assert approach.delay_ms(100, 70, passes=True) == pytest.approx(3 * 70)


def test_who_passes_nobody_holds_nobody_up() -> None:
    approach = an_approach((0.5, 0.1), (0.6, 0.1), blocked_s=0.6)
    assert approach.delay_ms(0, 1000, passes=False) == 0


def test_nobody_on_the_way_is_held_up_by_nothing() -> None:
    assert an_approach(free_in_s=0.1).delay_ms(0, 5000, passes=True) == 0


@given(ARRIVALS, st.floats(0, 5), MS, st.floats(0, 5000))
def test_nobody_is_held_up_by_more_than_our_own_time(
    arrivals: list[tuple[float, float]], free_in_s: float, own_ready_ms: float, own_ms: float
) -> None:
    approach = an_approach(*arrivals, free_in_s=free_in_s)
    delay_ms = approach.delay_ms(own_ready_ms, own_ms, passes=True)
    # Before its turn nobody may be idle for us: so at most the idle time and our own.
    assert -1e-6 <= delay_ms <= len(arrivals) * (own_ready_ms + own_ms) + 1e-6


# What it does to those who will come

TEN_IN_TEN_S = tuple(float(at_s) for at_s in range(90, 100))


def test_who_comes_while_there_is_work_waits_for_our_prefill_or_for_its_rest() -> None:
    approach = an_approach(free_in_s=2.0, came_s=TEN_IN_TEN_S)
    # One a second: two before it begins wait 1 s longer, one while it is read half of it.
    assert approach.later_delay_ms(5, 1000, passes=True) == pytest.approx(2500)
    assert an_approach(came_s=TEN_IN_TEN_S).later_delay_ms(5, 1000, passes=True) == 500


def test_in_order_those_who_come_wait_until_our_kv_is_there_as_well() -> None:
    in_order = an_approach(came_s=TEN_IN_TEN_S, text_passes=False)
    assert in_order.later_delay_ms(4000, 0, passes=False) == pytest.approx(4 * 2000)
    behind_another = an_approach(blocked_s=3.0, came_s=TEN_IN_TEN_S, text_passes=False)
    assert behind_another.later_delay_ms(4000, 0, passes=False) == pytest.approx(500)
    passed_by = an_approach(came_s=TEN_IN_TEN_S)
    assert passed_by.later_delay_ms(4000, 0, passes=False) == 0


def test_those_without_knowledge_wait_for_a_prefill_and_for_nobody_to_be_ready() -> None:
    plain = an_approach(plain_s=TEN_IN_TEN_S, text_passes=False)
    assert plain.later_delay_ms(0, 1000, passes=False) == 500
    assert plain.later_delay_ms(3000, 0, passes=False) == 0


def test_where_nobody_comes_nobody_will_wait() -> None:
    approach = an_approach(free_in_s=2.0, text_passes=False)
    assert approach.later_delay_ms(5000, 1000, passes=False) == 0
    assert an_approach(came_s=TEN_IN_TEN_S).later_delay_ms(0, 0, passes=True) == 0


@given(st.lists(st.floats(0, 100), max_size=40).map(sorted), MS, MS, st.booleans())
def test_what_later_ones_wait_is_bounded_by_how_many_are_remembered(
    came_s: list[float], own_ready_ms: float, own_ms: float, text_passes: bool
) -> None:
    approach = an_approach(came_s=came_s, text_passes=text_passes)
    delay_ms = approach.later_delay_ms(own_ready_ms, own_ms, passes=False)
    assert 0 <= delay_ms <= REMEMBERED * (own_ms + own_ready_ms / 2) + 1e-6
