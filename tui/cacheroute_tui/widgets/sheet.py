"""Text over the screen, to be read and closed: the help, and what a word means."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from cacheroute.console.cells import printable
from cacheroute_tui.widgets.lines import Lines, TextLine
from cacheroute_tui.widgets.reading_pane import ReadingPane


class Sheet(ModalScreen[None]):
    """Lines in a frame, to be scrolled as a table is."""

    CSS = """
    Sheet { align: center middle; background: $background 60%; }
    Sheet > Vertical { width: 78; max-width: 98%; height: auto; max-height: 90%;
        border: round $accent; background: $surface; padding: 0 1; }
    Sheet ReadingPane { height: auto; max-height: 100%; scrollbar-size-vertical: 1;
        background: $surface; }
    Sheet Lines { background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter,e", "leave", "Close"),
    ]
    AUTO_FOCUS = "ReadingPane"

    def __init__(self, title: str, lines: Sequence[TextLine]) -> None:
        super().__init__()
        self._sheet_title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        """Make the frame."""
        with Vertical() as frame:
            frame.border_title = printable(self._sheet_title).replace("[", "\\[")
            frame.border_subtitle = "j k PgUp PgDn g G scroll · esc closes"
            with ReadingPane(can_focus=True):
                yield Lines(self._lines)

    def action_leave(self) -> None:
        """Close it."""
        self.dismiss(None)
