"""Looking again and again: what is asked, what a failure does, and how often it is tried."""

import asyncio
from collections.abc import Sequence
from random import Random

import pytest

from cacheroute.console.look import Look
from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.source import NotTold, SourceFault
from cacheroute.console.store import Snapshot, Store
from cacheroute_tui.feed import BACK_OFF_S, Feed
from tests.tui.fleet import StillClock, StillFleet, drawn_fleet, lost


class Even(Random):
    """Chance that never happens."""

    def uniform(self, a: float, b: float) -> float:
        return 0.0 * (a + b)


def feed_of(
    source: StillFleet, clock: StillClock | None = None, *, interval_s: float = 1.0
) -> tuple[Feed, list[Snapshot]]:
    seen: list[Snapshot] = []
    store = Store(source.name, interval_s=interval_s)
    feed = Feed(
        source,
        store,
        clock or StillClock(),
        ready=seen.append,
        interval_s=interval_s,
        chance=Even(),
    )
    return feed, seen


async def test_a_look_is_handed_on_and_the_next_is_due_an_interval_later() -> None:
    feed, seen = feed_of(StillFleet(drawn_fleet()))

    assert await feed.look() == 1.0
    assert len(seen) == 1
    assert seen[0].look is not None


async def test_only_what_the_screen_needs_is_asked() -> None:
    feed, seen = feed_of(StillFleet(drawn_fleet()))
    await feed.look()
    feed.needs = frozenset({"decisions"})
    await feed.look()

    assert seen[0].look is not None
    assert not seen[0].look.decisions
    assert seen[1].look is not None
    assert len(seen[1].look.decisions) == 5


class Silent(StillFleet):
    """Has no decisions, and counts who asks."""

    asked = 0

    async def decisions(self, *, last: int = 100) -> Sequence[DecisionRow]:
        self.asked += 1
        raise NotTold("decisions", "this Proxy has no /debug/decisions")


async def test_what_a_proxy_does_not_have_is_said_and_asked_once_a_minute() -> None:
    clock, source = StillClock(), Silent(drawn_fleet())
    feed, seen = feed_of(source, clock)
    feed.needs = frozenset({"decisions"})
    for _ in range(3):
        await feed.look()
        clock.move(1.0)
    asked_first = source.asked
    clock.move(60.0)
    await feed.look()

    assert seen[-1].missing["decisions"] == "this Proxy has no /debug/decisions"
    assert seen[-1].look is not None
    assert (asked_first, source.asked) == (1, 2)


async def test_a_topology_is_asked_for_every_five_seconds() -> None:
    clock, source = StillClock(), StillFleet(drawn_fleet())
    feed, _ = feed_of(source, clock)
    feed.needs = frozenset({"topology"})
    asked = 0

    async def count(*_: object) -> Sequence[object]:
        nonlocal asked
        asked += 1
        return ()

    source.topology = count  # type: ignore[method-assign, assignment]
    for _ in range(11):
        await feed.look()
        clock.move(1.0)

    assert asked == 3


async def test_a_screens_own_question_comes_by_its_name() -> None:
    feed, seen = feed_of(StillFleet(drawn_fleet()))
    feed.asks = {"page": lambda source: source.raw("/x")}
    await feed.look()

    assert seen[0].look is not None
    assert seen[0].look.beside.more["page"] == b'{"ok": true, "path": "/x"}'


async def test_a_proxy_that_is_gone_is_tried_ever_less_often_and_never_given_up() -> None:
    clock, source = StillClock(), StillFleet(drawn_fleet())
    feed, seen = feed_of(source, clock)
    await feed.look()
    source.trouble = lost()
    waits = [await feed.look() for _ in range(9)]

    assert waits == [1.0, 1.0, *BACK_OFF_S, 15.0, 15.0]
    assert seen[-1].connection.phase(clock.now().mono_s) == "lost"
    assert seen[-1].look is not None, "what was seen stays"
    source.trouble = None
    await feed.look()
    assert seen[-1].connection.phase(clock.now().mono_s) == "live"


async def test_a_bug_in_an_answer_is_a_failed_look_and_no_crash() -> None:
    class Broken(StillFleet):
        async def look(self) -> Look:
            raise KeyError("surprise")

    feed, seen = feed_of(Broken(drawn_fleet()))
    await feed.look()

    assert seen[0].connection.trouble == "KeyError: 'surprise'"


async def test_while_held_nothing_is_asked_and_the_missed_are_counted() -> None:
    source = StillFleet(drawn_fleet())
    feed, seen = feed_of(source)
    await feed.look()
    feed.is_held = True
    for _ in range(3):
        await feed.look()

    assert source.looks == 1
    assert feed.missed == 3
    assert len(seen) == 1


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


async def test_there_are_never_two_looks_at_once() -> None:
    at_once = most = 0

    class Counting(StillFleet):
        async def look(self) -> Look:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0)
            at_once -= 1
            return await super().look()

    source = Counting(drawn_fleet())
    feed, _ = feed_of(source, interval_s=0.5)
    running = asyncio.ensure_future(feed.run())
    while source.looks < 5:
        feed.look_now()
        await asyncio.sleep(0)
    running.cancel()

    assert most == 1


@pytest.mark.parametrize("interval_s", [0.5, 10.0])
async def test_another_interval_holds_from_the_next_look_on(interval_s: float) -> None:
    feed, seen = feed_of(StillFleet(drawn_fleet()))
    feed.set_interval(interval_s)

    assert await feed.look() == interval_s
    assert seen[-1].connection.interval_s == interval_s


def test_a_fault_says_what_happened() -> None:
    assert isinstance(lost(), SourceFault)
