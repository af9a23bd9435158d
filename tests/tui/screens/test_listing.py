"""Filter, order, all or alive, faults and width: the keys of every screen of rows."""

from collections.abc import Awaitable, Callable, Mapping

import pytest
from msgspec import structs
from textual.pilot import Pilot
from textual.widgets import Input, Static

from cacheroute_tui.app import ConsoleApp
from cacheroute_tui.keymap import LISTING
from cacheroute_tui.options import Target
from cacheroute_tui.screens.instance import InstanceDetail
from cacheroute_tui.screens.listing import ListScreen
from cacheroute_tui.widgets.menu import Menu
from cacheroute_tui.widgets.vtable import VTable
from tests.tui.fleet import StillFleet, drawn_fleet
from tests.tui.operated import at
from tests.tui.showing import NARROW, console, settle, shown, text_of

Check = Callable[[ConsoleApp, Pilot[int]], Awaitable[None]]


def screen_of(app: ConsoleApp) -> ListScreen[object]:
    assert isinstance(app.front, ListScreen)
    return app.front


def ids(app: ConsoleApp) -> list[str]:
    screen = screen_of(app)
    return [screen.id_of(row) for row in screen.table.rows]


def order(app: ConsoleApp) -> tuple[str, bool] | None:
    orders = screen_of(app).table.orders
    return (orders[0].column.key, orders[0].descending) if orders else None


async def pressed(pilot: Pilot[int], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)


async def filter_(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "slash", *"9004", "enter")
    assert ids(app) == ["inst-9004"]
    assert "/9004" in text_of(app)
    await pressed(pilot, "slash", "escape")
    assert len(ids(app)) == 8


async def sort(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "s")
    assert isinstance(app.screen, Menu)
    await pressed(pilot, "down", "enter")
    assert order(app) is not None
    screen_of(app).take_order(())


async def sort_right(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "greater_than_sign")
    first = order(app)
    await pressed(pilot, "greater_than_sign")
    assert first is not None
    assert order(app) != first
    await pressed(pilot, "less_than_sign")
    assert order(app) == first
    screen_of(app).take_order(())


async def reverse(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "r")
    once = order(app)
    await pressed(pilot, "r")
    assert once is not None
    assert order(app) == (once[0], not once[1])
    screen_of(app).take_order(())


async def all_(app: ConsoleApp, pilot: Pilot[int]) -> None:
    every = ids(app)
    await pressed(pilot, "a")
    assert "inst-9010" not in ids(app)
    assert "alive" in text_of(app).splitlines()[1]
    await pressed(pilot, "a")
    assert ids(app) == every


async def faults(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "f")
    assert "inst-9010" in ids(app)
    assert "inst-9001" not in ids(app)
    await pressed(pilot, "f")
    assert "inst-9001" in ids(app)


async def wide(app: ConsoleApp, pilot: Pilot[int]) -> None:
    screen = screen_of(app)
    usual = [column.key for column in screen.columns()]
    await pressed(pilot, "w")
    assert screen.is_wide
    assert [column.key for column in screen.columns()] != usual
    await pressed(pilot, "w")
    assert not screen.is_wide


async def mark(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "space", "down", "space")
    assert screen_of(app).selected_ids() == tuple(ids(app)[:2])
    assert "+2 marked" in text_of(app).splitlines()[1]
    await pressed(pilot, "space")
    assert screen_of(app).selected_ids() == (ids(app)[0],)
    await pressed(pilot, "escape")
    assert "marked" not in text_of(app)
    assert screen_of(app).selected_ids() == (ids(app)[1],), "what is under the cursor"


CHECKS: Mapping[str, Check] = {
    "filter": filter_,
    "sort": sort,
    "sort.left": sort_right,
    "sort.right": sort_right,
    "sort.reverse": reverse,
    "all": all_,
    "faults": faults,
    "wide": wide,
    "mark": mark,
}


def test_every_key_of_rows_has_a_check() -> None:
    assert {key.id for key in LISTING} == set(CHECKS)


@pytest.mark.parametrize("name", ["overview", "instances"])
async def test_every_key_of_rows_does_its_action(name: str) -> None:
    async with shown(console(screen=name)) as pilot:
        app = pilot.app
        assert isinstance(app, ConsoleApp)
        for check in dict.fromkeys(CHECKS.values()):
            await check(app, pilot)


async def test_a_filter_that_cannot_be_read_says_so_and_the_one_before_holds() -> None:
    app = console(screen="instances")
    async with shown(app, (120, 36)) as pilot:
        await pressed(pilot, "slash", *"inst:1")

        assert "have no column 'inst'" in text_of(app)
        assert len(ids(app)) == 8


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("/[/", "/[/ is no regular expression: missing ]: ["),
        ("id~[", "id~ is no test; id:/…/ matches a pattern"),
        ("id:/(/", "/(/ is no regular expression"),
        ("/open", "the regular expression has no closing /"),
    ],
)
async def test_a_broken_filter_is_told_while_it_is_typed_and_on_enter(text: str, why: str) -> None:
    app = console(screen="instances")
    async with shown(app, NARROW) as pilot:
        screen_of(app).take_filter("gpu>80")
        before = ids(app)
        await pressed(pilot, "slash")
        screen_of(app).query_one(Input).value = text
        await settle(pilot)
        assert why in told(app)
        assert ids(app) == before

        await pressed(pilot, "enter")
        assert "mend it, or esc takes it away" in told(app)
        assert isinstance(app.focused, Input)
        assert ids(app) == before
        assert "/gpu>80" in text_of(app), "what is in force is said beside the tabs"

        await pressed(pilot, *["backspace"] * len(text), *"9004", "enter")
        assert ids(app) == ["inst-9004"]
        assert isinstance(app.focused, VTable)


