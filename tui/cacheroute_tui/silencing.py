"""Alerts somebody knows of: a key stops counting one until it ends, and again counts it.

A panel of alerts has no cursor, so the key lists them; the line of the Instance under the cursor is
where the list begins.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from textual.app import App

from cacheroute.console.alert_log import Noted
from cacheroute.console.keys import KEYS as USUAL_KEYS
from cacheroute_tui.keymap import written
from cacheroute_tui.screens.alert_panels import AlertKeys, about, alert_meaning, choice_text
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
    def alert_keys(self) -> AlertKeys:
        """The keys that alerts are dealt with by, as they are written."""
        keys = {**USUAL_KEYS, **self._console.options.keys}
        return AlertKeys(silence=written(keys["silence"]), explain=written(keys["explain"]))

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
        menu = AlertMenu(choices, console.alert_keys, chosen=chosen, explained=explained)
        self.push_screen(menu, taken)

    def _turn(self, one: Noted) -> None:
        """Silence an alert or count it again, and say so."""
        store, alert = self._console.store, one.alert
        name = f"{alert.kind} {alert.about or 'of the pool'}"
        if one.state == "silenced" and store.unsilence(alert.key):
            told = f"{name} counts again"
        elif one.state == "active" and store.silence(alert.key):
            key = self._console.alert_keys.silence
            told = f"{name} is silenced until it ends; {key} again undoes it"
        else:
            told = f"{name} has ended; there is nothing to silence"
        # A name in it may hold brackets, and they are text.
        self.notify(told, markup=False, timeout=4)
        self._console.show_newest()
