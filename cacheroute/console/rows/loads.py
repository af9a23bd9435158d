"""What each Instance has to do, signal by signal, as strategies see it."""

from collections.abc import Iterable
from dataclasses import dataclass

from cacheroute.console import cast
from cacheroute.console.columns import Column, Kind
from cacheroute.wire.debug import InstanceLoadsReply

QUEUES = "the queues of the Proxy"
NOT_QUEUED = "Nothing queues for it, or the Proxy does not say; it is not 0."
_PREDICTED = "predicted by the Proxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRow:
    """The load of one Instance; what nobody knows is None."""

    id: str
    is_alive: bool
    inflight: int | None
    qps_1m: float | None
    prepare_queue_depth: int | None
    ready_queue_depth: int | None
    active_prepare: int | None
    active_ready: int | None
    pending_prefill_count: int | None
    active_decode_count: int | None
    next_slot_ready_in_ms: float | None
    prefill_free_in_ms: float | None
    predicted_total_backlog_ms: float | None
    score: float | None
    """The Proxy's total; lower wins."""


def load_rows(loads: InstanceLoadsReply) -> list[LoadRow]:
    """Return a row for each Instance; alive ones first, the least loaded on top."""
    return in_load_order(
        LoadRow(
            id=load.instance_id,
            is_alive=load.is_alive,
            inflight=load.inflight,
            qps_1m=load.qps_1m,
            prepare_queue_depth=load.prepare_queue_depth,
            ready_queue_depth=load.ready_queue_depth,
            active_prepare=load.active_prepare,
            active_ready=load.active_ready,
            pending_prefill_count=load.pending_prefill_count,
            active_decode_count=load.active_decode_count,
            next_slot_ready_in_ms=load.next_slot_ready_in_ms,
            prefill_free_in_ms=load.prefill_free_in_ms,
            predicted_total_backlog_ms=load.predicted_total_backlog_ms,
            score=load.least_load_score.total,
        )
        for load in loads.instances
    )


def in_load_order(rows: Iterable[LoadRow]) -> list[LoadRow]:
    """Sort them: alive ones first, the least loaded on top."""
    return sorted(rows, key=_order)


def only_alive(rows: Iterable[LoadRow]) -> list[LoadRow]:
    """Leave out those that have expired."""
    return [row for row in rows if row.is_alive]


def _order(row: LoadRow) -> tuple[bool, float, str]:
    return (not row.is_alive, float("inf") if row.score is None else row.score, row.id)


_ID: Column[LoadRow] = cast.word("id", "ID", "Name of the Instance.", gives_way=True)
_ALIVE: Column[LoadRow] = cast.yes(
    "is_alive", "ALIVE", "Whether it was heard of within its time to live.", rank=1
)
_INFLIGHT: Column[LoadRow] = cast.count(
    "inflight", "INFL", "Requests it works on.", source="counted by the Proxy"
)
_QPS: Column[LoadRow] = cast.rate(
    "qps_1m", "QPS", "Requests a second over the last minute.", source="its heartbeat"
)
_PREPARE_DEPTH: Column[LoadRow] = cast.count(
    "prepare_queue_depth", "PREP-Q", "Requests that wait to be prepared.",
    source=QUEUES, unknown=NOT_QUEUED, aliases=("prepare",),
)  # fmt: skip
_ACTIVE_PREPARE: Column[LoadRow] = cast.count(
    "active_prepare", "PREPARING", "Requests that are being prepared.",
    source=QUEUES, unknown=NOT_QUEUED,
)  # fmt: skip
_READY_DEPTH: Column[LoadRow] = cast.count(
    "ready_queue_depth", "READY-Q", "Requests that are prepared and wait to be released.",
    source=QUEUES, unknown=NOT_QUEUED,
)  # fmt: skip
_ACTIVE_READY: Column[LoadRow] = cast.count(
    "active_ready", "RELEASED", "Requests that are released to it and have not ended.",
    source=QUEUES, unknown=NOT_QUEUED,
)  # fmt: skip
_PREFILL: Column[LoadRow] = cast.count(
    "pending_prefill_count", "PFIL", "Requests there whose first token is still to come.",
    source=QUEUES, unknown=NOT_QUEUED, aliases=("prefill",),
)  # fmt: skip
_DECODE: Column[LoadRow] = cast.count(
    "active_decode_count", "DEC", "Requests there that are past their first token.",
    source=QUEUES, unknown=NOT_QUEUED, aliases=("decode",),
)  # fmt: skip
_SLOT: Column[LoadRow] = cast.wait(
    "next_slot_ready_in_ms", "SLOT", "Time until one more request can be released; 0 is now.",
    source=_PREDICTED, unknown=NOT_QUEUED,
)  # fmt: skip
_FREE: Column[LoadRow] = cast.wait(
    "prefill_free_in_ms", "FREE", "Time until the prompts that are there will have been read.",
    source=_PREDICTED, unknown=NOT_QUEUED,
)  # fmt: skip
_BACKLOG: Column[LoadRow] = cast.wait(
    "predicted_total_backlog_ms", "BACKLOG",
    "What a new request would wait: the longer of SLOT and FREE.",
    source=_PREDICTED, unknown=NOT_QUEUED, aliases=("backlog_ms",),
)  # fmt: skip
_SCORE: Column[LoadRow] = cast.score(
    "score", "SCORE", "What least_load compares; lower wins.",
    source="the Proxy: signals times weights, divided by the Instance's weight",
    unknown="It has no known signals, or its weight is 0.",
)  # fmt: skip

LOADS: Kind[LoadRow] = Kind(
    name="loads",
    noun="loads",
    columns=(
         _ID, _ALIVE, _INFLIGHT, _QPS, _PREPARE_DEPTH, _READY_DEPTH, _PREFILL, _DECODE,
        _BACKLOG, _SCORE,
    ),
    name_of=lambda row: row.id,
    searched=lambda row: row.id,
)  # fmt: skip
"""Everything that may weigh in a score, and the score."""

QUEUE_COLUMNS: tuple[Column[LoadRow], ...] = (
     _ID, _ALIVE, _PREPARE_DEPTH, _ACTIVE_PREPARE, _READY_DEPTH, _ACTIVE_READY, _PREFILL,
    _DECODE, _SLOT, _FREE, _BACKLOG, _INFLIGHT,
)  # fmt: skip
