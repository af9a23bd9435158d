"""Alerts somebody knows of: `x` stops counting one until it ends, and `x` again counts it.

A panel of alerts has no cursor, so `x` lists them; the line of the Instance under the cursor is
where the list begins.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from textual.app import App

from cacheroute.console.alert_log import Noted
from cacheroute_tui.screens.alert_panels import about, alert_meaning, choice_text
from cacheroute_tui.widgets.alert_menu import AlertMenu
from cacheroute_tui.widgets.lines import TextLine
from cacheroute_tui.widgets.menu import Choice

if TYPE_CHECKING:
    from cacheroute_tui.app import ConsoleApp

_MOST_LISTED = 200
"""Lines of the list; in a pool with more to say, nobody reads on."""


class Silencing(App[int]):
    """What the app does with alerts."""

    @property
    def _console(self) -> "ConsoleApp":
        return cast("ConsoleApp", self)

    @property
    def _listed(self) -> Sequence[Noted]:
        look = self._console.shown.look
        return () if look is None else look.noted[:_MOST_LISTED]

    def action_silence(self) -> None:
        """Choose an alert to silence, or to count again."""
        console = self._console
        if console.front is None or console.screen is not console.front:
            return
        noted = self._listed
        if not noted:
            self.notify("no alert is active, and none was", timeout=3)
            return
        keys = {str(at): one for at, one in enumerate(noted)}
        under = about(noted, console.front.selected_id())
        chosen = next((at for at, one in keys.items() if one.alert.key == under), "0")

        def explained(at: str) -> Sequence[TextLine]:
            return alert_meaning(keys[at], console.target.rules)

        def taken(at: str | None) -> None:
            if at is not None:
                self._turn(keys[at])

        choices = [Choice(id=at, text=choice_text(one)) for at, one in keys.items()]
        self.push_screen(AlertMenu(choices, chosen=chosen, explained=explained), taken)

    def _turn(self, one: Noted) -> None:
        """Silence an alert or count it again, and say so."""
        store, alert = self._console.store, one.alert
        name = f"{alert.kind} {alert.instance_id or 'of the pool'}"
        if one.state == "silenced" and store.unsilence(alert.key):
            told = f"{name} counts again"
        elif one.state == "active" and store.silence(alert.key):
            told = f"{name} is silenced until it ends; x again undoes it"
        else:
            told = f"{name} has ended; there is nothing to silence"
        # A name in it may hold brackets, and they are text.
        self.notify(told, markup=False, timeout=4)
        self._console.show_newest()
