"""The field for a filter: handed on while it is typed, kept by enter, taken away by escape."""

import pytest
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import Input

from cacheroute_tui import frame
from cacheroute_tui.widgets.filter_line import FilterLine
from tests.tui.showing import settle


class _Page(Screen[None]):
    """Judges what is typed, as screens do."""

    def compose(self) -> ComposeResult:
        """Show the field's line."""
        app = self.app
        assert isinstance(app, _Filtering)
        yield FilterLine(problem_of=lambda _: app.refused)

    def on_filter_line_changed(self, message: FilterLine.Changed) -> None:
        """Say something."""
        app = self.app
        assert isinstance(app, _Filtering)
        message.field.tell(app.told)


class _Filtering(App[int]):
    def __init__(self) -> None:
        super().__init__()
        self.filters: list[str] = []
        self.closed = 0
        self.told = ""
        self.refused: str | None = None

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Name the colour that only the console's own themes have."""
        return {"bar": "#1e262e"}

    def get_default_screen(self) -> Screen[None]:
        """Begin with the page."""
        return _Page()

    @property
    def line(self) -> FilterLine:
        """The widget."""
        return self.screen.query_one(FilterLine)

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
        await settle(pilot)
        assert app.filters[-1] == kept
        assert app.line.query_one(Input).value == kept
        assert app.closed == 1
        assert not app.line.display


async def test_what_is_wrong_is_text() -> None:
    app = _Filtering()
    async with app.run_test(size=(60, 5)) as pilot:
        app.refused = "no column [x]"
        app.line.open("[x")
        await settle(pilot)
        assert "no column [x]" in frame.text_of(app.screen)


@pytest.mark.parametrize("key", ["enter", "down"])
async def test_what_is_refused_is_not_left_behind_until_it_is_mended(key: str) -> None:
    app = _Filtering()
    async with app.run_test(size=(80, 5)) as pilot:
        app.line.open("")
        app.refused = "/[/ is no regular expression: missing ]: [, at character 1"
        await pilot.press("slash", "left_square_bracket", "slash", key, key)
        await settle(pilot)
        text = " ".join(frame.text_of(app.screen).split())
        assert app.line.display
        assert app.closed == 0
        assert text.endswith("character 1; mend it, or esc takes it away")
        assert "missing ]: [" in text

        app.refused = None
        await pilot.press("backspace", key)
        await settle(pilot)
        assert app.filters[-1] == "/["
        assert app.closed == 1
        assert not app.line.display


async def test_keys_that_come_faster_than_they_are_judged_leave_nothing_behind_either() -> None:
    app = _Filtering()
    async with app.run_test(size=(80, 5)) as pilot:
        app.refused = "no"
        app.line.open("/[")
        await app.line.query_one(Input).action_submit()
        await settle(pilot)
        assert app.line.display
        assert app.closed == 0


async def test_escape_takes_away_what_is_refused() -> None:
    app = _Filtering()
    async with app.run_test(size=(80, 5)) as pilot:
        app.refused = "no"
        app.line.open("/[")
        await settle(pilot)
        app.refused = None
        await pilot.press("escape")
        await settle(pilot)
        assert app.filters[-1] == ""
        assert app.closed == 1
        app.line.open("x")
        await settle(pilot)
        assert "no" not in frame.text_of(app.screen)


async def test_what_is_only_told_does_not_stand_in_the_way() -> None:
    app = _Filtering()
    async with app.run_test(size=(60, 5)) as pilot:
        app.told = "only here"
        app.line.open("x")
        await settle(pilot)
        assert "only here" in frame.text_of(app.screen)
        await pilot.press("enter")
        await settle(pilot)
        assert app.closed == 1
