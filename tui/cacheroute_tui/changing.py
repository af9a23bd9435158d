"""Changes of a Proxy from the console: asked about first, told in words and numbers, then made.

The client that sends them is built to refuse where the console only looks, so it does not
matter who forgot to check.
"""

import getpass
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from cacheroute.client.control import AsyncControlClient
from cacheroute.client.faults import ControlFault, Refused
from cacheroute.console.changes import effect_in_words
from cacheroute.wire.admin import ChangeBody, ChangeReply, DrainBody
from cacheroute_tui.options import Target

Verb = Literal["drain", "undrain"]


class ChangeTrouble(Exception):
    """It was not done; the message is a sentence for people."""


class Operator(Protocol):
    """Whoever sends changes; AsyncControlClient is one."""

    async def drain(self, body: DrainBody) -> ChangeReply: ...
    async def undrain(self, body: ChangeBody) -> ChangeReply: ...
    async def close(self) -> None: ...


OpenOperator = Callable[[Target, bool], Operator]
"""Opens an operator of a target; the second argument is whether it may change anything."""


def open_operator(target: Target, may_write: bool) -> Operator:
    """Open one over the network; raises ChangeTrouble where there is no Proxy."""
    if not target.proxy_url.startswith("http"):
        raise ChangeTrouble(f"{target.title} is no Proxy that runs, and cannot be changed")
    return AsyncControlClient(
        target.proxy_url,
        token=target.token,
        timeout_s=target.timeout_s,
        readonly=not may_write,
        user=_who(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change that is thought about."""

    verb: Verb
    ids: tuple[str, ...]

    async def effect(self, operator: Operator) -> str | None:
        """Ask what it would do; None when it changes nothing. Raises ChangeTrouble."""
        reply = await self._sent(operator, dry_run=True)
        if not any(change.changed for change in reply.changes):
            return None
        return effect_in_words(reply)

    async def make(self, operator: Operator) -> str:
        """Do it; returns what came of it. Raises ChangeTrouble."""
        reply = await self._sent(operator, dry_run=False)
        kept = "" if reply.kept else " (it holds until the Proxy restarts)"
        return effect_in_words(reply) + kept

    async def _sent(self, operator: Operator, *, dry_run: bool) -> ChangeReply:
        try:
            if self.verb == "drain":
                return await operator.drain(DrainBody(instance_ids=list(self.ids), dry_run=dry_run))
            return await operator.undrain(ChangeBody(instance_ids=list(self.ids), dry_run=dry_run))
        except Refused as refused:
            raise ChangeTrouble(_objection(refused, self)) from None
        except ControlFault as fault:
            raise ChangeTrouble(fault.message) from None


def word_to_type(ids: Sequence[str], target: Target) -> str | None:
    """Return what must be typed before a change: of a labelled context its label, of several
    Instances their number; None where a letter is enough.
    """
    if target.label:
        return target.label
    return str(len(ids)) if len(ids) > 1 else None


def _objection(refused: Refused, change: Change) -> str:
    detail = refused.body.partition(": ")[2] or refused.body
    detail = detail[:1].lower() + detail[1:].rstrip(".")
    if refused.code == "nobody_left":
        return f"{detail}; ':{change.verb} {' '.join(change.ids)} --force' does it all the same"
    if refused.status == 404 and refused.code in ("not_found", None):
        return "the Proxy knows no such change: it is of another version"
    return detail or refused.message


def _who() -> str:
    try:
        return f"{getpass.getuser()}@{os.uname().nodename}"
    except (OSError, KeyError):
        return f"uid{os.getuid()}@{os.uname().nodename}"
