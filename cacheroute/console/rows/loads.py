"""What each Instance has to do, signal by signal, as strategies see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cacheroute.console import cast
from cacheroute.console.amounts import render_of
from cacheroute.console.cells import UNKNOWN
from cacheroute.console.columns import NAME_FLOOR, Column, Kind, Tone

if TYPE_CHECKING:
    from cacheroute.wire.debug import InstanceLoadsReply

QUEUES = "the queues of the Proxy"
NOT_QUEUED = "Nothing queues for it, or the Proxy does not say; it is not 0."
_PREDICTED = "predicted by the Proxy"
_NOT_TOLD = "The Proxy does not tell it: an older one, or another."


# Nobody changes one. Frozen, or to be given by name alone, a thousand of them would take three
# times as long, and a screen makes them anew each second.
@dataclass(slots=True)
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
    queue_limit: int | None = None
    """Most requests that wait to be prepared, and as many that wait for a slot."""
    prepare_limit: int | None = None
    """Most requests that are prepared for it at once."""
    ready_limit: int | None = None
    """Most prepared requests on it at once."""
    kv_links: int | None = None
    """Knowledge nodes that a path to it is known from."""
    kv_links_busy: int | None = None
    """Nodes that are sending it KV."""

    @property
    def is_full(self) -> bool:
        """Whether no other request may wait in one of its queues."""
        return is_at(self.prepare_queue_depth, self.queue_limit) or is_at(
            self.ready_queue_depth, self.queue_limit
        )


def is_at(count: int | None, limit: int | None) -> bool:
    """Whether a count has reached its limit, as far as both are known."""
    return count is not None and limit is not None and count >= limit


def load_rows(loads: InstanceLoadsReply) -> list[LoadRow]:
    """Return a row for each Instance; alive ones first, the least loaded on top."""
    rules = loads.queue_rules
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
            queue_limit=None if rules is None else rules.max_queue,
            prepare_limit=None if rules is None else rules.prepare_concurrency,
            ready_limit=None if rules is None else load.max_concurrent or rules.ready_concurrency,
            kv_links=load.kv_links,
            kv_links_busy=load.kv_links_busy,
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


_ID: Column[LoadRow] = cast.word(
    "id", "ID", "Name of the Instance.", gives_way=True, floor=NAME_FLOOR
)
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
    source=QUEUES, unknown=NOT_QUEUED, lacks=True, aliases=("prepare",),
)  # fmt: skip
_ACTIVE_PREPARE: Column[LoadRow] = cast.count(
    "active_prepare", "PREPARING", "Requests that are being prepared.",
    source=QUEUES, unknown=NOT_QUEUED, lacks=True,
)  # fmt: skip
_READY_DEPTH: Column[LoadRow] = cast.count(
    "ready_queue_depth", "READY-Q", "Requests that are prepared and wait to be released.",
    source=QUEUES, unknown=NOT_QUEUED, lacks=True,
)  # fmt: skip
_ACTIVE_READY: Column[LoadRow] = cast.count(
    "active_ready", "RELEASED", "Requests that are released to it and have not ended.",
    source=QUEUES, unknown=NOT_QUEUED, lacks=True,
)  # fmt: skip
_PREFILL: Column[LoadRow] = cast.count(
    "pending_prefill_count", "PFIL", "Requests there whose first token is still to come.",
    source=QUEUES, unknown=NOT_QUEUED, lacks=True, aliases=("prefill",),
)  # fmt: skip
_DECODE: Column[LoadRow] = cast.count(
    "active_decode_count", "DEC", "Requests there that are past their first token.",
    source=QUEUES, unknown=NOT_QUEUED, lacks=True, aliases=("decode",),
)  # fmt: skip
_SLOT: Column[LoadRow] = cast.wait(
    "next_slot_ready_in_ms", "SLOT", "Time until one more request can be released; 0 is now.",
    source=_PREDICTED, unknown=NOT_QUEUED, lacks=True,
)  # fmt: skip
_FREE: Column[LoadRow] = cast.wait(
    "prefill_free_in_ms", "FREE", "Time until the prompts that are there will have been read.",
    source=_PREDICTED, unknown=NOT_QUEUED, lacks=True,
)  # fmt: skip
_BACKLOG: Column[LoadRow] = cast.wait(
    "predicted_total_backlog_ms", "BACKLOG",
    "What a new request would wait: the longer of SLOT and FREE.",
    source=_PREDICTED, unknown=NOT_QUEUED, lacks=True, aliases=("backlog_ms",),
)  # fmt: skip
_SCORE: Column[LoadRow] = cast.score(
    "score", "SCORE", "What least_load compares; lower wins.",
    source="the Proxy: signals times weights, divided by the Instance's weight",
    unknown="It has no known signals, or its weight is 0.", lacks=True,
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


def of_limit(key: str, limit: str) -> Callable[[LoadRow], str]:
    """Return what writes a count of a row with its limit: `4/16`, or `4` where none is told."""

    def text(row: LoadRow) -> str:
        count = getattr(row, key)
        return UNKNOWN if count is None else render_of(count, getattr(row, limit))

    return text


def _waits(key: str) -> Callable[[LoadRow], Tone]:
    return lambda row: "bad" if is_at(getattr(row, key), row.queue_limit) else "plain"


def _limit(key: str, header: str, doc: str, **more: Any) -> Column[LoadRow]:
    told = {"source": "the Proxy", "unknown": _NOT_TOLD, "wide": True}
    column: Column[LoadRow] = cast.count(key, header, doc, **{**told, **more})
    return column


QUEUE_COLUMNS: tuple[Column[LoadRow], ...] = (
    _ID,
    _ALIVE,
    replace(
        _PREPARE_DEPTH,
        text=of_limit("prepare_queue_depth", "queue_limit"),
        tone=_waits("prepare_queue_depth"),
        doc="Requests that wait to be prepared, and how many may.",
    ),
    replace(
        _ACTIVE_PREPARE,
        text=of_limit("active_prepare", "prepare_limit"),
        doc="Requests that are being prepared, and how many may be at once.",
    ),
    replace(
        _READY_DEPTH,
        text=of_limit("ready_queue_depth", "queue_limit"),
        tone=_waits("ready_queue_depth"),
        doc="Requests that are prepared and wait to be released, and how many may.",
    ),
    replace(
        _ACTIVE_READY,
        text=of_limit("active_ready", "ready_limit"),
        doc="Requests that are released to it and have not ended, and how many may be at once.",
    ),
    _PREFILL,
    _DECODE,
    _SLOT,
    _FREE,
    _BACKLOG,
    _INFLIGHT,
    _limit("queue_limit", "Q-MAX", "Most requests that wait in one of its two queues."),
    _limit("prepare_limit", "PREP-MAX", "Most requests that are prepared for it at once."),
    _limit(
        "ready_limit", "SLOTS", "Most prepared requests on it at once: its own cap, or the rules'."
    ),
    _limit(
        "kv_links_busy",
        "KV-BUSY",
        "Knowledge nodes that are sending it KV, of those with a path.",
        text=of_limit("kv_links_busy", "kv_links"),
    ),
    _limit("kv_links", "KV-LINKS", "Knowledge nodes that a path to it is known from."),
)
