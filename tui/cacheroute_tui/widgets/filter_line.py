"""The field for a filter: it filters while it is typed, and says what it does not understand."""

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static


class FilterLine(Horizontal):
    """One line above the footer; there only while it is used."""

    DEFAULT_CSS = """
    FilterLine { height: 1; display: none; background: $bar; }
    FilterLine #filter-sign { width: 2; color: $accent; }
    FilterLine Input { width: 1fr; height: 1; border: none; padding: 0; background: $bar; }
    FilterLine #filter-told { width: auto; max-width: 60%; color: $error; }
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

    def compose(self) -> ComposeResult:
        """Make the field."""
        yield Static("/", id="filter-sign", markup=False)
        yield Input(id="filter-field", compact=True, select_on_focus=False)
        yield Static("", id="filter-told", markup=False)

    def open(self, text: str) -> None:
        """Show it with a filter and give it the focus."""
        self.display = True
        field = self.query_one(Input)
        field.value = text
        field.cursor_position = len(text)
        field.focus()

    def tell(self, text: str) -> None:
        """Say what is wrong, or nothing."""
        self.query_one("#filter-told", Static).update(text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Hand the filter on."""
        event.stop()
        self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter and go back to the rows."""
        event.stop()
        self.action_leave(False)

    def action_leave(self, clears: bool) -> None:
        """Close the field; escape takes the filter away."""
        if clears:
            self.query_one(Input).value = ""
            self.post_message(self.Changed(""))
        self.display = False
        self.post_message(self.Closed())
