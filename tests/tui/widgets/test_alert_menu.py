"""The list of alerts: a line is chosen by enter or x, and explained by e."""

import pytest
from textual.app import App

from cacheroute_tui import frame
from cacheroute_tui.screens.alert_panels import AlertKeys
from cacheroute_tui.widgets.alert_menu import AlertMenu
from cacheroute_tui.widgets.lines import Span
from cacheroute_tui.widgets.menu import Choice
from cacheroute_tui.widgets.sheet import Sheet

CHOICES = (Choice(id="0", text="skew [b]a[/b]"), Choice(id="1", text="gpu b"))


class _Choosing(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.answers: list[str | None] = []

    def on_mount(self) -> None:
        """Ask."""
        menu = AlertMenu(
            CHOICES,
            AlertKeys(silence="x", explain="e"),
            chosen="0",
            explained=lambda at: [[Span(f"meaning of {at}")]],
        )
        self.push_screen(menu, self.answers.append)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [("x", "0"), ("enter", "0"), ("down x", "1"), ("j x", "1"), ("escape", None)],
)
async def test_enter_or_x_takes_the_line_under_the_cursor(keys: str, answer: str | None) -> None:
    app = _Choosing()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys.split())
        await pilot.pause()

    assert app.answers == [answer]


async def test_e_explains_the_line_and_the_list_is_there_again_after_it() -> None:
    app = _Choosing()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "e")
        await pilot.pause()
        assert "meaning of 1" in frame.text_of(app.screen)
        assert isinstance(app.screen, Sheet)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, AlertMenu)
        await pilot.press("x")
        await pilot.pause()

    assert app.answers == ["1"]


async def test_names_in_it_are_text() -> None:
    app = _Choosing()
    async with app.run_test(size=(80, 24)):
        assert "skew [b]a[/b]" in frame.text_of(app.screen)
