"""How the console changes a Proxy: asked about first, confirmed by a person, made, told.

What is marked is changed with one question; what could not be changed is told name by name, and
stays marked.
"""

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

from textual.app import App

from cacheroute_tui.changing import (
    TOLD_SINGLY,
    Change,
    ChangeTrouble,
    Made,
    OpenOperator,
    Operator,
    Spared,
    Verb,
    named,
    open_operator,
    word_to_type,
)
from cacheroute_tui.options import Target
from cacheroute_tui.widgets.confirm import Confirm

if TYPE_CHECKING:
    from cacheroute_tui.app import ConsoleApp
    from cacheroute_tui.screens.base import ConsoleScreen

_SHOWN = {"demo": "a simulated fleet", "replay": "a recording"}


class Changing(App[int]):
    """Actions of the app that change a Proxy."""

    @cached_property
    def open_operator(self) -> OpenOperator:
        """Who sends changes to a Proxy."""
        return open_operator

    @property
    def _me(self) -> "ConsoleApp":
        return cast("ConsoleApp", self)

    def action_drain(self) -> None:
        """Ask whether the selected Instances shall take no new requests."""
        if not self.refuses("drain"):
            self._change_selected("drain")

    def action_undrain(self) -> None:
        """Ask whether the selected Instances shall take requests again."""
        if not self.refuses("undrain"):
            self._change_selected("undrain")

    def refuses(self, what: str) -> bool:
        """Whether this console only looks; then it says so, and how to get one that may change."""
        me = self._me
        if me.may_write:
            return False
        if me.source.kind != "live":
            why = f"{_SHOWN[me.source.kind]} cannot be changed"
        elif me.options.write:
            why = f"read-only: the context {me.target.title} allows no {what}"
        else:
            why = f"read-only: start the console with --write to {what}"
        self._say(why, is_bad=True)
        return True

    def _change_selected(self, verb: Verb) -> None:
        screen, look = self._me.front, self._me.shown.look
        if screen is None or look is None:
            ids: tuple[str, ...] = ()
        else:
            ids = tuple(one for one in screen.selected_ids() if one in look.row_of)
        if screen is None or not ids:
            self._say("no Instance is selected", is_bad=True)
        else:
            change = Change(verb=verb, ids=ids)
            self.run_worker(self._changed(change, screen), group="change")

    async def _changed(self, change: Change, screen: "ConsoleScreen") -> None:
        """Ask the Proxy what a change would do, ask the operator, and make it."""
        # Another Proxy may be looked at before this one has answered.
        target = self._me.target
        try:
            operator = self.open_operator(target, self._me.may_write)
        except ChangeTrouble as trouble:
            self._say(str(trouble), is_bad=True)
            return
        try:
            await self._changed_by(operator, change, screen, target)
        except ChangeTrouble as trouble:
            self._say(str(trouble), is_bad=True)
        finally:
            await operator.close()
        self._me.feed.look_now()

    async def _changed_by(
        self, operator: Operator, change: Change, screen: "ConsoleScreen", target: Target
    ) -> None:
        outlook = await change.outlook(operator)
        verb, ids = change.verb, outlook.change.ids
        if not ids:
            self._say(f"{verb} {named(change.ids)}: nothing changes")
        elif await self._confirmed(verb, outlook.effect, ids, outlook.more, target=target):
            made = await outlook.change.make(operator)
            screen.changed((*made.done, *outlook.already))
            self._tell_change(verb, (*outlook.spared, *made.spared), made)
        else:
            self._say("nothing was changed")

    def _tell_change(self, verb: Verb, spared: Sequence[Spared], made: Made) -> None:
        self._say(made.told, is_bad=not made.done)
        for one in spared[:TOLD_SINGLY]:
            self._say(f"{verb} {one.instance_id}: {one.why}", is_bad=True)
        if len(spared) > TOLD_SINGLY:
            self._say(f"and {len(spared) - TOLD_SINGLY} more were not changed", is_bad=True)

    async def _confirmed(
        self,
        verb: str,
        effect: str,
        ids: Sequence[str],
        more: Sequence[str] = (),
        *,
        target: Target,
    ) -> bool:
        many = f" {len(ids)} Instances" if len(ids) > 1 else ""
        asked = Confirm(
            f"{verb}{many} at {target.title}",
            effect,
            more=(*more, f"at {target.proxy_url}"),
            typed=word_to_type(ids, target),
        )
        answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.push_screen(asked, lambda yes: answered.set_result(bool(yes)))
        return await answered

    def _say(self, text: str, *, is_bad: bool = False) -> None:
        # A name in it may hold brackets, and they are text.
        self.notify(text, severity="warning" if is_bad else "information", markup=False)
