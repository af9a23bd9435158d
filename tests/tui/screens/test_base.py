"""The base of the screens: their shapes, their keys, and when they draw."""

import pytest

from cacheroute.console.store import Snapshot
from cacheroute_tui.app import SCREENS, ConsoleApp
from cacheroute_tui.keymap import COMMON, Key
from cacheroute_tui.options import Target, TuiOptions
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.screens.instance import InstanceDetail
from cacheroute_tui.widgets.header import Header
from tests.tui.fleet import StillClock, StillFleet, drawn_fleet, lost
from tests.tui.screens.requests import request
from tests.tui.showing import WIDE, console, settle, shown, text_of


class Counted(ConsoleScreen):
    """Counts how often it is drawn."""

    NAME, TITLE = "counted", "Counted"
    KEYS = (Key(id="counted.own", keys="p", label="Own", action="own", doc="Its own p."),)

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[int] = []

    def draw(self, snapshot: Snapshot) -> None:
        """Note the snapshot."""
        self.drawn.append(snapshot.rev)


def test_a_key_of_a_screen_outranks_the_common_one() -> None:
    assert any("p" in key.keys.split(",") for key in COMMON)

    [only] = [key for key in Counted.every_key() if "p" in key.keys.split(",")]

    assert only.id == "counted.own"


@pytest.mark.parametrize(
    ("size", "shape"),
    [
        ((59, 24), "line"), ((80, 15), "line"), ((60, 16), "narrow"), ((99, 24), "narrow"),
        ((100, 24), "normal"), ((139, 30), "normal"), ((140, 30), "wide"),
    ],
)  # fmt: skip
async def test_the_shape_is_by_the_size_of_the_terminal(size: tuple[int, int], shape: str) -> None:
    app = console()
    async with shown(app, size):
        assert app.front is not None
        assert app.front.shape == shape
        assert app.front.is_tall is (size[1] >= 30)


async def test_a_snapshot_is_drawn_once_and_again_only_when_asked() -> None:
    app = console()
    screen = Counted()
    async with shown(app) as pilot:
        app.push_screen(screen)
        await settle(pilot)
        before = len(screen.drawn)
        assert len(set(screen.drawn)) == before >= 1
        screen.refresh_data()
        assert len(screen.drawn) == before
        screen.redraw()
        assert len(screen.drawn) == before + 1


async def test_a_screen_that_is_covered_is_not_drawn() -> None:
    app = console()
    screen = Counted()
    async with shown(app) as pilot:
        app.push_screen(screen)
        await settle(pilot)
        app.push_screen(InstanceDetail("inst-9001"))
        await settle(pilot)
        before = len(screen.drawn)
        screen.redraw()

        assert len(screen.drawn) == before


async def test_the_frame_is_drawn_by_the_second_unless_a_look_has_just_done_so() -> None:
    clock = StillClock()
    app = console(clock=clock)
    async with shown(app) as pilot:
        await settle(pilot)
        screen = app.front
        assert screen is not None
        screen.refresh_frame()
        header = screen.query_one(Header)
        before = header.text
        clock.move(0.5)
        screen.tick_frame()
        assert header.text == before
        clock.move(0.5)
        screen.tick_frame()
        assert header.text != before


_AGES = {
    "instances": "7m",
    "resources": "7m",
    "topology": "heard 7m",
    "instance": "heard of 7m",
}


@pytest.mark.parametrize("name", _AGES)
async def test_ages_go_on_while_the_proxy_is_lost(name: str) -> None:
    clock, fleet = StillClock(), StillFleet(drawn_fleet())
    app = console(fleet, clock=clock, screen="instances" if name == "instance" else name)
    async with shown(app, WIDE) as pilot:
        if name == "instance":
            app.push_screen(InstanceDetail("inst-9001"))
            await settle(pilot)
        fleet.trouble = lost()
        for _ in range(3):
            await app.feed.look()
        clock.move(425.0)
        assert _AGES[name] not in text_of(app)
        app._tick()
        await settle(pilot)
        assert _AGES[name] in text_of(app)


_TOLD = {"raw": '"path"', "traces": "r-1"}
"""What a screen shows of a Proxy that is no name of an Instance."""
_OF_PROXIES = [one.NAME for one in SCREENS if one.NAME != "processes"]


@pytest.mark.parametrize("name", [*_OF_PROXIES, "instance"])
async def test_nothing_of_the_proxy_before_stays_on_a_screen(name: str) -> None:
    before, gone = StillFleet(drawn_fleet()), StillFleet(drawn_fleet())
    before.requests, gone.trouble = [request(1, "r-1")], lost()
    sources = {"http://a": before, "http://b": gone}
    targets = Target(proxy_url="http://a", name="a"), Target(proxy_url="http://b", name="b")
    screen = "instances" if name == "instance" else name
    app = ConsoleApp(
        TuiOptions(target=targets[0], targets=targets, screen=screen),
        connect=lambda target, _: sources[target.proxy_url],
        clock=StillClock(),
    )
    async with shown(app, WIDE) as pilot:
        if name == "instance":
            app.push_screen(InstanceDetail("inst-9001"))
        await settle(pilot)
        assert _TOLD.get(name, "9001") in text_of(app)
        await app.look_at(targets[1])
        await settle(pilot)
        text = text_of(app)

    told = text.replace("inst-9001", "", 1) if name == "instance" else text
    assert "▸ b" in text
    assert "900" not in told
    assert _TOLD.get(name, "9001") not in told
    assert "least_load" not in told
