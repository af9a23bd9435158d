"""What a screen shows, as text, and an app over a fleet of ours: for tests of the console."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from cacheroute.console.source import Source
from cacheroute_tui import frame
from cacheroute_tui.app import ConsoleApp
from cacheroute_tui.options import Target, TuiOptions
from tests.support.waiting import eventually
from tests.tui.fleet import StillClock, StillFleet, drawn_fleet

NARROW, NORMAL, WIDE = (80, 24), (120, 36), (160, 48)


def text_of(app: ConsoleApp) -> str:
    """Return what the terminal shows, line by line, without colours."""
    return frame.text_of(app.screen)


def console(
    source: Source | None = None,
    *,
    screen: str = "instances",
    theme: str = "dark",
    write: bool = False,
    ascii: bool = False,  # noqa: A002 - the option's name
    clock: StillClock | None = None,
    targets: tuple[Target, ...] = (),
    keys: Mapping[str, str] | None = None,
) -> ConsoleApp:
    """Return an app that has not begun, over a fleet that stands still."""
    found = StillFleet(drawn_fleet()) if source is None else source
    return ConsoleApp(
        TuiOptions(
            target=Target(proxy_url="http://127.0.0.1:8002", name="local"),
            targets=targets,
            screen=screen,
            theme=theme,
            write=write,
            ascii=ascii,
            keys=keys or {},
        ),
        connect=lambda *_: found,
        clock=clock or StillClock(),
    )


@asynccontextmanager
async def shown(app: ConsoleApp, size: tuple[int, int] = NARROW) -> AsyncIterator[Pilot[int]]:
    """Run the app until it has drawn its first look, and leave it running."""
    async with app.run_test(size=size, notifications=True) as pilot:
        await eventually(lambda: app.store.snapshot.rev, within_s=60.0)
        await settle(pilot)
        yield pilot


async def settle(pilot: Pilot[int]) -> None:
    """Let everything that was sent be drawn."""
    for _ in range(2):
        await pilot.pause()