def told(app: ConsoleApp) -> str:
    return str(screen_of(app).query_one("#filter .field-told", Static).visual)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("state:stale,dead", ["inst-9003", "inst-9010"]),
        ("gpu>80", ["inst-9008", "inst-9007"]),
        ("!gpu>10", ["inst-9003", "inst-9010"]),
        ("/9[0-9]+4/", ["inst-9004"]),
        ("~i9007", ["inst-9007"]),
        ("tag:demo inst-9001", ["inst-9001"]),
    ],
)
async def test_the_filters_of_commands_work_here(text: str, found: list[str]) -> None:
    app = console(screen="instances")
    async with shown(app):
        screen_of(app).take_filter(text)

        assert sorted(ids(app)) == sorted(found)


async def test_an_order_from_the_menu_holds_over_looks() -> None:
    app = console(screen="instances")
    async with shown(app, NARROW) as pilot:
        await pressed(pilot, "s", *["down"] * 4, "enter")
        assert order(app) == ("inflight", False)
        await app.feed.look()
        await settle(pilot)

        assert "sort infl▲" in text_of(app)
        found = [row.inflight for row in screen_of(app).table.rows]  # type: ignore[attr-defined]
        assert found == sorted(found)


# -- marks -----------------------------------------------------------------------------------


async def test_marks_hold_over_orders_filters_and_looks() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        for one in ("inst-9001", "inst-9007"):
            await at(pilot, one)
            await pressed(pilot, "space")
        await pressed(pilot, "r")
        await app.feed.look()
        await settle(pilot)
        assert set(screen_of(app).selected_ids()) == {"inst-9001", "inst-9007"}

        screen_of(app).take_filter("9007")
        await settle(pilot)
        assert screen_of(app).selected_ids() == ("inst-9007", "inst-9001")
        assert "+2 marked, 1 hidden" in text_of(app).splitlines()[1]


async def test_who_leaves_the_fleet_is_no_longer_marked() -> None:
    fleet = StillFleet(drawn_fleet())
    app = console(fleet, screen="instances")
    async with shown(app) as pilot:
        for one in ("inst-9001", "inst-9007"):
            await at(pilot, one)
            await pressed(pilot, "space")
        assert fleet.document.identities is not None
        ids_now = [one.replace("inst-9007", "inst-new") for one in fleet.document.ids]
        identities = structs.replace(fleet.document.identities, ids=ids_now)
        fleet.document = structs.replace(fleet.document, identities=identities)
        await app.feed.look()
        await settle(pilot)

        assert screen_of(app).selected_ids() == ("inst-9001",)
        assert "+1 marked" in text_of(app)


async def test_escape_comes_back_first_and_takes_marks_away_next() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        await pressed(pilot, "space", "enter")
        assert isinstance(app.front, InstanceDetail)
        assert len(app.front.selected_ids()) == 1
        await pressed(pilot, "escape")
        assert "+1 marked" in text_of(app)
        await pressed(pilot, "slash", "space", "escape")
        assert "+1 marked" in text_of(app), "the field's own escape, and its own blank"
        await pressed(pilot, "escape")
        assert "marked" not in text_of(app)


async def test_a_mark_does_not_go_along_to_another_proxy() -> None:
    other = Target(proxy_url="http://127.0.0.1:8012", name="other")
    app = console(screen="instances", targets=(other,))
    async with shown(app) as pilot:
        await pressed(pilot, "space")
        await pressed(pilot, "3")
        await app.look_at(other)
        await settle(pilot)
        await pressed(pilot, "2")

        assert len(ids(app)) == 8
        assert screen_of(app).table.mark_counts == (0, 0)


@pytest.mark.parametrize("screen", ["overview", "resources", "queues"])
async def test_marks_are_of_one_screen(screen: str) -> None:
    app = console(screen=screen)
    async with shown(app) as pilot:
        await pressed(pilot, "space")
        assert "+1 marked" in text_of(app)
        await pressed(pilot, "2")
        assert "marked" not in text_of(app)


async def test_a_marked_row_is_told_by_its_sign_in_an_ascii_terminal_too() -> None:
    app = console(screen="instances", ascii=True, theme="mono")
    async with shown(app) as pilot:
        await at(pilot, "inst-9004")
        await pressed(pilot, "space", "down")
        line = next(line for line in text_of(app).splitlines() if "inst-9004 alive" in line)

        assert line.startswith(" +* inst-9004")
        assert line.isascii()


async def test_the_menu_says_what_the_usual_order_of_a_screen_is() -> None:
    for name, said in (("queues", "The longest wait on top."), ("traces", "The newest on top.")):
        app = console(screen=name)
        async with shown(app) as pilot:
            await pilot.press("s")
            await settle(pilot)
            assert said in text_of(app)
