"""What is said once: a Proxy that is back, one that has started anew, and nothing of another."""

from pathlib import Path

from msgspec import structs
from textual.pilot import Pilot

from cacheroute_tui.options import Target
from tests.tui.fleet import StillClock, StillFleet, drawn_fleet, lost
from tests.tui.operated import Operated
from tests.tui.showing import settle, shown


async def looked(operated: Operated, pilot: Pilot[int], *, times: int = 1) -> None:
    for _ in range(times):
        await operated.app.feed.look()
    await settle(pilot)


async def test_a_proxy_that_has_started_anew_is_told_of_once(tmp_path: Path) -> None:
    fleet = StillFleet(drawn_fleet())
    operated = Operated(tmp_path, fleet)
    async with shown(operated.app) as pilot:
        fleet.document = structs.replace(drawn_fleet(), run="two")
        await looked(operated, pilot, times=2)

        assert operated.said == ["local has started anew: its counters began at 0"]


async def test_a_proxy_that_was_lost_and_is_another_run_is_told_of_in_one_sentence(
    tmp_path: Path,
) -> None:
    fleet = StillFleet(drawn_fleet())
    operated = Operated(tmp_path, fleet)
    clock = operated.app.clock
    assert isinstance(clock, StillClock)
    async with shown(operated.app) as pilot:
        fleet.trouble = lost()
        await looked(operated, pilot, times=3)
        clock.move(13.0)
        fleet.trouble, fleet.document = None, structs.replace(drawn_fleet(), run="two")
        await looked(operated, pilot)

        assert operated.said == [
            "local is back after 13s, and has started anew: its counters began at 0"
        ]


async def test_another_proxy_is_not_back_from_what_the_one_before_has_lost(tmp_path: Path) -> None:
    fleet = StillFleet(drawn_fleet())
    operated = Operated(tmp_path, fleet)
    async with shown(operated.app) as pilot:
        fleet.trouble = lost()
        await looked(operated, pilot, times=3)
        fleet.trouble, fleet.document = None, structs.replace(drawn_fleet(), run="two")
        await operated.app.look_at(Target(proxy_url="http://127.0.0.1:9", name="lab"))
        await looked(operated, pilot)

        assert operated.said == []
