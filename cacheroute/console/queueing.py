"""How full the queues of a pool are: what waits and what is under way, against what may be.

An older Proxy tells how many and not of how many; then the limit is None, and is not shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

from cacheroute.console.amounts import render_of
from cacheroute.console.rows.loads import LoadRow
from cacheroute.wire.console_columns import Counts, spread
from cacheroute.wire.queue_rules import QueueRules

if TYPE_CHECKING:
    from cacheroute.wire.console import Columns, ConsoleSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Queueing:
    """The queues of all Instances that are alive, summed up; None is not known."""

    waiting_to_prepare: int | None
    preparing: int | None
    prepare_limit: int | None
    """Most requests that are prepared at once."""
    waiting_ready: int | None
    released: int | None
    ready_limit: int | None
    """Most prepared requests on the Instances at once."""
    kv_links: int | None
    kv_links_busy: int | None
    full: tuple[str, ...] = ()
    """Instances at which no other request may wait; where the most wait comes first."""


def queueing_of(rows: Iterable[LoadRow]) -> Queueing:
    """Sum up the queues of those that are alive."""
    alive = [row for row in rows if row.is_alive]

    def total(name: str) -> int | None:
        known = [value for row in alive if (value := getattr(row, name)) is not None]
        return sum(known) if known else None

    return Queueing(
        waiting_to_prepare=total("prepare_queue_depth"),
        preparing=total("active_prepare"),
        prepare_limit=total("prepare_limit"),
        waiting_ready=total("ready_queue_depth"),
        released=total("active_ready"),
        ready_limit=total("ready_limit"),
        kv_links=total("kv_links"),
        kv_links_busy=total("kv_links_busy"),
        full=tuple(row.id for row in sorted(alive, key=_longest_first) if row.is_full),
    )


def queueing_in(snapshot: ConsoleSnapshot) -> Queueing:
    """Do the same with columns, a thousand Instances in a third of a millisecond."""
    it, rules = snapshot.instances, snapshot.queue_rules or QueueRules()
    ids, count = snapshot.ids, len(snapshot.ids)
    alive = [state == "alive" for state in spread(it.state, count)]
    alive_count = sum(alive)

    def total(column: Counts) -> int | None:
        if not isinstance(column, list):
            return column * alive_count if column is not None and alive_count else None
        known = [n for n in compress(spread(column, count), alive) if n is not None]
        return sum(known) if known else None

    slots = rules.ready_concurrency
    caps = None if snapshot.identities is None else snapshot.identities.max_concurrent
    if slots is not None and isinstance(caps, list):
        caps = [cap or slots for cap in spread(caps, count)]
    return Queueing(
        waiting_to_prepare=total(it.prepare_queue_depth),
        preparing=total(it.active_prepare),
        prepare_limit=total(rules.prepare_concurrency),
        waiting_ready=total(it.ready_queue_depth),
        released=total(it.active_ready),
        ready_limit=None if slots is None else total(caps or slots),
        kv_links=total(it.kv_links),
        kv_links_busy=total(it.kv_links_busy),
        full=_full_in(ids, alive, it, rules.max_queue),
    )


def _full_in(ids: list[str], alive: list[bool], it: Columns, limit: int | None) -> tuple[str, ...]:
    if limit is None:
        return ()
    depths = [
        [depth or 0 for depth in spread(column, len(ids))]
        for column in (it.prepare_queue_depth, it.ready_queue_depth)
    ]
    if not ids or max(map(max, depths)) < limit:
        return ()
    found = [
        (-(prepare + ready), id_)
        for id_, lives, prepare, ready in zip(ids, alive, *depths, strict=True)
        if lives and max(prepare, ready) >= limit
    ]
    return tuple(id_ for _, id_ in sorted(found))


def _longest_first(row: LoadRow) -> tuple[int, str]:
    return -(row.prepare_queue_depth or 0) - (row.ready_queue_depth or 0), row.id


def render_queue(busy: int | None, limit: int | None, waiting: int | None) -> str:
    """Write `4/16`, and how many wait besides where some do: `16/16 +3`."""
    return render_of(busy, limit) + (f" +{waiting}" if waiting else "")
