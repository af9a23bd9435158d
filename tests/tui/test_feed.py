"""Looking again and again: what is asked, what a failure does, and how often it is tried."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random

import msgspec
import pytest

from cacheroute.console.look import Look
from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.rows.traces import TraceRow
from cacheroute.console.source import NotTold, Source, SourceFault
from cacheroute.console.store import Snapshot, Store
from cacheroute.sources.replay import ReplaySource
from cacheroute.sources.simulated import SimulatedSource
from cacheroute_tui.feed import NOT_ASKED_YET, WATCHED_EVERY_S, Feed
from tests.cacheroute.sources.recordings import HandTime, a_recording
from tests.tui.fleet import StillClock, StillFleet, drawn_fleet, lost
from tests.tui.showing import console, settle, shown, text_of


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


async def test_a_bug_in_an_answer_is_a_failed_look_and_no_crash() -> None:
    class Broken(StillFleet):
        async def look(self) -> Look:
            raise KeyError("surprise")

    feed, seen = feed_of(Broken(drawn_fleet()))
    await feed.look()

    assert seen[0].connection.trouble == "KeyError: 'surprise'"


async def test_a_look_that_cannot_be_judged_is_a_failed_one_and_the_next_is_taken() -> None:
    whole = drawn_fleet()
    odd = msgspec.structs.replace(whole.instances, age_s=["soon"] * len(whole.ids))
    fleet = StillFleet(msgspec.structs.replace(whole, instances=odd))
    feed, seen = feed_of(fleet)
    await feed.look()
    assert seen[-1].look is None
    assert "TypeError: " in (seen[-1].connection.trouble or "")

    fleet.document = whole
    await feed.look()
    assert seen[-1].look is not None
    assert seen[-1].connection.failures == 0


async def test_a_page_that_no_screen_asks_for_any_more_is_not_kept() -> None:
    feed, _ = feed_of(StillFleet(drawn_fleet()))
    for number in range(3):
        feed.asks = {f"instance {number}": lambda source: source.instance("inst-9001")}
        await feed.look()

    assert [name for name in feed._kept if "instance" in name] == ["more.instance 2"]


class Reached(StillFleet):
    """Counts how often it is asked for a page."""

    pages_asked = 0

    async def raw(self, path: str) -> bytes:
        assert path == "/healthz"
        self.pages_asked += 1
        return await super().raw(path)


async def test_while_held_no_look_is_taken_and_the_missed_are_counted() -> None:
    source = StillFleet(drawn_fleet())
    feed, seen = feed_of(source)
    await feed.look()
    feed.is_held = True
    for _ in range(3):
        await feed.look()

    assert source.looks == 1
    assert feed.missed == 3
    assert len(seen) == 1


async def test_while_held_it_is_seldom_asked_whether_the_proxy_is_there() -> None:
    clock, source = StillClock(), Reached(drawn_fleet())
    feed, seen = feed_of(source, clock)
    feed.is_held = True
    for _ in range(11):
        assert await feed.look() == 1.0
        clock.move(1.0)

    assert source.pages_asked == 3
    assert not seen


async def test_while_held_a_loss_is_told_with_its_back_off_and_so_is_the_return() -> None:
    clock, source = StillClock(), Reached(drawn_fleet())
    feed, seen = feed_of(source, clock)
    await feed.look()
    feed.is_held = True
    source.trouble = lost()
    told_at_s: list[float] = []
    for _ in range(20):
        before = len(seen)
        await feed.look()
        told_at_s += [clock.passed_s] * (len(seen) - before)
        clock.move(1.0)

    assert told_at_s == [0.0, 1.0, 2.0, 3.0, 5.0, 9.0, 13.0, 17.0]
    assert seen[-1].connection.phase(clock.now().mono_s) == "lost"
    assert seen[-1].look is not None, "what was seen stays"
    source.trouble = None
    feed.forget()
    await feed.look()
    assert seen[-1].connection.failures == 0
    assert seen[-1].connection.trouble is None
    assert source.looks == 1


async def test_while_held_a_proxy_that_refuses_is_there() -> None:
    source = StillFleet(drawn_fleet())
    feed, seen = feed_of(source)
    feed.is_held = True
    source.trouble = SourceFault("404", code="refused")
    await feed.look()

    assert not seen


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


class Telling(StillFleet):
    """Counts who asks for requests."""

    asked = 0

    async def traces(self, *, last: int = 100) -> Sequence[TraceRow]:
        self.asked += 1
        return await super().traces(last=last)


async def test_what_alerts_are_told_from_is_asked_for_whatever_screen_is_visible() -> None:
    clock, source = StillClock(), Telling(drawn_fleet())
    feed, seen = feed_of(source, clock)
    for _ in range(4):
        await feed.look()
        clock.move(1.0)
    assert source.asked == 1
    clock.move(WATCHED_EVERY_S)
    await feed.look()
    assert source.asked == 2
    assert "traces" not in seen[-1].missing

    feed.needs = frozenset({"traces"})
    for _ in range(2):
        await feed.look()
    assert source.asked == 4


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    a_recording(tmp_path / "a.rec", looks=4, instances=5)
    return tmp_path / "a.rec"


@pytest.mark.parametrize("kind", ["demo", "replay"])
async def test_a_simulation_and_a_recording_tell_alerts_the_same_way(
    kind: str, recorded: Path
) -> None:
    time = HandTime()
    source: Source = SimulatedSource(instances=5, now=time)
    if kind == "replay":
        source = ReplaySource(recorded, mono_s=time.mono_s)
    seen: list[Snapshot] = []
    feed = Feed(
        source, Store(source.name, interval_s=1.0), StillClock(), ready=seen.append, interval_s=1.0
    )
    await feed.look()
    await source.close()

    assert seen[0].look is not None
    assert seen[0].look.first_tokens
    assert seen[0].look.noted
    assert all(one.alert.since is not None for one in seen[0].look.noted)


async def test_what_no_screen_has_wanted_is_told_as_that_and_not_as_nothing() -> None:
    clock, fleet = StillClock(), StillFleet(drawn_fleet())
    app = console(fleet, screen="raw", clock=clock)
    async with shown(app) as pilot:
        assert app.shown.missing["decisions"] == NOT_ASKED_YET
        fleet.trouble = lost()
        for _ in range(3):
            clock.move(1.0)
            await app.feed.look()
        await pilot.press("5")
        await settle(pilot)
        text = text_of(app)

    assert NOT_ASKED_YET in text
    assert "no request has come yet" not in text
