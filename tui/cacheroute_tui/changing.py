"""Changes of a Proxy from the console: asked about first, told in words and numbers, then made.

The client that sends them is built to refuse where the console only looks, so it does not
matter who forgot to check.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from cacheroute.client.control import AsyncControlClient
from cacheroute.client.faults import ControlFault, Refused
from cacheroute.client.later import later
from cacheroute.console.changes import effect_in_words
from cacheroute_tui.opening import token_now
from cacheroute_tui.options import Target

if TYPE_CHECKING:
    from cacheroute.wire import admin
else:
    admin = later("cacheroute.wire.admin")

Verb = Literal["drain", "undrain"]

_NOBODY_LEFT, _BAD_NAME = "nobody_left", "bad_name"
_OF_ONE = frozenset(("unknown_instance", "static_instance", "too_many_orders", _BAD_NAME))
"""Objections that the others of a change need not suffer from. That nobody is left is none: one
by one all but the last would go, and whoever said yes was told of more.
"""
_NAMED_IN_EFFECT = 3
"""Ids that the sentence of an effect names; a question lists more."""
_NAMED_AT_MOST = 12
TOLD_SINGLY = 5
"""Failures of one change that are told each by itself."""
_EFFECTS: Mapping[Verb, str] = {
    "drain": "what runs there will finish; new requests go elsewhere",
    "undrain": "new requests may go there again",
}
_ALREADY: Mapping[Verb, str] = {
    "drain": "drained already",
    "undrain": "not drained",
}


class ChangeTrouble(Exception):
    """It was not done; the message is a sentence for people."""


class Operator(Protocol):
    """Whoever sends changes; AsyncControlClient is one."""

    async def drain(self, body: admin.DrainBody) -> admin.ChangeReply: ...
    async def undrain(self, body: admin.ChangeBody) -> admin.ChangeReply: ...
    async def close(self) -> None: ...


OpenOperator = Callable[[Target, bool], Operator]
"""Opens an operator of a target; the second argument is whether it may change anything."""


def open_operator(target: Target, may_write: bool) -> Operator:
    """Open one over the network; raises ChangeTrouble where there is no Proxy."""
    if not target.proxy_url.startswith("http"):
        raise ChangeTrouble(f"{target.title} is no Proxy that runs, and cannot be changed")
    return AsyncControlClient(
        target.proxy_url,
        token=token_now(target),
        timeout_s=target.timeout_s,
        readonly=not may_write,
        user=_who(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spared:
    """One Instance that was left as it was, though it was meant too."""

    instance_id: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a change would do, before anybody has said yes."""

    change: Change
    """The same, without those that it cannot or need not change."""
    effect: str
    """How many requests run there and who is left, in a sentence."""
    more: tuple[str, ...]
    """What else there is to know first."""
    already: tuple[str, ...]
    """Ids that are as they shall be."""
    spared: tuple[Spared, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What came of a change."""

    told: str
    done: tuple[str, ...]
    """Ids that are as they shall be."""
    spared: tuple[Spared, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change that is thought about.

    A Proxy changes all that it is asked to, or nothing. When it does not want one of several, it
    is asked about each alone, so that one name that has gone does not stand in the way of others.
    """

    verb: Verb
    ids: tuple[str, ...]

    async def outlook(self, operator: Operator) -> Outlook:
        """Ask what it would do. Raises ChangeTrouble."""
        if len(self.ids) > admin.MAX_IDS:
            raise ChangeTrouble(
                f"one change is of {admin.MAX_IDS} Instances at most, not {len(self.ids)}"
            )
        spared: tuple[Spared, ...] = ()
        wanted = self
        try:
            reply = await _sent(self, operator, dry_run=True)
        except _Objected as objected:
            if not self._may_split(objected):
                raise
            spared = await self._unwanted(operator)
            kept = _without(self.ids, spared)
            if not kept or not spared:
                raise
            wanted = Change(verb=self.verb, ids=kept)
            reply = await _sent(wanted, operator, dry_run=True)
        is_touched = {one.instance_id: one.changed for one in reply.changes}
        touched = tuple(one for one in wanted.ids if is_touched.get(one))
        already = tuple(one for one in wanted.ids if not is_touched.get(one))
        return Outlook(
            change=Change(verb=self.verb, ids=touched),
            effect=effect_in_words(reply),
            more=tuple(_more(self.verb, touched, already, spared)),
            already=already,
            spared=spared,
        )

    async def make(self, operator: Operator) -> Made:
        """Do it. Raises ChangeTrouble when nothing was done."""
        try:
            reply = await _sent(self, operator, dry_run=False)
        except _Objected as objected:
            if not self._may_split(objected):
                raise
            return await self._made_singly(operator)
        kept = "" if reply.kept else " (it holds until the Proxy restarts)"
        return Made(told=f"done: {effect_in_words(reply)}{kept}", done=self.ids)

    async def _unwanted(self, operator: Operator) -> tuple[Spared, ...]:
        """Return those that the Proxy does not want to change, whoever else is changed."""
        found = []
        for one in self._singly():
            try:
                await _sent(one, operator, dry_run=True)
            except _Objected as objected:
                if objected.code in _OF_ONE:
                    found.append(Spared(instance_id=one.ids[0], why=str(objected)))
        return tuple(found)

    async def _made_singly(self, operator: Operator) -> Made:
        done: list[str] = []
        spared: list[Spared] = []
        for one in self._singly():
            try:
                await _sent(one, operator, dry_run=False)
            except ChangeTrouble as trouble:
                spared.append(Spared(instance_id=one.ids[0], why=str(trouble)))
                if not isinstance(trouble, _Objected):
                    # It cannot be asked at all now, and each further question would wait as long.
                    break
            else:
                done.append(one.ids[0])
        told = f"{self.verb}: {len(done)} of {len(self.ids)} done"
        return Made(told=told, done=tuple(done), spared=tuple(spared))

    def _may_split(self, objected: _Objected) -> bool:
        return len(self.ids) > 1 and objected.code in _OF_ONE

    def _singly(self) -> Iterator[Change]:
        return (Change(verb=self.verb, ids=(one,)) for one in self.ids)


class _Objected(ChangeTrouble):
    """The Proxy was asked, and does not want to."""

    def __init__(self, message: str, *, code: str | None) -> None:
        super().__init__(message)
        self.code = code


async def _sent(change: Change, operator: Operator, *, dry_run: bool) -> admin.ChangeReply:
    ids = list(change.ids)
    try:
        if change.verb == "drain":
            return await operator.drain(admin.DrainBody(instance_ids=ids, dry_run=dry_run))
        return await operator.undrain(admin.ChangeBody(instance_ids=ids, dry_run=dry_run))
    except Refused as refused:
        raise _Objected(_objection(refused, change), code=refused.code) from None
    except ControlFault as fault:
        raise ChangeTrouble(fault.message) from None
    except ValueError:  # what pydantic raises is one
        raise _Objected(f"no Proxy takes the name {ids[0]!r}", code=_BAD_NAME) from None


def _without(ids: Sequence[str], spared: Sequence[Spared]) -> tuple[str, ...]:
    left_out = {one.instance_id for one in spared}
    return tuple(one for one in ids if one not in left_out)


def _more(
    verb: Verb, touched: Sequence[str], already: Sequence[str], spared: Sequence[Spared]
) -> Iterator[str]:
    """Say what becomes of requests, who all is meant, and who is left as it is."""
    yield _EFFECTS[verb]
    if len(touched) > _NAMED_IN_EFFECT:
        yield named(touched)
    if already:
        yield f"{_ALREADY[verb]}: {named(already)}"
    for one in spared[:TOLD_SINGLY]:
        yield f"left out: {one.instance_id}: {one.why}"
    if len(spared) > TOLD_SINGLY:
        yield f"left out: {len(spared) - TOLD_SINGLY} more"


def named(ids: Sequence[str]) -> str:
    """List ids for a question, the first twelve of them."""
    more = len(ids) - _NAMED_AT_MOST
    first = ", ".join(ids[:_NAMED_AT_MOST])
    return f"{first} and {more} more" if more > 0 else first


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
    if refused.code == _NOBODY_LEFT:
        names = " ".join(change.ids) if len(change.ids) <= _NAMED_IN_EFFECT else "ID…"
        return f"{detail}; ':{change.verb} {names} --force' does it all the same"
    if refused.status == 404 and refused.code in ("not_found", None):
        return "the Proxy knows no such change: it is of another version"
    return detail or refused.message


def _who() -> str:
    try:
        return f"{getpass.getuser()}@{os.uname().nodename}"
    except (OSError, KeyError):
        return f"uid{os.getuid()}@{os.uname().nodename}"
