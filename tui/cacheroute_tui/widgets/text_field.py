"""One line above the footer to type into; there only while it is used."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from cacheroute.console.patterns import search_pattern

_MEND = "; mend it, or esc takes it away"

ProblemOf = Callable[[str], str | None]
"""Says what is wrong with a text; None where it can be used."""


def pattern_problem(text: str) -> str | None:
    """Say what is wrong with an expression to search for."""
    try:
        search_pattern(text)
    except ValueError as problem:
        return str(problem)
    return None


def _no_problem(text: str) -> None:  # noqa: ARG001 - any text will do
    return None


class TextField(Horizontal):
    """A field behind a sign; tells each change to a text that can be used, and when it is closed.

    Enter stays in the field as long as the text cannot be used; escape takes the text away.
    """

    DEFAULT_CSS = """
    TextField { height: auto; max-height: 3; display: none; background: $bar; }
    TextField .field-sign { width: 2; color: $accent; }
    TextField Input { width: 1fr; height: 1; border: none; padding: 0; background: $bar; }
    TextField .field-told { width: auto; height: auto; max-width: 60%; color: $error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear", show=False),
        # Before the field has them: what it sends on enter would come behind the next key.
        Binding("enter,down", "keep", show=False, priority=True),
    ]

    @dataclass
    class Changed(Message):
        """Another text."""

        field: "TextField"
        text: str

    @dataclass
    class Closed(Message):
        """The field is no longer used."""

        field: "TextField"

    def __init__(
        self,
        sign: str,
        *,
        id: str | None = None,  # noqa: A002 - the toolkit's name
        problem_of: ProblemOf = _no_problem,
        placeholder: str = "",
    ) -> None:
        super().__init__(id=id)
        self._sign = sign
        self._problem_of = problem_of
        self._placeholder = placeholder

    def compose(self) -> ComposeResult:
        """Make the field."""
        yield Static(self._sign, classes="field-sign", markup=False)
        yield Input(compact=True, select_on_focus=False, placeholder=self._placeholder)
        yield Static("", classes="field-told", markup=False)

    @property
    def input(self) -> Input:
        """Where it is typed."""
        return self.query_one(Input)

    def open(self, text: str = "") -> None:
        """Show it with a text and give it the focus."""
        self.display = True
        self.tell("")
        self.input.value = text
        self.input.cursor_position = len(text)
        # At once: the next key may be here already.
        self.screen.set_focus(self.input)

    def tell(self, text: str) -> None:
        """Say something about the text, or nothing."""
        self.query_one(".field-told", Static).update(text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Hand on a text that can be used, or say what is wrong with it."""
        event.stop()
        problem = self._problem_of(event.value)
        self.tell(problem or "")
        if problem is None:
            self.post_message(self.Changed(self, event.value))

    def action_keep(self) -> None:
        """Close the field, if its text can be used."""
        problem = self._problem_of(self.input.value)
        if problem is None:
            self._close()
        else:
            self.tell(problem + _MEND)

    def action_clear(self) -> None:
        """Take the text away and close the field."""
        self.input.value = ""
        self._close()

    def _close(self) -> None:
        self.display = False
        self.post_message(self.Closed(self))
