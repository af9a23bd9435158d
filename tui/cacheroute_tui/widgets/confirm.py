"""A question before something is changed: the effect in words and numbers, and no as the answer
that needs no thought. More than one thing at once takes a typed word, which no reflex gives.
"""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from cacheroute.console.cells import printable


class Confirm(ModalScreen[bool]):
    """Hands back whether to go on."""

    # As what the toolkit calls default it would be outranked, and hide what the question is about.
    CSS = """
    Confirm { align: center middle; background: $background 60%; }
    Confirm > Vertical { width: 72; max-width: 96%; height: auto; max-height: 90%;
        border: round $warning; background: $surface; padding: 0 1; }
    Confirm Static { height: auto; }
    Confirm .confirm-keys { color: $accent; margin-top: 1; }
    Confirm Input { height: 1; border: none; padding: 0; background: $panel; }
    """
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("escape", "answer(False)", "No", priority=True),
        Binding("y", "yes", "Yes"),
        Binding("n,q", "answer(False)", "No"),
    ]

    def __init__(
        self, title: str, effect: str, *, more: Sequence[str] = (), typed: str | None = None
    ) -> None:
        """`typed` is the word that must be typed; None takes a `y`."""
        super().__init__()
        self._confirm_title = title
        self._effect = effect
        self._more = more
        self._typed = typed

    def compose(self) -> ComposeResult:
        """Make the question."""
        with Vertical() as frame:
            frame.border_title = printable(self._confirm_title).replace("[", "\\[")
            yield Static(printable(self._effect), markup=False, classes="confirm-effect")
            for line in self._more:
                yield Static(printable(line), markup=False, classes="confirm-more")
            if self._typed is None:
                yield Static("y goes on · n or esc changes nothing", markup=False,
                             classes="confirm-keys")  # fmt: skip
            else:
                yield Static(
                    f"type {printable(self._typed)} and press enter to go on · esc changes nothing",
                    markup=False, classes="confirm-keys",
                )  # fmt: skip
                yield Input(compact=True)

    @property
    def text(self) -> str:
        """What is asked."""
        return "\n".join([self._effect, *self._more])

    def on_mount(self) -> None:
        """Give the field the focus, where there is one."""
        if self._typed is not None:
            self.set_focus(self.query_one(Input))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go on if the word is the one."""
        event.stop()
        if event.value.strip() == self._typed:
            self.dismiss(True)
        else:
            self.query_one(".confirm-keys", Static).update(
                f"that is not {printable(self._typed or '')}; esc changes nothing"
            )

    def action_yes(self) -> None:
        """Go on, where a letter is enough."""
        if self._typed is None:
            self.dismiss(True)

    def action_answer(self, is_yes: bool) -> None:
        """Answer."""
        self.dismiss(is_yes)
