"""The banner: nothing while all is well, and else what is wrong and when it is tried again."""

import pytest

from cacheroute.console.source import SourceFault
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.widgets.banner import Banner, banner_text
from tests.tui.fleet import StillClock, StillFleet, drawn_fleet, lost
from tests.tui.showing import NARROW, NORMAL, console, settle, shown, text_of


async def test_while_all_is_well_there_is_none() -> None:
    app = console()
    async with shown(app):
        assert isinstance(app.screen, ConsoleScreen)
        assert banner_text(app.screen) is None
        assert not app.screen.query_one(Banner).display


async def test_paused_it_counts_and_says_how_to_go_on() -> None:
    app = console()
    async with shown(app) as pilot:
        await pilot.press("p")
        await settle(pilot)
        banner = app.screen.query_one(Banner)
        assert banner.display
        assert banner.text.strip() == "paused 0.0s, 0 looks missed; p goes on"


@pytest.mark.parametrize(("size", "has_address"), [(NARROW, False), (NORMAL, True)])
async def test_a_lost_proxy_is_told_of_and_its_address_where_there_is_room(
    size: tuple[int, int], has_address: bool
) -> None:
    fleet = StillFleet(drawn_fleet())
    app = console(fleet)
    async with shown(app, size) as pilot:
        fleet.trouble = lost()
        for _ in range(3):
            await pilot.press("full_stop")
            await settle(pilot)
        text = app.screen.query_one(Banner).text

    assert text.startswith(" ✕ LOST")
    assert "tries now" in text
    assert ("http://" in text) is has_address


async def test_what_does_not_fit_goes_on_below_and_when_it_is_tried_again_stays() -> None:
    fleet = StillFleet(drawn_fleet())
    app = console(fleet)
    async with shown(app) as pilot:
        fleet.trouble = SourceFault(
            "http://127.0.0.1:8002/v1/x answered 302: it is at http://sso.example/login; is it the "
            "control plane of a Proxy? " + "And so on. " * 40,
            code="refused",
        )
        for _ in range(3):
            await pilot.press("full_stop")
            await settle(pilot)
        lines = app.screen.query_one(Banner).text.splitlines()
        text = text_of(app)

    assert lines[0].startswith(" ✕ LOST 0.0s · again in 1 s, . tries now · answered 302: it is at")
    assert len(lines) == 3
    assert lines[1].startswith(" http://sso.example/login; is it"), "it alone is in the header"
    assert lines[2].rstrip().endswith("…")
    assert "inst-9001" in text


async def test_while_an_attempt_is_on_its_way_it_says_so() -> None:
    clock, fleet = StillClock(), StillFleet(drawn_fleet())
    app = console(fleet, clock=clock)
    async with shown(app) as pilot:
        fleet.trouble = lost()
        for _ in range(3):
            await pilot.press("full_stop")
            await settle(pilot)
        clock.move(30.0)
        app._tick()
        await settle(pilot)
        text = app.screen.query_one(Banner).text

    assert text.rstrip() == " ✕ LOST 30s · cannot reach (connection refused) · asking again"


async def test_paused_it_tells_of_a_loss_and_that_it_is_paused() -> None:
    fleet = StillFleet(drawn_fleet())
    app = console(fleet)
    async with shown(app) as pilot:
        await pilot.press("p")
        fleet.trouble = lost()
        for _ in range(3):
            await pilot.press("full_stop")
            await settle(pilot)
        text = app.screen.query_one(Banner).text

    told = " ✕ LOST 0.0s · paused 0.0s, p goes on · again in 1 s, . tries now"
    assert text.rstrip() == told
