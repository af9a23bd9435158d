"""The line of screens: all of them by number, this one in capitals, and a click goes there."""

import pytest

from cacheroute_tui.app import SCREENS
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.widgets.tabs import Tabs
from tests.tui.showing import NARROW, NORMAL, console, settle, shown


@pytest.mark.parametrize("size", [NARROW, NORMAL])
async def test_every_screen_has_its_number_and_this_one_is_in_capitals(
    size: tuple[int, int],
) -> None:
    app = console(screen="instances")
    async with shown(app, size):
        text = app.screen.query_one(Tabs).text

    assert all(str(screen.NUMBER) in text for screen in SCREENS if screen.NUMBER)
    assert "INST" in text
    assert "OV" not in text


@pytest.mark.parametrize("size", [NARROW, NORMAL])
async def test_a_click_goes_to_the_screen_under_the_pointer(size: tuple[int, int]) -> None:
    app = console(screen="instances")
    async with shown(app, size) as pilot:
        at = app.screen.query_one(Tabs).text.index("3")
        await pilot.click(Tabs, offset=(at, 0))
        await settle(pilot)
        assert isinstance(app.screen, ConsoleScreen)
        assert app.screen.NAME == "resources"
