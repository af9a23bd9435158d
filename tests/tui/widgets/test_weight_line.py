"""The field of weights: told as it is typed, and every letter is its own."""

from textual.app import App, ComposeResult
from textual.widgets import Input

from cacheroute_tui.widgets.weight_line import WeightLine


class Field(App[None]):
    """One field, and what it told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []
        self.closed = 0

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"bar": "#000000"}

    def compose(self) -> ComposeResult:
        yield WeightLine(problem_of=lambda _: None)

    def on_weight_line_changed(self, message: WeightLine.Changed) -> None:
        self.told.append(message.text)

    def on_weight_line_closed(self) -> None:
        self.closed += 1


async def test_what_is_typed_is_told_letter_by_letter() -> None:
    app = Field()
    async with app.run_test() as pilot:
        app.query_one(WeightLine).open("inflight=")
        await pilot.press("0", "full_stop", "5")
        await pilot.press("enter")
        await pilot.pause()

    assert app.told[-1] == "inflight=0.5"
    assert app.closed == 1


async def test_escape_takes_it_all_away() -> None:
    app = Field()
    async with app.run_test() as pilot:
        line = app.query_one(WeightLine)
        line.open("inflight=2")
        await pilot.press("escape")
        await pilot.pause()

        assert line.query_one(Input).value == ""
        assert not line.display
    assert app.told[-1] == ""
