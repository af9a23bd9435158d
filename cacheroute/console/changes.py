"""What an operator changes, in words and numbers: before it is done, and after.

A sentence that says how many requests run there and who is left is what a person confirms; the
rows and the document say the same to everybody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cacheroute.console.cells import UNKNOWN
from cacheroute.console.columns import Column, Kind

if TYPE_CHECKING:
    from cacheroute.wire.admin import ChangeReply, ChangeRow, ConditionRow

_NAMED_AT_MOST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRow:
    """One Instance of a change."""

    id: str
    changed: bool
    before: dict[str, object]
    after: dict[str, object]
    inflight: int
    """Requests on it, those that wait for it included."""
    waiting: int
    """How many of them have not been sent to it yet."""
    was: str
    """`before` and `after` in a few words."""
    now: str


def rows_of(reply: ChangeReply) -> list[ChangedRow]:
    """Return a row for each Instance."""
    return [
        ChangedRow(
            id=change.instance_id,
            changed=change.changed,
            before=change.before.model_dump(),
            after=change.after.model_dump(),
            inflight=change.inflight,
            waiting=change.waiting,
            was=_words(change.before, change.inflight),
            now=_words(change.after, change.inflight),
        )
        for change in reply.changes
    ]


CHANGES: Kind[ChangedRow] = Kind(
    name="change",
    noun="changes",
    columns=(
        Column(
            key="id",
            header="ID",
            text=lambda row: row.id,
            gives_way=True,
            doc="Name of the Instance.",
        ),
        Column(
            key="was",
            header="WAS",
            text=lambda row: row.was,
            doc="How it was used before.",
        ),
        Column(
            key="now",
            header="IS",
            text=lambda row: row.now if row.changed else f"{row.now} (no change)",
            value=lambda row: row.now,
            doc="How it is used now; behind `drain` stands how many requests it still has.",
        ),
        Column(
            key="inflight",
            header="INFL",
            text=lambda row: str(row.inflight),
            right=True,
            doc="Requests on it, those that wait for it included.",
            source="counted by the Proxy",
        ),
        Column(
            key="waiting",
            header="WAIT",
            text=lambda row: str(row.waiting),
            right=True,
            doc="How many of them have not been sent to it yet.",
            source="counted by the Proxy",
        ),
    ),
    name_of=lambda row: row.id,
    searched=lambda row: row.id,
)


def document_of(
    reply: ChangeReply, *, proxy_url: str, waited_s: float | None = None
) -> Mapping[str, object]:
    """Return what stands in `cacheroute.change/1` beside its rows."""
    return {
        "proxy_url": proxy_url,
        "verb": reply.verb,
        "kept": reply.kept,
        "left_count": reply.left_count,
        "left_ids": reply.left_ids,
        "left_resting": reply.left_resting,
        "left_without": reply.left_without,
        "waited_s": waited_s,
        "strategy": None,
    }


def effect_in_words(reply: ChangeReply) -> str:
    """Say what a change does: `drain i-2: 4 requests run there; 2 Instances are left, …`."""
    changes = [change for change in reply.changes if change.changed]
    if not changes:
        names = _named([change.instance_id for change in reply.changes])
        return f"{reply.verb} {names}: nothing changes"
    said = [_load_in_words(changes)]
    if reply.verb == "unregister" and any(change.before.state == "alive" for change in changes):
        said.append("who is alive comes back with its next heartbeat, unless it is stopped")
    said.append(_left_in_words(reply))
    if reply.left_without and reply.left_count:
        said.append(f"nobody takes requests for {_named(reply.left_without)} any more")
    names = _named([change.instance_id for change in changes])
    return f"{reply.verb} {names}: " + "; ".join(said)


def _load_in_words(changes: Sequence[ChangeRow]) -> str:
    waiting = sum(change.waiting for change in changes)
    running = sum(change.inflight for change in changes) - waiting
    said = f"{_requests(running)} there"
    return f"{said} and {waiting} more wait{'s' * (waiting == 1)}" if waiting else said


def _requests(count: int) -> str:
    if not count:
        return "no request runs"
    return "1 request runs" if count == 1 else f"{count} requests run"


def _left_in_words(reply: ChangeReply) -> str:
    count, resting = reply.left_count, reply.left_resting
    if not count:
        return "nobody is left to take requests"
    comes_back = reply.verb == "undrain"
    if count == 1:
        does = "takes requests" if comes_back else "is left"
        return f"1 Instance {does}, " + ("resting after failures" if resting else "alive")
    who = "both alive" if count == 2 else "all alive"
    if resting:
        who = f"{resting} of them resting after failures"
    return f"{count} Instances {'take requests' if comes_back else 'are left'}, {who}"


def _named(names: Sequence[str]) -> str:
    more = len(names) - _NAMED_AT_MOST
    first = ", ".join(names[:_NAMED_AT_MOST])
    return f"{first} and {more} more" if more > 0 else first


def _words(condition: ConditionRow, inflight: int) -> str:
    if condition.draining and condition.state in ("alive", "gone"):
        word = f"drain {inflight}" if inflight else "drain"
        word += ", gone" if condition.state == "gone" else ""
    else:
        word = condition.state + (", drain" if condition.draining else "")
    if condition.weight_fixed and condition.weight is not None:
        own = UNKNOWN if condition.own_weight is None else f"{condition.own_weight:g}"
        word += f", weight {condition.weight:g} (own {own})"
    return word
