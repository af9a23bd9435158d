"""The pool as the control plane shows it: published names, nulls where nothing is known.

Pure builders from a snapshot. What is not measured yet is null and says `unavailable`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from cacheroute.core.clock import Instant
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.health.nodes import Nodes
from cacheroute.core.injection.paths import summed_up
from cacheroute.core.pool_resource import InstanceReading
from cacheroute.core.pool_snapshot import InstanceView, PoolSnapshot
from cacheroute.core.pressure import FIGURES
from cacheroute.core.resources import Resource
from cacheroute.core.routing.decision import Decisions
from cacheroute.core.routing.load import QUEUE_SIGNALS, load_cost, signals
from cacheroute.core.topology import Topology

JsonObject = dict[str, object]

_COUNTER = "proxy_lifecycle_counter"
_HEARTBEAT = "instance_heartbeat"
_QUEUES = "proxy_queue_manager"
_UNAVAILABLE = "unavailable"
_SIGNAL_SOURCES = {"inflight": _COUNTER, "qps_1m": _HEARTBEAT}
ALL_SOURCES = {**_SIGNAL_SOURCES, **dict.fromkeys(QUEUE_SIGNALS, _QUEUES)}
"""Who counts each signal."""
_NOTHING_QUEUED = dict.fromkeys(FIGURES)
_SAMPLE_IDS = 10
_FAILING_NODES = 32
_DECISIONS_UNASKED = 20
_DECISIONS_AT_ONCE = 1_024
_NEVER_REPORTED = Resource()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What bounds the queues before the Instances, and which ways of KV are in use."""

    rules: QueueRules
    topology: Topology
    kv_in_use: Mapping[str, int]
    """Links with a transfer under way, by Instance; idle ones are not in it."""

    def of(self, view: InstanceView) -> JsonObject:
        """Return what holds for one Instance."""
        instance_id = view.instance.instance_id
        return {
            "max_concurrent": view.instance.max_concurrent,
            "kv_links": self.topology.count_of(instance_id),
            "kv_links_busy": self.kv_in_use.get(instance_id, 0),
        }


def shown(snapshot: PoolSnapshot, *, include_dead: bool) -> tuple[InstanceView, ...]:
    """Return all views, or those that are alive."""
    return snapshot.views if include_dead else snapshot.alive


def instance_rows(snapshot: PoolSnapshot, *, include_dead: bool, raw: bool) -> list[JsonObject]:
    """Build `GET /v1/instance/list`; `raw` adds each snapshot as it was sent."""
    return [
        _instance_row(snapshot, view, raw) for view in shown(snapshot, include_dead=include_dead)
    ]


def instance_resources(snapshot: PoolSnapshot, *, include_dead: bool) -> JsonObject:
    """Build `GET /debug/instance_resources`."""
    return {
        "instances": [
            {
                "instance_id": view.instance.instance_id,
                "host": view.instance.host,
                "port": view.instance.port,
                "last_seen_at": int(snapshot.seen_wall_s(view)),
                "resource": (view.resource or _NEVER_REPORTED).as_wire(raw=False),
            }
            for view in shown(snapshot, include_dead=include_dead)
        ]
    }


def instance_loads(
    snapshot: PoolSnapshot,
    *,
    include_dead: bool,
    ttl_s: int,
    weights: Mapping[str, float],
    limits: Limits | None = None,
) -> JsonObject:
    """Build `GET /debug/instance_loads`; without `limits` it has the published keys alone."""
    rows = shown(snapshot, include_dead=include_dead)
    is_queueing = any(view.pressure is not None for view in rows)
    return {
        "ok": True,
        "ttl_s": ttl_s,
        "generated_at": snapshot.taken_at.wall_s,
        "metric_source": {
            **_SIGNAL_SOURCES,
            "queue_depth": _QUEUES if is_queueing else _UNAVAILABLE,
        },
        "instances": [
            {
                "instance_id": view.instance.instance_id,
                "is_alive": view.is_alive,
                "inflight": view.inflight,
                "qps_1m": view.qps_1m,
                **(_NOTHING_QUEUED if view.pressure is None else view.pressure.as_mapping()),
                "least_load_score": _score(view, weights),
                **({} if limits is None else limits.of(view)),
            }
            for view in rows
        ],
        **({} if limits is None else {"queue_rules": asdict(limits.rules)}),
    }


