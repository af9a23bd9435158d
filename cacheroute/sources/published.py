"""A look put together from the published pages, for a Proxy that has none of ours.

It costs ten times as much as the columns, and says the same as far as the Proxy tells it.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from cacheroute.wire.console import (
    Columns,
    ConsoleSnapshot,
    Identities,
    Knowledge,
    Lists,
    Pool,
    PredictionErrors,
    Proxy,
    SchedulerSide,
)
from cacheroute.wire.console_columns import folded
from cacheroute.wire.console_reading import pool_of
from cacheroute.wire.debug import (
    InstanceLoadRow,
    InstanceLoadsReply,
    LoadScore,
    PoolResourceReply,
    SchedulerReply,
    StatusReply,
)
from cacheroute.wire.instances import InstanceRow

_OF_ENTRY = {"draining": "draining", "weight": "weight", "ejected_for_s": "ejected_for_s",
             "unanswered_s": "unanswered_s", "clock_skew_ms": "clock_skew_ms"}  # fmt: skip
_OF_RESOURCE = (
    "cpu_util", "memory_used_mb", "memory_total_mb", "gpu_util_avg", "gpu_util_current",
    "gpu_util_max", "gpu_sample_age_ms", "gpu_sample_source", "gpu_sample_quality",
    "gpu_mem_used_mb", "gpu_mem_total_mb", "network_rx_mbps", "network_tx_mbps",
    "admission_state",
)  # fmt: skip
_OF_LOAD = (
    "prepare_queue_depth", "ready_queue_depth", "active_prepare", "active_ready",
    "pending_prefill_count", "active_decode_count", "next_slot_ready_in_ms",
    "prefill_free_in_ms", "predicted_total_backlog_ms", "kv_links", "kv_links_busy",
)  # fmt: skip


def snapshot_of(
    *,
    rev: int,
    status: StatusReply,
    entries: Sequence[InstanceRow],
    loads: InstanceLoadsReply | None,
    pool: PoolResourceReply | None,
    scheduler: SchedulerReply | None,
    now_s: float,
) -> ConsoleSnapshot:
    """Put the replies together; `now_s` is our clock, for a Proxy that does not tell its own."""
    generated_at = now_s if loads is None else loads.generated_at
    load_of = {load.instance_id: load for load in loads.instances} if loads else {}
    scores = [load.least_load_score for load in load_of.values()]
    return ConsoleSnapshot(
        rev=rev,
        generated_at=generated_at,
        ttl_s=status.ttl_s,
        proxy=Proxy(
            proxy_id=status.proxy_id or _proxy_id(pool),
            version=status.version,
            strategy=status.strategy,
            uptime_s=status.uptime_s,
            draining=status.draining if status.proxy_id else None,
            injection_strategy=status.injection_strategy,
        ),
        pool=Pool() if pool is None else pool_of(pool.pool_resource),
        knowledge=(
            None
            if status.knowledge is None
            else msgspec.convert(status.knowledge.model_dump(), Knowledge)
        ),
        prediction_errors=(
            None
            if status.prediction_error is None
            else msgspec.convert(status.prediction_error.model_dump(), PredictionErrors)
        ),
        scheduler=(
            None if scheduler is None else msgspec.convert(scheduler.model_dump(), SchedulerSide)
        ),
        queue_rules=None if loads is None else loads.queue_rules,
        weights=next((dict(score.weights) for score in scores if score.weights), {}),
        sources={name: source for score in scores for name, source in score.source.items()},
        who=rev,
        identities=_identities(entries, load_of),
        instances=_columns(entries, load_of, None if loads is None else generated_at),
    )


def _proxy_id(pool: PoolResourceReply | None) -> str | None:
    found = None if pool is None else pool.pool_resource.get("proxy_id")
    return found if isinstance(found, str) else None


def _identities(
    entries: Sequence[InstanceRow], load_of: Mapping[str, InstanceLoadRow]
) -> Identities:
    found = [load_of.get(entry.instance_id) for entry in entries]
    return Identities(
        ids=[entry.instance_id for entry in entries],
        host=folded([entry.host for entry in entries]),
        port=folded([entry.port for entry in entries]),
        base_path=folded([entry.base_path or None for entry in entries]),
        origin=folded([entry.origin for entry in entries]),
        models=_lists(entry.models for entry in entries),
        endpoints=_lists(entry.endpoints for entry in entries),
        tags=_lists(entry.tags for entry in entries),
        own_weight=folded([entry.own_weight for entry in entries]),
        max_concurrent=folded([None if load is None else load.max_concurrent for load in found]),
    )


def _columns(
    entries: Sequence[InstanceRow], load_of: dict[str, InstanceLoadRow], now_s: float | None
) -> Columns:
    found = [load_of.get(entry.instance_id) for entry in entries]
    resources = [entry.resource for entry in entries]
    columns: dict[str, Any] = {
        **{name: list(map(attrgetter(key), entries)) for name, key in _OF_ENTRY.items()},
        **{name: list(map(attrgetter(name), resources)) for name in _OF_RESOURCE},
        **{name: [getattr(load, name, None) for load in found] for name in _OF_LOAD},
        # A Proxy of others tells alive from not, and how long ago is for us to judge.
        "state": [entry.state or ("alive" if entry.is_alive else None) for entry in entries],
        "age_s": [
            _since(entry.last_seen_at, now_s) if entry.age_s is None else entry.age_s
            for entry in entries
        ],
        "report_age_s": [_since(it.resource_reported_at, now_s) for it in resources],
        "gpu_util": [entry.load.gpu_util for entry in entries],
        "inflight": [
            entry.load.inflight if load is None else load.inflight
            for entry, load in zip(entries, found, strict=True)
        ],
        "qps_1m": [
            entry.load.qps_1m if load is None else load.qps_1m
            for entry, load in zip(entries, found, strict=True)
        ],
        "score": [_score(load).total for load in found],
    }
    return Columns(**{name: folded(column) for name, column in columns.items()})


def _score(load: InstanceLoadRow | None) -> LoadScore:
    return LoadScore() if load is None else load.least_load_score


def _since(then_s: float | None, now_s: float | None) -> float | None:
    return None if then_s is None or now_s is None else max(0.0, now_s - then_s)


def _lists(column: Iterable[list[str] | None]) -> Lists:
    places: dict[tuple[str, ...] | None, int] = {}
    at = [
        places.setdefault(None if words is None else tuple(words), len(places)) for words in column
    ]
    values = [None if words is None else list(words) for words in places]
    return Lists(values=values, at=folded(at))
