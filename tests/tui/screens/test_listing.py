"""Filter, order, all or alive, faults and width: the keys of every screen of rows."""

from collections.abc import Awaitable, Callable, Mapping

import pytest
from textual.pilot import Pilot

from cacheroute_tui.app import ConsoleApp
from cacheroute_tui.keymap import LISTING
from cacheroute_tui.screens.listing import ListScreen
from cacheroute_tui.widgets.menu import Menu
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


CHECKS: Mapping[str, Check] = {
    "filter": filter_,
    "sort": sort,
    "sort.left": sort_right,
    "sort.right": sort_right,
    "sort.reverse": reverse,
    "all": all_,
    "faults": faults,
    "wide": wide,
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
