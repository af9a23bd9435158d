"""The field for a filter: handed on while it is typed, kept by enter, taken away by escape."""

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input

from cacheroute_tui import frame
from cacheroute_tui.widgets.filter_line import FilterLine


class _Filtering(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.filters: list[str] = []
        self.closed = 0

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Name the colour that only the console's own themes have."""
        return {"bar": "#1e262e"}

    def compose(self) -> ComposeResult:
        """Show the field's line."""
        yield FilterLine()

    @property
    def line(self) -> FilterLine:
        """The widget."""
        return self.query_one(FilterLine)

    def on_filter_line_changed(self, message: FilterLine.Changed) -> None:
        """Keep it."""
        self.filters.append(message.text)

    def on_filter_line_closed(self) -> None:
        """Count it."""
        self.closed += 1


async def test_every_letter_is_handed_on_and_goes_to_the_end() -> None:
    app = _Filtering()
    async with app.run_test(size=(60, 5)) as pilot:
        assert not app.line.display
        app.line.open("a")
        await pilot.press("b", "q")
        await pilot.pause()
        assert app.line.display
        assert app.filters[-2:] == ["ab", "abq"]


@pytest.mark.parametrize(("key", "kept"), [("enter", "state"), ("down", "state"), ("escape", "")])
async def test_only_escape_takes_the_filter_away(key: str, kept: str) -> None:
    app = _Filtering()
    async with app.run_test(size=(60, 5)) as pilot:
        app.line.open("state")
        await pilot.pause()
        await pilot.press(key)
        await pilot.pause()
        assert app.filters[-1] == kept
        assert app.line.query_one(Input).value == kept
        assert app.closed == 1
        assert not app.line.display


async def test_what_is_wrong_is_text() -> None:
    app = _Filtering()
    async with app.run_test(size=(60, 5)) as pilot:
        app.line.open("[x")
        app.line.tell("no column [x]")
        await pilot.pause()
        assert "no column [x]" in frame.text_of(app.screen)
