"""Something to read: every key of a table scrolls it."""

import pytest
from textual.app import App, ComposeResult

from cacheroute_tui.widgets.lines import Lines, plain
from cacheroute_tui.widgets.reading_pane import ReadingPane

LINES, HEIGHT = 100, 20
END = LINES - HEIGHT


class _Reading(App[None]):
    AUTO_FOCUS = "ReadingPane"

    def compose(self) -> ComposeResult:
        """Make more lines than there is room for."""
        with ReadingPane(can_focus=True):
            yield Lines([plain(f"line {number}") for number in range(LINES)])


@pytest.mark.parametrize(
    ("keys", "at"),
    [
        ("j down j", 3), ("j j k", 1), ("j j up", 1), ("k", 0), ("pagedown", HEIGHT - 1),
        ("space pagedown pageup", HEIGHT - 1), ("G", END), ("end", END), ("G g", 0),
        ("end home", 0), ("G j", END), ("G k", END - 1), ("G pageup", END - HEIGHT + 1),
    ],
)  # fmt: skip
async def test_keys_scroll_it(keys: str, at: int) -> None:
    app = _Reading()
    async with app.run_test(size=(40, HEIGHT)) as pilot:
        await pilot.press(*keys.split())
        await pilot.pause()

        assert app.query_one(ReadingPane).scroll_offset.y == at


async def test_a_remapped_key_scrolls_it_too() -> None:
    app = _Reading()
    app.set_keymap({"row.down": "n"})
    async with app.run_test(size=(40, HEIGHT)) as pilot:
        await pilot.press("n", "n", "j")
        await pilot.pause()

        assert app.query_one(ReadingPane).scroll_offset.y == 2
