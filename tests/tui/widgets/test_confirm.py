"""A question before a change: a letter for one thing, a word for many; else it is no."""

import pytest
from textual.app import App
from textual.widgets import Input

from cacheroute_tui import frame
from cacheroute_tui.widgets.confirm import Confirm


class _Asking(App[None]):
    def __init__(self, typed: str | None = None) -> None:
        super().__init__()
        self._typed = typed
        self.answers: list[bool | None] = []

    def on_mount(self) -> None:
        """Ask."""
        asked = Confirm(
            "drain at [lab]", "drain [b]一[/b]: 2 requests run there", typed=self._typed
        )
        self.push_screen(asked, self.answers.append)


@pytest.mark.parametrize(
    ("keys", "answers"),
    [("y", [True]), ("n", [False]), ("q", [False]), ("escape", [False]), ("enter", []), ("d", [])],
)
async def test_only_a_yes_is_a_yes(keys: str, answers: list[bool]) -> None:
    app = _Asking()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(keys)
        await pilot.pause()
        assert app.answers == answers


async def test_the_effect_is_text() -> None:
    app = _Asking()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = frame.text_of(app.screen)

    assert "drain at [lab]" in text
    assert "drain [b]一[/b]: 2 requests run there" in text


async def test_a_word_takes_typing_and_no_letter_is_enough() -> None:
    app = _Asking(typed="12")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y", "enter")
        assert app.answers == []
        app.screen.query_one(Input).value = ""
        await pilot.press("1", "2", "enter")
        await pilot.pause()
        assert app.answers == [True]


async def test_escape_leaves_the_word_untyped() -> None:
    app = _Asking(typed="12")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("1", "2", "escape")
        await pilot.pause()
        assert app.answers == [False]
