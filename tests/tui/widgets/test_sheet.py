"""A sheet: text to read over the screen, scrolled by keys and closed by most others."""

import pytest
from textual.app import App

from cacheroute_tui import frame
from cacheroute_tui.widgets.lines import plain
from cacheroute_tui.widgets.reading_pane import ReadingPane
from cacheroute_tui.widgets.sheet import Sheet


class _Reading(App[None]):
    def on_mount(self) -> None:
        """Show more lines than there is room for."""
        lines = [plain(f"line [{number}]") for number in range(100)]
        self.push_screen(Sheet("what [it] means", lines))


@pytest.mark.parametrize("key", ["escape", "q", "question_mark", "enter", "e"])
async def test_it_is_closed_by(key: str) -> None:
    app = _Reading()
    async with app.run_test(size=(80, 24)) as pilot:
        assert isinstance(app.screen, Sheet)
        await pilot.press(key)
        await pilot.pause()
        assert not isinstance(app.screen, Sheet)


@pytest.mark.parametrize(
    ("keys", "at"),
    [
        ("j j", 2), ("j j k", 1), ("down up down", 1), ("space", 18), ("space k", 17), ("k", 0),
        ("pagedown pagedown", 36), ("pagedown pageup", 0), ("G", 81), ("end g", 0), ("G home", 0),
    ],
)  # fmt: skip
async def test_keys_scroll_it_and_it_stays_open(keys: str, at: int) -> None:
    app = _Reading()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys.split())
        await pilot.pause()
        assert isinstance(app.screen, Sheet)
        assert app.screen.query_one(ReadingPane).scroll_offset.y == at


async def test_title_and_lines_are_text_and_it_says_how_to_leave() -> None:
    app = _Reading()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = frame.text_of(app.screen)

    assert "what [it] means" in text
    assert "line [0]" in text
    assert "esc closes" in text
