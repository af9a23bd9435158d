"""The line of screens, each by its number; a click goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from cacheroute.console.cells import cells
from cacheroute_tui.widgets.lines import Lines, Span, spread

if TYPE_CHECKING:
    from cacheroute_tui.screens.base import ConsoleScreen


class Tabs(Lines):
    """One line of names."""

    DEFAULT_CSS = "Tabs { height: 1; }"

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - the toolkit's name
        super().__init__(id=id)
        self._places: list[tuple[int, int]] = []

    def update_frame(self, screen: ConsoleScreen) -> None:
        """Draw it anew."""
        width = self.size.width or self.app.size.width
        left: list[Span] = []
        self._places = []
        used = 0
        for one in screen.console.screens_in_order():
            is_this = one.NAME == screen.NAME or screen.console.mode_of(screen) == one.NAME
            name = (one.TITLE or one.NAME) if width >= 110 else one.SHORT or one.NAME[:5]
            text = f" {one.NUMBER} {name} " if width >= 110 else f" {one.NUMBER}{name}"
            if is_this:
                text = text.upper()
            left.append(Span(text, "accent" if is_this else "dim"))
            used += cells(text)
            self._places.append((used, one.NUMBER))
        self.show([spread(left, [*screen.beside_tabs(), Span(" ")], width)])

    def on_click(self, event: events.Click) -> None:
        """Go to the screen under the pointer."""
        for end, number in self._places:
            if event.x < end:
                self.post_message(self.Chosen(number))
                return
