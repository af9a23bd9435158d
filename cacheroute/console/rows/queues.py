"""What stands in line for each Instance: waiting, being prepared, released, and until when."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cacheroute.console.columns import Kind
from cacheroute.console.rows.loads import QUEUE_COLUMNS, LoadRow, load_rows

if TYPE_CHECKING:
    from cacheroute.wire.debug import InstanceLoadsReply

QUEUES: Kind[LoadRow] = Kind(
    name="queues",
    noun="queues",
    columns=QUEUE_COLUMNS,
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
