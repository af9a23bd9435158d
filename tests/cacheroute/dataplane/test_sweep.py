"""Silence is counted in ticks, and the loop's own delays are not charged to anybody."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from cacheroute.dataplane.sweep import Sweeper


class HandLoop:
    """A loop whose clock is set by hand and whose timers fire when told."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.due: list[asyncio.TimerHandle] = []
        self.faults: list[dict[str, Any]] = []

    def time(self) -> float:
        return self.now_s

    def get_debug(self) -> bool:
        return False

    def call_later(self, delay: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        due = asyncio.TimerHandle(self.now_s + delay, callback, (), self.as_loop)
        self.due.append(due)
        return due

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        self.due.remove(handle)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.faults.append(context)

    @property
    def as_loop(self) -> asyncio.AbstractEventLoop:
        """The same, as far as the type checker is concerned."""
        return cast(asyncio.AbstractEventLoop, self)

    def fire(self, late_s: float = 0.0) -> None:
        """Go to the next timer, or to some time after it, and run it."""
        handle = self.due.pop(0)
        self.now_s = handle.when() + late_s
        handle._run()


@dataclass(eq=False)
class Silent:
    """Counts what it is told."""

    heard_s: list[float] = field(default_factory=list)

    def tick(self, elapsed_s: float) -> None:
        """Note the time."""
        self.heard_s.append(elapsed_s)


class Failing:
    """Fails at every tick."""

    def tick(self, elapsed_s: float) -> None:
        """Fail."""
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("limits_s", "interval_s"),
    [
        ([0.4, 60.0], 0.1),
        ([2.0, None], 0.5),
        ([600.0], 1.0),
        ([0.001], 0.01),
        ([None, None], 1.0),
        ([], 1.0),
    ],
)
def test_the_interval_is_a_quarter_of_the_smallest_limit_within_bounds(
    limits_s: list[float | None], interval_s: float
) -> None:
    assert Sweeper(HandLoop().as_loop, limits_s).interval_s == pytest.approx(interval_s)


def test_everything_watched_is_told_how_much_time_has_gone_by() -> None:
    loop, first, second = HandLoop(), Silent(), Silent()
    sweeper = Sweeper(loop.as_loop, [0.4])
    sweeper.watched |= {first, second}
    sweeper.start()
    loop.fire()
    sweeper.watched.remove(second)
    loop.fire(late_s=0.05)
    assert first.heard_s == pytest.approx([0.1, 0.15])
    assert second.heard_s == pytest.approx([0.1])


def test_a_loop_that_lags_charges_at_most_two_intervals() -> None:
    loop, watched = HandLoop(), Silent()
    sweeper = Sweeper(loop.as_loop, [0.4])
    sweeper.watched.add(watched)
    sweeper.start()
    loop.fire(late_s=30.0)
    loop.fire()
    assert watched.heard_s == pytest.approx([0.2, 0.1])


def test_time_before_the_start_is_not_charged() -> None:
    loop, watched = HandLoop(), Silent()
    sweeper = Sweeper(loop.as_loop, [0.4])
    sweeper.watched.add(watched)
    loop.now_s += 0.15
    sweeper.start()
    loop.fire()
    assert watched.heard_s == pytest.approx([0.1])


def test_starting_twice_is_starting_once() -> None:
    loop = HandLoop()
    sweeper = Sweeper(loop.as_loop, [0.4])
    sweeper.start()
    sweeper.start()
    assert len(loop.due) == 1


def test_after_a_stop_nothing_ticks_until_it_is_started_again() -> None:
    loop, watched = HandLoop(), Silent()
    sweeper = Sweeper(loop.as_loop, [0.4])
    sweeper.watched.add(watched)
    sweeper.stop()
    sweeper.start()
    sweeper.stop()
    assert not loop.due
    loop.now_s += 5.0
    sweeper.start()
    loop.fire()
    assert watched.heard_s == pytest.approx([0.1])


def test_what_is_no_longer_watched_may_leave_during_a_tick() -> None:
    class Leaving(Silent):
        def tick(self, elapsed_s: float) -> None:
            super().tick(elapsed_s)
            sweeper.watched.discard(self)

    loop, leaving, staying = HandLoop(), Leaving(), Silent()
    sweeper = Sweeper(loop.as_loop, [0.4])
    sweeper.watched |= {leaving, staying}
    sweeper.start()
    loop.fire()
    loop.fire()
    assert len(leaving.heard_s) == 1
    assert len(staying.heard_s) == 2


def test_one_that_fails_does_not_end_the_watch_over_the_others() -> None:
    loop, watched = HandLoop(), [Silent() for _ in range(8)]
    sweeper = Sweeper(loop.as_loop, [0.4])
    sweeper.watched |= {Failing(), *watched}
    sweeper.start()
    loop.fire()
    loop.fire()
    assert [len(each.heard_s) for each in watched] == [2] * 8
    assert all(isinstance(fault["exception"], ZeroDivisionError) for fault in loop.faults)
    assert loop.faults
