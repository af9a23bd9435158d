"""A part of the screen that is read from top to bottom, scrolled by the keys of a table."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from cacheroute_tui.keymap import MOVING

_ACTIONS = {
    "row.down": "by(1)", "row.up": "by(-1)", "row.page_down": "page(1)", "row.page_up": "page(-1)",
    "row.first": "top", "row.last": "end",
}  # fmt: skip


class ReadingPane(VerticalScroll):
    """Scrolls by lines and pages."""

    # The toolkit's own know no letters, and glide: what is pressed meanwhile counts from halfway.
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key.keys, _ACTIONS[key.id], show=False, id=key.id)
            for key in MOVING
            if key.id in _ACTIONS
        ),
        Binding("space", "page(1)", show=False),
    ]

    def action_by(self, lines: int) -> None:
        """Scroll by so many lines."""
        self.scroll_relative(y=lines, animate=False, immediate=True)

    def action_page(self, pages: int) -> None:
        """Scroll by so many pages, with a line of the one before."""
        self.action_by(pages * max(1, self.scrollable_content_region.height - 1))

    def action_top(self) -> None:
        """Go to the first line."""
        self.scroll_to(y=0, animate=False, immediate=True)

    def action_end(self) -> None:
        """Go to the last line."""
        self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True)
