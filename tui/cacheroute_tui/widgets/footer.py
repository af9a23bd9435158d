"""The last line: the keys that matter here, as many as have room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cacheroute.console.cells import cells
from cacheroute_tui.keymap import in_footer
from cacheroute_tui.widgets.lines import Lines, Span

if TYPE_CHECKING:
    from cacheroute_tui.screens.base import ConsoleScreen


class Footer(Lines):
    """One line at the bottom."""

    DEFAULT_CSS = "Footer { height: 1; dock: bottom; background: $bar; }"

    def update_frame(self, screen: ConsoleScreen) -> None:
        """Draw it anew."""
        width = self.size.width or self.app.size.width
        keys = in_footer(screen.every_key(), may_write=screen.console.may_write)
        spans: list[Span] = []
        used = 1
        for key in keys:
            shown = screen.console.shown_key(key)
            needs = cells(shown) + cells(key.label) + 3
            if used + needs > width:
                break
            spans += [Span(" "), Span(shown, "accent"), Span(f" {key.label} ")]
            used += needs
        self.show([spans])
