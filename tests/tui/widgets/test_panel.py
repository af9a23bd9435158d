"""A panel: its heading is text, and its frame one that the terminal can show."""

from textual.app import App, ComposeResult

from cacheroute_tui import frame
from cacheroute_tui.widgets.lines import plain
from cacheroute_tui.widgets.panel import Panel


class _Boxed(App[None]):
    def __init__(self, *, is_ascii: bool = False) -> None:
        super().__init__()
        self.is_ascii = is_ascii

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Name the colour that only the console's own themes have."""
        return {"rule": "#1e262e"}

    def compose(self) -> ComposeResult:
        """Show one panel."""
        yield Panel("[red]queue[/red] ▲", classes="-framed")

    async def drawn(self) -> str:
        """Return what the terminal shows once the panel is filled."""
        async with self.run_test(size=(40, 6)) as pilot:
            self.query_one(Panel).fill("[red]queue[/red] ▲", [plain("one"), plain("two ●")])
            await pilot.pause()
            return frame.text_of(self.screen)


async def test_a_heading_is_never_markup_and_the_lines_are_below_it() -> None:
    head, first, second, *_ = (await _Boxed().drawn()).splitlines()

    assert "[red]queue[/red] ▲" in head
    assert first.strip("│ ") == "one"
    assert second.strip("│ ") == "two ●"


async def test_an_ascii_terminal_gets_a_frame_of_ascii() -> None:
    text = await _Boxed(is_ascii=True).drawn()

    assert text.isascii()
    assert "[red]queue[/red] ^" in text
