"""Keys of the screen of scores: searching, opening, going from pane to pane, and scrolling."""

from msgspec.structs import replace
from textual.containers import VerticalScroll
from textual.widgets import Input

from cacheroute_tui.screens.instance import InstanceDetail
from cacheroute_tui.screens.scores import Scores
from cacheroute_tui.widgets.heatmap import Heatmap
from cacheroute_tui.widgets.text_field import TextField
from cacheroute_tui.widgets.vtable import VTable
from tests.tui.fleet import WEIGHTS, StillFleet, big_fleet
from tests.tui.screens.seen import seen
from tests.tui.screens.test_scores import screen_of
from tests.tui.showing import NARROW, console, settle, shown


async def test_slash_goes_to_an_instance_while_it_is_typed_and_n_to_the_next() -> None:
    async with shown(console(StillFleet(big_fleet(40)), screen="scores")) as pilot:
        heat = screen_of(pilot.app).heat
        ids = [row.id for row in screen_of(pilot.app)._scores]
        wanted = [one for one in ids if one.endswith("7")]
        await pilot.press("slash", *"7$")
        await settle(pilot)
        assert "4 Instances" in seen(pilot)
        assert heat.spot.instance_id == wanted[0]
        await pilot.press("enter")
        await settle(pilot)
        assert pilot.app.focused is heat
        found = []
        for key in ("n", "n", "n", "n", "N"):
            await pilot.press(key)
            found.append(heat.spot.instance_id)
        assert found == [*wanted[1:], wanted[0], wanted[-1]]


async def test_what_is_no_expression_is_told_and_nobody_is_gone_to() -> None:
    async with shown(console(screen="scores")) as pilot:
        before = screen_of(pilot.app).heat.spot
        await pilot.press("slash", *"(9")
        await settle(pilot)
        assert "(" in pilot.app.screen.query_one("#search", TextField).query_one(Input).value
        assert screen_of(pilot.app).heat.spot == before
        await pilot.press("escape", "n")
        await settle(pilot)
        assert "no other Instance matches" in seen(pilot)


async def test_enter_opens_the_instance_under_the_cursor() -> None:
    async with shown(console(screen="scores")) as pilot:
        await pilot.press("right", "enter")
        await settle(pilot)
        detail = pilot.app.screen
        assert isinstance(detail, InstanceDetail)
        assert detail.instance_id == "inst-9004"
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(pilot.app.screen, Scores)


async def test_tab_goes_to_the_decisions_and_back() -> None:
    async with shown(console(screen="scores")) as pilot:
        await pilot.press("tab")
        assert isinstance(pilot.app.focused, VTable)
        await pilot.press("tab")
        assert isinstance(pilot.app.focused, Heatmap)


async def test_where_the_decisions_are_not_seen_tab_stays() -> None:
    async with shown(console(screen="scores"), (80, 18)) as pilot:
        await pilot.press("tab")
        assert isinstance(pilot.app.focused, Heatmap)


async def test_a_map_that_is_higher_than_its_room_is_scrolled_with_the_cursor() -> None:
    more = {f"signal_{number}": 1.0 for number in range(20)}
    document = replace(big_fleet(3), weights={**WEIGHTS, **more})
    async with shown(console(StillFleet(document), screen="scores"), NARROW) as pilot:
        pane = pilot.app.screen.query_one("#map", VerticalScroll)
        await pilot.press(*["down"] * 30)
        await settle(pilot)
        assert pane.scroll_offset.y == pane.max_scroll_y > 0
        assert any(line.startswith(" rank") for line in seen(pilot).split("\n"))
        await pilot.press(*["up"] * 30)
        await settle(pilot)
        assert pane.scroll_offset.y == 0


async def test_g_and_pages_go_along_the_map() -> None:
    async with shown(console(StillFleet(big_fleet(40)), screen="scores")) as pilot:
        heat = screen_of(pilot.app).heat
        ids = [row.id for row in screen_of(pilot.app)._scores]
        at, room = [], heat._room
        for key in ("G", "g", "pagedown", "pageup", "end", "home"):
            await pilot.press(key)
            at.append(ids.index(heat.spot.instance_id or ""))

    assert room > 1
    assert at == [39, 0, room, 0, 39, 0]
