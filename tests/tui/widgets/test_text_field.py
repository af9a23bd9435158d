"""A field above the footer: each change is told, enter keeps, escape takes away."""

from pathlib import Path

from textual.widgets import Input

from cacheroute_tui.widgets.text_field import TextField
from tests.tui.operated import Operated
from tests.tui.showing import settle, shown, text_of


async def test_it_is_there_only_while_it_is_used(tmp_path: Path) -> None:
    operated = Operated(tmp_path, screen="raw")
    async with shown(operated.app) as pilot:
        field = operated.app.screen.query_one("#search", TextField)
        assert not field.display
        await pilot.press("slash", "q", "9")
        await settle(pilot)
        assert field.display
        assert field.query_one(Input).value == "q9"
        await pilot.press("enter")
        await settle(pilot)
        assert not field.display
        await pilot.press("slash")
        assert field.query_one(Input).value == "q9"
        await pilot.press("escape")
        await settle(pilot)
        await pilot.press("slash")
        assert field.query_one(Input).value == ""


async def test_what_cannot_be_searched_for_stays_to_be_mended(tmp_path: Path) -> None:
    operated = Operated(tmp_path, screen="raw")
    async with shown(operated.app) as pilot:
        field = operated.app.screen.query_one("#search", TextField)
        await pilot.press("slash", "left_parenthesis", "enter")
        await settle(pilot)
        assert field.display
        assert "mend it, or esc takes it away" in " ".join(text_of(operated.app).split())

        await pilot.press("backspace", "enter")
        await settle(pilot)
        assert not field.display
