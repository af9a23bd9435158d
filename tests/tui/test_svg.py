"""A few screens in colour: the texts of all are in test_pictures."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from cacheroute_tui.app import ConsoleApp
from tests.tui.showing import NARROW, WIDE, console, settle

Compare = Callable[..., bool]


async def _looked(pilot: Pilot[int]) -> None:
    assert isinstance(pilot.app, ConsoleApp)
    for _ in range(200):
        await pilot.pause()
        if pilot.app.store.snapshot.look is not None:
            break
    await settle(pilot)


@pytest.mark.parametrize(
    ("screen", "theme", "size"),
    [
        ("overview", "dark", WIDE),
        ("instances", "dark", NARROW),
        ("instances", "light", NARROW),
        ("instances", "ansi", NARROW),
        ("instances", "mono", NARROW),
        ("instances", "cb", NARROW),
        ("instances", "high-contrast", NARROW),
    ],
)
def test_a_screen_in_colour(
    screen: str, theme: str, size: tuple[int, int], snap_compare: Compare
) -> None:
    app = console(screen=screen, theme=theme)

    assert snap_compare(app, terminal_size=size, run_before=_looked)
