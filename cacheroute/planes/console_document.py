"""The whole pool as columns, for consoles that look every second.

A thousand Instances are read in one go, in a few milliseconds, and no faster way shows less:
each figure is the one that the published pages show. Measured values are rounded to a
hundredth, ages and predicted waits to a thousandth; a score is told as it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import floor
from operator import attrgetter
from typing import Any

import msgspec

from cacheroute import __version__
from cacheroute.core.clock import Instant
from cacheroute.core.injection.paths import summed_up
from cacheroute.core.pool import unanswered_s
from cacheroute.core.pool_resource import pool_resource
from cacheroute.core.pool_snapshot import InstanceView, PoolSnapshot
from cacheroute.core.pressure import FIGURES, Queues
from cacheroute.core.resources import Resource
from cacheroute.core.routing.weights import Weights
from cacheroute.core.tally import SECONDS, Tally
from cacheroute.planes import debug
from cacheroute.planes.console_nodes import kdn_nodes
from cacheroute.planes.control_owner import ControlOwner
from cacheroute.planes.predictions import errors_row
from cacheroute.planes.summary import ttl_s
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
    Totals,
)
from cacheroute.wire.console_columns import folded
from cacheroute.wire.console_reading import pool_of
from cacheroute.wire.queue_rules import QueueRules

_UNUSED = Tally()
_NEVER_REPORTED = Resource()
_WORDS = ("gpu_sample_source", "gpu_sample_quality", "admission_state")
_MEASURES = (
    "cpu_util", "memory_used_mb", "memory_total_mb", "gpu_util_avg", "gpu_util_current",
    "gpu_util_max", "gpu_mem_used_mb", "gpu_mem_total_mb", "network_rx_mbps", "network_tx_mbps",
)  # fmt: skip


def document(
    owner: ControlOwner,
    now: Instant,
    *,
    rev: int,
    run: str,
    who: int,
    identities: Identities | None = None,
) -> ConsoleSnapshot:
    """Build `GET /v1/console/snapshot`; about 8 us for each Instance.

    `identities` are those of an earlier document of the same `who`.
    """
    snapshot = owner.pool.snapshot(now)
    tallies = [owner.tallies.get(member, _UNUSED) for member in owner.pool.members.values()]
    return ConsoleSnapshot(
        rev=rev,
        generated_at=now.wall_s,
        run=run,
        ttl_s=ttl_s(owner),
        proxy=Proxy(
            proxy_id=owner.proxy_id,
            version=__version__,
            strategy=owner.strategy.name,
            uptime_s=max(0.0, now.mono_s - owner.started.mono_s),
            draining=owner.draining,
            injection_strategy=owner.injection_strategy,
        ),
        pool=_pool(owner, snapshot),
        totals=_totals(owner, (*owner.elsewhere, *owner.tallies.values())),
        knowledge=_knowledge(owner.knowledge_paths),
        kdn=kdn_nodes(owner, snapshot),
        prediction_errors=msgspec.convert(errors_row(owner.predictions.errors), PredictionErrors),
        scheduler=msgspec.convert(owner.scheduler_state.as_wire(now), SchedulerSide),
        queue_rules=QueueRules(**asdict(owner.queue_rules)),
        weights=dict(owner.weights.as_mapping()),
        sources=dict(debug.ALL_SOURCES),
        who=who,
        identities=identities or _identities(snapshot),
        instances=_columns(snapshot, tallies, owner),
    )


def fingerprint(owner: ControlOwner, now: Instant) -> list[object]:
    """Return what must be equal for a document to say the same but for the time.

    A few hundred ns for each Instance, so that who asks for news when there is none costs little.
    """
    pool = owner.pool
    tallies = owner.tallies
    found: list[object] = [
        owner.proxy_id,
        owner.draining,
        owner.strategy.name,
        owner.decisions.total,
        owner.traces.total,
        owner.predictions.errors.count,
        owner.scheduler_state,
        pool.version,
        len(pool),
        owner.topology.version,
        owner.links.version,
        owner.nodes.version,
    ]
    for member in pool.members.values():
        queues, tally = member.queues, tallies.get(member)
        found.append(
            (
                member.instance,
                pool.liveness(member, now),
                member.last_seen_mono_s,
                member.inflight,
                None if unanswered_s(member, now) is None else member.unanswered_since_mono_s,
                member.qps_1m,
                member.gpu_util,
                member.resource,
                member.draining,
                member.weight,
                member.ejected_until_mono_s if member.ejected_until_mono_s > now.mono_s else None,
                None if tally is None else tally.requests,
                None if queues is None else _standing(queues, now.mono_s),
            )
        )
    return found


def _standing(queues: Queues, now_mono_s: float) -> object:
    if queues.is_ticking:
        return now_mono_s  # what is predicted of them changes by the mere passing of time
    return (
        queues.prepare_queue_depth,
        queues.ready_queue_depth,
        queues.active_prepare,
        queues.active_ready,
        queues.active_decode_count,
    )


def identity(owner: ControlOwner) -> list[object]:
    """Return what must be equal for the Instances to be the same, described the same."""
    return [(member.instance, member.probed_models) for member in owner.pool.members.values()]


def total_of(view: InstanceView, weights: Weights) -> float | None:
    """Return the score of the debug page, to the last bit; None when its weight is 0.

    The terms are added in the order of the page, and by the same `sum`, without being named.
    """
    share = view.weight
    if not share:
        return None
    terms: tuple[float, ...] = (view.inflight * weights.inflight,)
    queued = view.pressure
    if queued is not None:
        terms += (
            queued.active_prepare * weights.active_prepare,
            queued.active_ready * weights.active_ready,
            queued.prepare_queue_depth * weights.prepare_queue_depth,
            queued.ready_queue_depth * weights.ready_queue_depth,
            queued.pending_prefill_count * weights.pending_prefill_count,
            queued.active_decode_count * weights.active_decode_count,
            queued.predicted_total_backlog_ms * weights.predicted_total_backlog_ms,
        )
    if view.qps_1m is not None:
        terms += (view.qps_1m * weights.qps_1m,)
    return sum(terms) / share


def _identities(snapshot: PoolSnapshot) -> Identities:
    views = snapshot.views
    instances = [view.instance for view in views]
    return Identities(
        ids=[instance.instance_id for instance in instances],
        host=folded([instance.host for instance in instances]),
        port=folded([instance.port for instance in instances]),
        base_path=folded([instance.base_path or None for instance in instances]),
        origin=folded([instance.origin for instance in instances]),
        models=_lists(
            None if view.models is None else tuple(sorted(view.models)) for view in views
        ),
        endpoints=_lists(instance.endpoints for instance in instances),
        tags=_lists(instance.tags for instance in instances),
        own_weight=folded([instance.weight for instance in instances]),
        max_concurrent=folded([instance.max_concurrent for instance in instances]),
    )


def _columns(snapshot: PoolSnapshot, tallies: Sequence[Tally], owner: ControlOwner) -> Columns:
    views, weights = snapshot.views, owner.weights
    resources = [view.resource or _NEVER_REPORTED for view in views]
    now = snapshot.taken_at
    return Columns(
        state=folded([view.liveness for view in views]),
        age_s=folded(_rounded((view.age_s for view in views), 3)),
        draining=folded([view.draining for view in views]),
        weight=folded([view.weight for view in views]),
        ejected_for_s=folded(_rounded((view.ejected_for_s for view in views), 3)),
        unanswered_s=folded(_rounded((view.unanswered_s for view in views), 3)),
        inflight=folded([view.inflight for view in views]),
        qps_1m=folded(_rounded((view.qps_1m for view in views), 3)),
        score=folded([total_of(view, weights) for view in views]),
        gpu_util=folded(_rounded((view.gpu_util for view in views), 2)),
        report_age_s=folded(_rounded((resource.age_s(now) for resource in resources), 3)),
        clock_skew_ms=folded([resource.clock_skew_ms for resource in resources]),
        gpu_sample_age_ms=folded([resource.gpu_sample_age_ms for resource in resources]),
        requests=folded([tally.requests for tally in tallies]),
        failures=folded([sum(tally.failures.values()) for tally in tallies]),
        **_resource_columns(resources),
        **_queue_columns(views),
        **_link_columns(views, owner),
    )


def _resource_columns(resources: Sequence[Resource]) -> dict[str, Any]:
    read = {name: attrgetter(name) for name in (*_WORDS, *_MEASURES)}
    words = {name: folded(list(map(read[name], resources))) for name in _WORDS}
    measures = {name: folded(_rounded(map(read[name], resources), 2)) for name in _MEASURES}
    return {**words, **measures}


def _queue_columns(views: Sequence[InstanceView]) -> dict[str, Any]:
    pressures = [view.pressure for view in views]
    if not any(pressures):
        return {}
    read = {name: attrgetter(name) for name in FIGURES}
    columns: dict[str, Any] = {}
    for name in FIGURES:
        values = [None if each is None else read[name](each) for each in pressures]
        columns[name] = folded(_rounded(values, 3) if name.endswith("_ms") else values)
    return columns


def _link_columns(views: Sequence[InstanceView], owner: ControlOwner) -> dict[str, Any]:
    topology, in_use = owner.topology, owner.links.in_use()
    ids = [view.instance.instance_id for view in views] if in_use or topology.reports else [""]
    return {
        "kv_links": folded(list(map(topology.count_of, ids))),
        "kv_links_busy": folded([in_use.get(id_, 0) for id_ in ids]),
    }


def _lists(column: Iterable[tuple[str, ...] | None]) -> Lists:
    places: dict[tuple[str, ...] | None, int] = {}
    at = [places.setdefault(words, len(places)) for words in column]
    values = [None if words is None else list(words) for words in places]
    return Lists(values=values, at=folded(at))


def _rounded(values: Iterable[float | None], digits: int) -> list[float | None]:
    # `round` finds the nearest decimal by way of text, which takes five times as long.
    unit = 10**digits
    values = list(values)
    try:
        return [None if value is None else floor(value * unit + 0.5) / unit for value in values]
    except (OverflowError, ValueError):  # nothing that is measured, and still somebody may send it
        return [None if value is None else round(value, digits) for value in values]


def _pool(owner: ControlOwner, snapshot: PoolSnapshot) -> Pool:
    summary = pool_resource(
        debug.readings(snapshot.views),
        proxy_id=owner.proxy_id,
        ttl_s=ttl_s(owner),
        capacity=owner.capacity,
        now=snapshot.taken_at,
    )
    return pool_of(summary)


def _totals(owner: ControlOwner, tallies: Sequence[Tally]) -> Totals:
    return Totals(
        requests=sum(tally.requests for tally in tallies),
        failures=sum(sum(tally.failures.values()) for tally in tallies),
        prompt_tokens=sum(tally.prompt_tokens for tally in tallies),
        completion_tokens=sum(tally.completion_tokens for tally in tallies),
        cached_tokens=sum(tally.cached_tokens for tally in tallies),
        ttft_counts=[
            sum(bucket) for bucket in zip(*(tally.ttft_s.counts for tally in tallies), strict=True)
        ],
        ttft_bounds_s=list(SECONDS),
        decisions=owner.decisions.total,
        traces=owner.traces.total,
    )


def _knowledge(by_path: Mapping[str, int]) -> Knowledge:
    counts = summed_up(by_path)
    return Knowledge(
        kv_inject=counts.kv_inject, text_inject=counts.text_inject, fallback=counts.fallback
    )
