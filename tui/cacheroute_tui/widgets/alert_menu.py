"""The alerts as a list to choose from: silence one, count it again, or read what it means."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import OptionList

from cacheroute_tui.widgets.lines import TextLine
from cacheroute_tui.widgets.menu import Choice, Menu
from cacheroute_tui.widgets.sheet import Sheet

TITLE = "alerts · x silences, or counts again · e explains · esc closes"


class AlertMenu(Menu):
    """Hands back the line that was chosen, as its menu does; `e` explains a line over it."""

    # The toolkit keeps a screen's rules to screens of its own name.
    CSS = Menu.CSS.replace("Menu", "AlertMenu")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "choose", "Silence"),
        Binding("e", "explain", "Explain"),
    ]

    def __init__(
        self,
        choices: Sequence[Choice],
        *,
        chosen: str | None,
        explained: Callable[[str], Sequence[TextLine]],
    ) -> None:
        super().__init__(TITLE, choices, chosen=chosen)
        self._explained = explained
        self._ids = [one.id for one in choices]

    def action_choose(self) -> None:
        """Take the line under the cursor."""
        self.query_one(OptionList).action_select()

    def action_explain(self) -> None:
        """Say what the line under the cursor means."""
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.app.push_screen(Sheet("what it means", self._explained(self._ids[at])))
