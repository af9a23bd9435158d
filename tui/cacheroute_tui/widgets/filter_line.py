"""The field for a filter: it filters while it is typed, and says what it does not understand.

What is not understood is not left behind either: enter stays until it is mended or taken away.
"""

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

_MEND = "; mend it, or esc takes it away"


class FilterLine(Horizontal):
    """One line above the footer; there only while it is used."""

    DEFAULT_CSS = """
    FilterLine { height: auto; max-height: 3; display: none; background: $bar; }
    FilterLine #filter-sign { width: 2; color: $accent; }
    FilterLine Input { width: 1fr; height: 1; border: none; padding: 0; background: $bar; }
    FilterLine #filter-told { width: auto; height: auto; max-width: 60%; color: $error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave(True)", show=False),
        Binding("down", "leave(False)", show=False),
    ]

    @dataclass
    class Changed(Message):
        """The filter is another one."""

        text: str

    class Closed(Message):
        """The field is no longer used."""

    _refused: str | None = None

    def compose(self) -> ComposeResult:
        """Make the field."""
        yield Static("/", id="filter-sign", markup=False)
        yield Input(id="filter-field", compact=True, select_on_focus=False)
        yield Static("", id="filter-told", markup=False)

    def open(self, text: str) -> None:
        """Show it with a filter and give it the focus."""
        self.display = True
        self.tell("")
        field = self.query_one(Input)
        field.value = text
        field.cursor_position = len(text)
        # At once: the next key may be here already.
        self.screen.set_focus(field)

    def tell(self, text: str) -> None:
        """Say something about what was typed, or nothing; it can be kept."""
        self._refused = None
        self.query_one("#filter-told", Static).update(text)

    def refuse(self, why: str) -> None:
        """Say what is wrong with what was typed; it cannot be kept."""
        self._refused = why
        self.query_one("#filter-told", Static).update(why)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Hand the filter on."""
        event.stop()
        self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter and go back to the rows."""
        event.stop()
        self.action_leave(False)

    def action_leave(self, clears: bool) -> None:
        """Close the field; escape takes the filter away, enter keeps it if it is understood."""
        if clears:
            self.query_one(Input).value = ""
            self.post_message(self.Changed(""))
            self._close()
        else:
            # Keys may come faster than the screen reads; what it has not judged yet comes first.
            self.call_later(self.screen.call_later, self.call_later, self._keep)

    def _keep(self) -> None:
        if self._refused is None:
            self._close()
        else:
            self.refuse(f"{self._refused.removesuffix(_MEND)}{_MEND}")

    def _close(self) -> None:
        self.display = False
        self.post_message(self.Closed())
