"""The pool as the control plane shows it: published names, nulls where nothing is known.

Pure builders from a snapshot. What is not measured yet is null and says `unavailable`.
"""

from collections.abc import Iterable, Mapping

from cacheroute.core.clock import Instant
from cacheroute.core.pool_resource import InstanceReading
from cacheroute.core.pool_snapshot import InstanceView, PoolSnapshot
from cacheroute.core.resources import Resource
from cacheroute.core.routing.load import load_cost
from cacheroute.core.topology import Topology

JsonObject = dict[str, object]

_COUNTER = "proxy_lifecycle_counter"
_HEARTBEAT = "instance_heartbeat"
_UNAVAILABLE = "unavailable"
_SIGNAL_SOURCES = {"inflight": _COUNTER, "qps_1m": _HEARTBEAT}
_QUEUE_FIELDS = (
    "prepare_queue_depth",
    "ready_queue_depth",
    "active_prepare",
    "active_ready",
    "pending_prefill_count",
    "active_decode_count",
    "next_slot_ready_in_ms",
    "prefill_free_in_ms",
    "predicted_total_backlog_ms",
)
_SAMPLE_IDS = 10
_NEVER_REPORTED = Resource()


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
) -> JsonObject:
    """Build `GET /debug/instance_loads`."""
    return {
        "ok": True,
        "ttl_s": ttl_s,
        "generated_at": snapshot.taken_at.wall_s,
        "metric_source": {**_SIGNAL_SOURCES, "queue_depth": _UNAVAILABLE},
        "instances": [
            {
                "instance_id": view.instance.instance_id,
                "is_alive": view.is_alive,
                "inflight": view.inflight,
                "qps_1m": view.qps_1m,
                **dict.fromkeys(_QUEUE_FIELDS),
                "least_load_score": _score(view, weights),
            }
            for view in shown(snapshot, include_dead=include_dead)
        ],
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
    }


def readings(views: Iterable[InstanceView]) -> list[InstanceReading]:
    """Return what the summary of the pool is made from."""
    return [
        InstanceReading(
            is_alive=view.is_alive,
            inflight=view.inflight,
            qps_1m=view.qps_1m,
            resource=view.resource,
        )
        for view in views
    ]


def kdn_links(topology: Topology) -> JsonObject:
    """Build `GET /v1/topology/kdn_links`."""
    return {
        "kdn_links": {
            key: {**best.link.metrics, "reported_by": best.reported_by}
            for key, best in topology.best().items()
        }
    }


def _instance_row(snapshot: PoolSnapshot, view: InstanceView, raw: bool) -> JsonObject:
    instance = view.instance
    return {
        "instance_id": instance.instance_id,
        "host": instance.host,
        "port": instance.port,
        "endpoints": list(instance.endpoints),
        "tags": list(instance.tags),
        "weight": instance.weight,
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
        "ejected_for_s": view.ejected_for_s,
    }


def _score(view: InstanceView, weights: Mapping[str, float]) -> JsonObject:
    known = {"inflight": float(view.inflight)}
    if view.qps_1m is not None:
        known["qps_1m"] = view.qps_1m
    # An Instance of weight 0 takes no work, so nothing is compared with it.
    share = view.instance.weight
    cost = load_cost(known, weights, share or 1.0)
    return {
        "total": cost.total if cost and share else None,
        "components": cost.terms if cost else {},
        "weighted_components": cost.weighted if cost else {},
        "source": {name: _SIGNAL_SOURCES[name] for name in (cost.terms if cost else ())},
        "queue_source": _UNAVAILABLE,
        "weights": dict(weights),
    }