def status(
    snapshot: PoolSnapshot,
    *,
    ttl_s: int,
    links: int,
    proxy_id: str,
    version: str,
    strategy: str,
    started: Instant,
    draining: bool,
    unknown_reports: int,
    scheduler_state: str,
    knowledge_paths: Mapping[str, int],
    prediction_error: JsonObject,
    injection_strategy: str,
    nodes: Nodes,
) -> JsonObject:
    """Build `GET /debug/status`."""
    alive = snapshot.alive
    silent = [view.liveness for view in snapshot.views if not view.is_alive]
    return {
        "ok": True,
        "ttl_s": ttl_s,
        "alive_instances": len(alive),
        "total_instances": len(snapshot.views),
        "expired_instances": len(silent),
        "sample_ids": [view.instance.instance_id for view in alive[:_SAMPLE_IDS]],
        "topology_kdn_links": links,
        "proxy_id": proxy_id,
        "version": version,
        "strategy": strategy,
        "uptime_s": max(0.0, snapshot.taken_at.mono_s - started.mono_s),
        "draining": draining,
        "inflight": sum(view.inflight for view in snapshot.views),
        "stale_instances": silent.count("stale"),
        "dead_instances": silent.count("dead"),
        "unknown_reports": unknown_reports,
        "scheduler_state": scheduler_state,
        "knowledge": asdict(summed_up(knowledge_paths)),
        "prediction_error": prediction_error,
        "injection_strategy": injection_strategy,
        "kdn_failing": _failing(nodes, snapshot.taken_at.mono_s),
    }


def _failing(nodes: Nodes, now_mono_s: float) -> list[JsonObject]:
    """Return the knowledge nodes that did not answer last, those that fail for longest first."""
    known = [(health, name) for name in nodes if (health := nodes.of(name)) is not None]
    failing = [(health, name) for health, name in known if not health.answers]
    failing.sort(key=lambda one: (one[0].since_mono_s, one[1]))
    return [
        {
            "node": name,
            "failing_s": max(0.0, now_mono_s - health.since_mono_s),
            "asked_age_s": max(0.0, now_mono_s - health.asked_mono_s),
            "error": health.error,
        }
        for health, name in failing[:_FAILING_NODES]
    ]


def decisions(decisions: Decisions, *, last: int | None, since: int | None) -> JsonObject:
    """Build `GET /debug/decisions`: the newest, or those after `since`, newest first.

    A `since` that lies ahead is of a Proxy that has started anew: then nothing was seen before.
    """
    total = decisions.total
    after = since if since is not None and since <= total else 0
    most = _DECISIONS_UNASKED if last is None and since is None else last or _DECISIONS_AT_ONCE
    newest = [
        decision.as_wire()
        for decision in decisions.last(min(most, total - after))
        if decision.number > after
    ]
    missed = 0 if since is None else max(0, total - after - len(newest))
    return {"ok": True, "total": total, "missed": missed, "decisions": newest}


def readings(views: Iterable[InstanceView]) -> list[InstanceReading]:
    """Return what the summary of the pool is made from."""
    return [
        InstanceReading(
            is_alive=view.is_alive,
            inflight=view.inflight,
            qps_1m=view.qps_1m,
            prepare_queue_depth=view.pressure.prepare_queue_depth if view.pressure else None,
            ready_queue_depth=view.pressure.ready_queue_depth if view.pressure else None,
            resource=view.resource,
        )
        for view in views
    ]


def _instance_row(snapshot: PoolSnapshot, view: InstanceView, raw: bool) -> JsonObject:
    instance = view.instance
    since_wall_s = view.orders.since_wall_s
    return {
        "instance_id": instance.instance_id,
        "host": instance.host,
        "port": instance.port,
        "endpoints": list(instance.endpoints),
        "tags": list(instance.tags),
        "weight": view.weight,
        "meta": instance.meta,
        "capabilities": instance.capabilities,
        "capability_fingerprint": instance.capability_fingerprint,
        "registered_at": int(instance.registered_wall_s),
        "last_seen_at": int(snapshot.seen_wall_s(view)),
        "load": {
            "inflight": view.inflight,
            "qps_1m": view.qps_1m,
            "gpu_util": view.gpu_util,
        },
        "resource": (view.resource or _NEVER_REPORTED).as_wire(raw=raw),
        "is_alive": view.is_alive,
        "state": view.liveness,
        "age_s": view.age_s,
        "clock_skew_ms": (view.resource or _NEVER_REPORTED).clock_skew_ms,
        "origin": instance.origin,
        "base_path": instance.base_path,
        "models": None if view.models is None else sorted(view.models),
        "draining": view.draining,
        "drain_reason": view.orders.reason,
        "drained_at": None if since_wall_s is None else int(since_wall_s),
        "own_weight": instance.weight,
        "ejected_for_s": view.ejected_for_s,
        "unanswered_s": view.unanswered_s,
    }


def _score(view: InstanceView, weights: Mapping[str, float]) -> JsonObject:
    known = signals(inflight=view.inflight, qps_1m=view.qps_1m, pressure=view.pressure)
    # An Instance of weight 0 takes no work, so nothing is compared with it.
    share = view.weight
    cost = load_cost(known, weights, share or 1.0)
    return {
        "total": cost.total if cost and share else None,
        "components": cost.terms if cost else {},
        "weighted_components": cost.weighted if cost else {},
        "source": {name: ALL_SOURCES[name] for name in (cost.terms if cost else ())},
        "queue_source": _UNAVAILABLE if view.pressure is None else _QUEUES,
        "weights": dict(weights),
    }
