"""Looking at a Proxy that is gone, slow, or refuses: how often it is tried, and what is kept."""

import asyncio
from collections.abc import Sequence

import pytest

from cacheroute.console.look import Look
from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.rows.traces import TraceRow
from cacheroute.console.source import SourceFault
from cacheroute_tui.feed import BACK_OFF_S
from tests.tui.fleet import StillClock, StillFleet, drawn_fleet, lost
from tests.tui.test_feed import feed_of


async def test_a_proxy_that_is_gone_is_tried_ever_less_often_and_never_given_up() -> None:
    clock, source = StillClock(), StillFleet(drawn_fleet())
    feed, seen = feed_of(source, clock)
    await feed.look()
    source.trouble = lost()
    waits = [await feed.look() for _ in range(9)]

    assert waits == [1.0, 1.0, *BACK_OFF_S, *[BACK_OFF_S[-1]] * 4]
    assert BACK_OFF_S[-1] * 1.1 < 5.0, "its return is seen in time"
    assert seen[-1].connection.phase(clock.now().mono_s) == "lost"
    assert seen[-1].look is not None, "what was seen stays"
    source.trouble = None
    await feed.look()
    assert seen[-1].connection.phase(clock.now().mono_s) == "live"


async def test_an_attempt_that_had_to_be_given_up_has_waited_already() -> None:
    clock = StillClock()

    class Swallowed(StillFleet):
        async def look(self) -> Look:
            clock.move(5.0)
            raise SourceFault("did not answer within 5 s", code="timeout")

    feed, seen = feed_of(Swallowed(drawn_fleet()), clock)
    waits = [await feed.look() for _ in range(6)]

    # Who comes back while one is on its way is seen by the next, which begins 5 s after it.
    assert waits == [0.0] * 6
    assert seen[-1].connection.retry_in_s(clock.now().mono_s) == 0.0


async def test_a_refusal_is_tried_as_seldom_as_a_loss() -> None:
    clock, source = StillClock(), StillFleet(drawn_fleet())
    feed, seen = feed_of(source, clock, interval_s=0.5)
    await feed.look()
    source.trouble = SourceFault("the token is refused", code="unauthorised")
    waits = [await feed.look() for _ in range(6)]

    assert waits == [0.5, 0.5, *BACK_OFF_S, BACK_OFF_S[-1]]
    assert seen[-1].look is not None, "what was seen stays"


async def test_a_proxy_that_goes_while_it_is_asked_is_waited_for_once_and_not_by_every_part() -> (
    None
):
    clock = StillClock()

    class Going(StillFleet):
        asked = 0

        async def gone(self) -> None:
            self.asked += 1
            clock.move(5.0)
            raise SourceFault("did not answer within 5 s", code="timeout")

        async def decisions(self, *, last: int = 100) -> Sequence[DecisionRow]:
            await self.gone()
            return await super().decisions(last=last)

        async def traces(self, *, last: int = 100) -> Sequence[TraceRow]:
            await self.gone()
            return await super().traces(last=last)

    source = Going(drawn_fleet())
    feed, seen = feed_of(source, clock)
    feed.needs = frozenset({"decisions", "traces", "topology"})
    began_s = clock.now().mono_s
    await feed.look()

    assert source.asked == 1
    assert seen[-1].connection.looked_at_s == began_s, "the pool is as old as it is"
    assert seen[-1].missing["traces"] == "did not answer within 5 s"
    assert seen[-1].missing["topology"] == "did not answer within 5 s"


@pytest.mark.parametrize("turns", range(5))
async def test_an_end_in_the_moment_in_which_somebody_wants_a_look_is_an_end(turns: int) -> None:
    feed, seen = feed_of(StillFleet(drawn_fleet()), interval_s=60.0)
    running = asyncio.ensure_future(feed.run())
    for _ in range(20):
        await asyncio.sleep(0)
    assert seen
    feed.look_now()
    for _ in range(turns):
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait({running}, timeout=20)

    assert running.cancelled()


async def test_a_proxy_slower_than_the_interval_is_looked_at_less_often_until_it_recovers() -> None:
    clock = StillClock()

    class Slow(StillFleet):
        takes_s = 2.5

        async def look(self) -> Look:
            clock.move(self.takes_s)
            return await super().look()

    source = Slow(drawn_fleet())
    feed, seen = feed_of(source, clock)
    await feed.look()
    await feed.look()
    assert seen[-1].connection.pace_s == 4.0
    assert seen[-1].connection.phase(clock.now().mono_s) == "lagging"
    source.takes_s = 0.01
    for _ in range(3):
        await feed.look()

    assert seen[-1].connection.pace_s == 1.0
    assert seen[-1].connection.phase(clock.now().mono_s) == "live"
