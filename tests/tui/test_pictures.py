"""What each screen looks like: a text file for each size, and for each odd state of a fleet."""

import pytest
from msgspec.structs import replace

from cacheroute.wire.console import Columns, ConsoleSnapshot, Identities
from cacheroute_tui.app import SCREENS
from tests.tui.conftest import Picture
from tests.tui.fleet import WALL_S, StillClock, StillFleet, big_fleet, drawn_fleet, lost
from tests.tui.showing import NARROW, NORMAL, WIDE, console, settle, shown, text_of

SIZES = (NARROW, NORMAL, WIDE)
NAMES = [one.NAME for one in SCREENS]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", NAMES)
async def test_every_screen_at_every_size(
    name: str, size: tuple[int, int], picture: Picture
) -> None:
    async with shown(console(screen=name), size) as pilot:
        text = text_of(pilot.app)  # type: ignore[arg-type]

    width, height = size
    lines = text.splitlines()
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    picture(f"{name}-{width}x{height}", text)


def few(*ids: str) -> ConsoleSnapshot:
    """Return a pool of Instances of which nothing but their names is known."""
    return ConsoleSnapshot(
        rev=1,
        generated_at=WALL_S,
        ttl_s=30,
        identities=Identities(ids=list(ids), host="10.0.0.1", port=8000),
        instances=Columns(state="alive", age_s=0.4),
    )


STATES = {
    "empty": few(),
    "one": few("inst-1"),
    "unknown": few("inst-1", "inst-2"),
    "long-ids": few(*(f"a-very-long-instance-name-in-a-data-centre-{n:03}" for n in range(4))),
    "cjk-ids": few("推論サーバー一号", "推论服务器二号", "추론서버삼호", "inst-4"),
    "bracket-ids": few("[bold]b[/bold]", "[/]", "a\x1b[31mb", "tab\there"),
    "thousand": big_fleet(1_000),
}


@pytest.mark.parametrize("state", STATES)
async def test_the_instances_of_odd_fleets(state: str, picture: Picture) -> None:
    app = console(StillFleet(STATES[state]), screen="instances")
    async with shown(app):
        picture(f"instances-{state}", text_of(app))


@pytest.mark.parametrize("size", [(60, 16), (59, 16), (80, 15), (40, 10), (20, 4), (8, 2), (1, 1)])
@pytest.mark.parametrize("name", ["overview", "instances"])
async def test_small_terminals_are_readable_and_smaller_ones_a_line(
    name: str, size: tuple[int, int], picture: Picture
) -> None:
    app = console(screen=name)
    async with shown(app, size):
        text = text_of(app)

    assert ("inst-9001" in text) is (size == (60, 16))
    assert text.startswith("●") is (size != (60, 16))
    if size[0] >= 40:
        picture(f"{name}-{size[0]}x{size[1]}", text)


async def test_an_ascii_terminal_gets_ascii(picture: Picture) -> None:
    for name in NAMES:
        app = console(screen=name, ascii=True)
        async with shown(app):
            text = text_of(app)
            assert text.isascii(), [line for line in text.splitlines() if not line.isascii()]
        if name == "instances":
            picture("instances-ascii", text)


async def test_a_lost_proxy(picture: Picture) -> None:
    clock, fleet = StillClock(), StillFleet(drawn_fleet())
    app = console(fleet, clock=clock)
    async with shown(app) as pilot:
        fleet.trouble = lost()
        for _ in range(3):
            clock.move(1.0)
            await app.feed.look()
        await settle(pilot)
        picture("instances-lost", text_of(app))


async def test_a_lagging_proxy(picture: Picture) -> None:
    clock = StillClock()
    app = console(clock=clock)
    async with shown(app) as pilot:
        clock.move(7.0)
        app._tick()
        await settle(pilot)
        picture("instances-lagging", text_of(app))


async def test_a_proxy_that_tells_less(picture: Picture) -> None:
    document = replace(
        drawn_fleet(), totals=None, knowledge=None, scheduler=None, weights={}, sources={}
    )
    fleet = StillFleet(document, missing=["decisions", "traces", "topology"])
    fleet.choices = ()
    app = console(fleet, screen="overview")
    async with shown(app):
        picture("overview-of-an-older-proxy", text_of(app))


async def test_a_resize_and_back_is_the_same_picture() -> None:
    app = console(screen="overview")
    async with shown(app) as pilot:
        before = text_of(app)
        for size in (WIDE, (30, 8), NORMAL, NARROW):
            await pilot.resize_terminal(*size)
            await settle(pilot)

        assert text_of(app) == before
