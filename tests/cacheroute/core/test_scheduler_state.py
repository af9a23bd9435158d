"""Where a Proxy stands with its Scheduler."""

from cacheroute.core.scheduler_state import SchedulerState
from tests.cacheroute.core.pool_builders import at


def test_without_a_scheduler_nothing_is_known() -> None:
    shown = SchedulerState(since=at(10.0)).as_wire(at(12.5))
    assert (shown["state"], shown["url"], shown["heard_age_s"]) == ("off", None, None)
    assert shown["state_age_s"] == 2.5


def test_ages_are_counted_on_the_monotonic_clock() -> None:
    state = SchedulerState(
        since=at(10.0, wall_s=1e9), url="http://s:7002", state="registered", heard=at(11.0)
    )
    shown = state.as_wire(at(12.0, wall_s=0.0))
    assert (shown["state_age_s"], shown["heard_age_s"]) == (2.0, 1.0)
