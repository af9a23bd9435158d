"""The line behind the colon: there while it is used, and it takes every letter."""

from pathlib import Path

import pytest

from cacheroute_tui.app import SCREENS
from cacheroute_tui.widgets.command_line import MAX_LINE_CHARS, CommandLine
from tests.tui.operated import Operated
from tests.tui.showing import settle, shown


@pytest.mark.parametrize("name", [screen.NAME for screen in SCREENS])
async def test_every_screen_has_it(name: str, tmp_path: Path) -> None:
    operated = Operated(tmp_path, screen=name)
    async with shown(operated.app) as pilot:
        line = operated.app.screen.query_one(CommandLine)
        assert not line.display
        await pilot.press("colon", "x", "y")
        await settle(pilot)
        assert line.display
        assert line.field.value == "xy"
        await pilot.press("escape")
        await settle(pilot)
        assert not line.display
        assert operated.app.screen.focused is not line.field


async def test_an_endless_line_is_cut(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        line = operated.app.screen.query_one(CommandLine)
        line.open("x" * MAX_LINE_CHARS)
        await pilot.press("y")
        assert len(line.field.value) == MAX_LINE_CHARS
