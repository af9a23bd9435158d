"""A menu: one line is chosen, or none; a line that cannot be chosen is passed over."""

import pytest
from textual.app import App

from cacheroute_tui import frame
from cacheroute_tui.widgets.menu import Choice, Menu

CHOICES = (
    Choice(id="id", text="[b]name[/b]"),
    Choice(id="cpu", text="processor", disabled=True),
    Choice(id="score", text="score\x1b"),
)


class _Choosing(App[None]):
    def __init__(self, chosen: str | None = None) -> None:
        super().__init__()
        self._chosen = chosen
        self.answers: list[str | None] = []

    def on_mount(self) -> None:
        """Ask."""
        self.push_screen(Menu("sort [by]", CHOICES, chosen=self._chosen), self.answers.append)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [("enter", "id"), ("j enter", "score"), ("j k enter", "id"), ("escape", None), ("q", None)],
)
async def test_the_line_under_the_cursor_is_handed_back(keys: str, answer: str | None) -> None:
    app = _Choosing(chosen="id")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys.split())
        await pilot.pause()

    assert app.answers == [answer]


async def test_the_cursor_begins_on_what_holds_now() -> None:
    app = _Choosing(chosen="score")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await pilot.pause()

    assert app.answers == ["score"]


async def test_a_choice_that_is_too_long_stays_one_line() -> None:
    app = App[None]()
    choices = [Choice(id=str(at), text=f"{at} {'long ' * 20}") for at in range(3)]
    async with app.run_test(size=(60, 16)) as pilot:
        app.push_screen(Menu("long ones", choices, chosen=None))
        await pilot.pause()
        lines = [line for line in frame.text_of(app.screen).splitlines() if "long long" in line]

    assert [line.split()[1] for line in lines] == ["0", "1", "2"]
    assert all("…" in line for line in lines)


async def test_title_and_lines_are_text() -> None:
    app = _Choosing()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = frame.text_of(app.screen)

    assert "sort [by]" in text
    assert "[b]name[/b]" in text
    assert "score\\x1b" in text
