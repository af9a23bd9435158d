"""The alerts as a list to choose from: silence one, count it again, or read what it means."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import OptionList

from cacheroute.console.keys import KEYS as USUAL_KEYS
from cacheroute_tui.screens.alert_panels import AlertKeys
from cacheroute_tui.widgets.lines import TextLine
from cacheroute_tui.widgets.menu import Choice, Menu
from cacheroute_tui.widgets.sheet import Sheet


class AlertMenu(Menu):
    """Hands back the line that was chosen, as its menu does, or explains a line over it."""

    # The toolkit keeps a screen's rules to screens of its own name.
    CSS = Menu.CSS.replace("Menu", "AlertMenu")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(USUAL_KEYS["silence"], "choose", "Silence", id="silence"),
        Binding(USUAL_KEYS["explain"], "explain", "Explain", id="explain"),
    ]

    def __init__(
        self,
        choices: Sequence[Choice],
        keys: AlertKeys,
        *,
        chosen: str | None,
        explained: Callable[[str], Sequence[TextLine]],
    ) -> None:
        does = f"{keys.silence} silences, or counts again · {keys.explain} explains"
        super().__init__(f"alerts · {does} · esc closes", choices, chosen=chosen)
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
