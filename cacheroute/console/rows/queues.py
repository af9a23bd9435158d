"""What stands in line for each Instance: waiting, being prepared, released, and until when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from cacheroute.console.columns import Kind
from cacheroute.console.rows.loads import QUEUE_COLUMNS, LoadRow, load_rows

if TYPE_CHECKING:
    from cacheroute.wire.debug import InstanceLoadsReply

_RANKS = {
    "is_alive": 8, "pending_prefill_count": 7, "active_decode_count": 7,
    "prefill_free_in_ms": 6, "next_slot_ready_in_ms": 5, "inflight": 4,
    "active_prepare": 3, "active_ready": 2, "predicted_total_backlog_ms": 1,
}  # fmt: skip
"""Which go first where there is no room: what waits in the two queues is what the list is for."""

QUEUES: Kind[LoadRow] = Kind(
    name="queues",
    noun="queues",
    columns=tuple(replace(one, rank=_RANKS.get(one.key, 0)) for one in QUEUE_COLUMNS),
    name_of=lambda row: row.id,
    searched=lambda row: row.id,
)


def queue_rows(loads: InstanceLoadsReply) -> list[LoadRow]:
    """Return a row for each Instance; alive ones first, the longest wait on top."""
    return by_wait(load_rows(loads))


def by_wait(rows: Iterable[LoadRow]) -> list[LoadRow]:
    """Sort them: alive ones first, the longest wait on top."""
    return sorted(rows, key=_order)


def _order(row: LoadRow) -> tuple[bool, float]:
    return (not row.is_alive, -(row.predicted_total_backlog_ms or 0.0))
