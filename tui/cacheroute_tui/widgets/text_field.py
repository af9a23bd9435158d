"""One line above the footer to type into; there only while it is used."""

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static


class TextField(Horizontal):
    """A field behind a sign; tells each change, and when it is closed."""

    DEFAULT_CSS = """
    TextField { height: 1; display: none; background: $bar; }
    TextField .field-sign { width: 2; color: $accent; }
    TextField Input { width: 1fr; height: 1; border: none; padding: 0; background: $bar; }
    TextField .field-told { width: auto; max-width: 60%; color: $error; }
    """
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("escape", "leave(True)", show=False),
        Binding("enter", "leave(False)", show=False, priority=True),
    ]

    @dataclass
    class Changed(Message):
        """Another text."""

        field: "TextField"
        text: str

    @dataclass
    class Closed(Message):
        """The field is no longer used; `is_kept` tells enter from escape."""

        field: "TextField"
        text: str
        is_kept: bool

    def __init__(self, sign: str, *, id: str) -> None:  # noqa: A002 - the toolkit's name
        super().__init__(id=id)
        self._sign = sign

    def compose(self) -> ComposeResult:
        """Make the field."""
        yield Static(self._sign, classes="field-sign", markup=False)
        yield Input(compact=True, select_on_focus=False)
        yield Static("", classes="field-told", markup=False)

    def open(self, text: str = "") -> None:
        """Show it with a text and give it the focus."""
        self.display = True
        field = self.query_one(Input)
        field.value = text
        field.cursor_position = len(text)
        # At once: the next key may be here already.
        self.screen.set_focus(field)

    def tell(self, text: str) -> None:
        """Say what is wrong, or nothing."""
        self.query_one(".field-told", Static).update(text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Hand the text on."""
        event.stop()
        self.post_message(self.Changed(self, event.value))

    def action_leave(self, clears: bool) -> None:
        """Close the field; escape takes the text away."""
        field = self.query_one(Input)
        if clears:
            field.value = ""
            self.tell("")
        self.display = False
        self.post_message(self.Closed(self, field.value, not clears))
