"""A list to choose one line from, over the screen: columns to sort by, contexts, themes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from cacheroute.console.cells import clip, printable
from cacheroute_tui.drawing import as_ascii, to_ascii

_CELLS = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One line."""

    id: str
    """What is handed back."""
    text: str
    disabled: bool = False


class Menu(ModalScreen[str | None]):
    """Hands back the id of the line that was chosen, or None."""

    CSS = """
    Menu { align: center middle; background: $background 60%; }
    Menu > Vertical { width: 76; max-width: 96%; height: auto; max-height: 84%;
        border: round $accent; background: $surface; padding: 0 1; }
    Menu.-ascii > Vertical { border: ascii $accent; }
    Menu OptionList { height: auto; max-height: 100%; border: none; background: $surface;
        padding: 0; text-wrap: nowrap; text-overflow: ellipsis; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close"),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]

    def __init__(self, title: str, choices: Sequence[Choice], *, chosen: str | None = None) -> None:
        super().__init__()
        self._menu_title = title
        self._choices = choices
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        """Make the list."""
        with Vertical() as frame:
            frame.border_title = self._written(self._menu_title).replace("[", "\\[")
            # An option is text that may come from a file: never markup, one line, one cell high.
            yield OptionList(
                *(
                    Option(
                        Text(clip(self._written(one.text), _CELLS)),
                        id=f"c{at}",
                        disabled=one.disabled,
                    )
                    for at, one in enumerate(self._choices)
                )
            )

    def _written(self, text: str) -> str:
        return to_ascii(printable(text)) if as_ascii(self) else printable(text)

    def on_mount(self) -> None:
        """Take the focus at once, and put the cursor on what holds now."""
        # The key behind the one that opened it may be here already.
        self.set_focus(self.query_one(OptionList))
        self.set_class(as_ascii(self), "-ascii")
        ids = [one.id for one in self._choices]
        if self._chosen in ids:
            self.query_one(OptionList).highlighted = ids.index(self._chosen)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Hand the choice back."""
        self.dismiss(self._choices[event.option_index].id)

    def action_leave(self) -> None:
        """Choose nothing."""
        self.dismiss(None)

    def action_down(self) -> None:
        """Go to the next line."""
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        """Go to the line before."""
        self.query_one(OptionList).action_cursor_up()
