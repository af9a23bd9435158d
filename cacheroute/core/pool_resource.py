"""What the whole pool has left: the summary a Scheduler gets and operators read.

Null is unavailable, 0 is a measured zero; a ratio counts only Instances that know both
sides of it. Only alive Instances with a snapshot count as reporting.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import msgspec

from cacheroute.core.clock import Instant
from cacheroute.core.resources import Resource

SCHEMA_VERSION = 1
NULL_SEMANTICS = "null means unavailable, 0 means a measured zero"
_UNAVAILABLE = "unavailable"
_SNAPSHOT = "instance_resource_snapshot"
_QUEUES = "proxy_queue_manager"


# One for each of a thousand Instances, every second; a frozen dataclass takes five times as long.
class InstanceReading(msgspec.Struct, frozen=True, kw_only=True):
    """What the summary needs to know of one Instance."""

    is_alive: bool
    """Whether it was heard from within the time-to-live."""
    inflight: int | None = None
    """Requests we have with it now."""
    qps_1m: float | None = None
    """Requests a second over the last minute, as its heartbeat says."""
    prepare_queue_depth: int | None = None
    """Requests for it that wait to be prepared; None where nothing queues."""
    ready_queue_depth: int | None = None
    """Requests for it that wait to be forwarded; None where nothing queues."""
    resource: Resource | None = None
    """Its last snapshot, normalised; None before the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Admission:
    """How many reporting Instances say what."""

    alive: int
    missing: int
    accepting: int
    degraded: int
    rejecting: int

    @property
    def silent(self) -> int:
        """Reporting, but with no admission state we know."""
        return self.alive - self.missing - self.accepting - self.degraded - self.rejecting

    @property
    def state(self) -> str:
        """The published rule, first match first."""
        if self.alive == 0 or self.rejecting == self.alive:
            return "rejecting"
        if self.degraded or self.rejecting or self.missing:
            return "degraded"
        return "accepting"

    def reason(self, stale: int) -> str:
        """The counts behind `state`, as a sentence."""
        if self.alive == 0 and stale == 0:
            return "No Instance is registered."
        if self.alive == 0:
            return f"No Instance is alive; silent past the time-to-live: {stale}."
        counts = {
            "accepting": self.accepting,
            "degraded": self.degraded,
            "rejecting": self.rejecting,
            "without a snapshot": self.missing,
            "without an admission state": self.silent,
        }
        said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        return f"Of {self.alive} alive: {said}."


def pool_resource(
    readings: Sequence[InstanceReading],
    *,
    proxy_id: str,
    ttl_s: int,
    capacity: int,
    now: Instant,
) -> dict[str, object]:
    """Summarise the pool as `pool_resource` (protocol, 1.6), every key present."""
    alive = [reading for reading in readings if reading.is_alive]
    reporting = [
        reading.resource
        for reading in alive
        if reading.resource is not None and reading.resource.is_reported
    ]
    stale = len(readings) - len(alive)
    admission = _admission(reporting, alive=len(alive))
    load = _load(alive, capacity)
    return {
        "schema_version": SCHEMA_VERSION,
        "proxy_id": proxy_id,
        "generated_at": now.wall_s,
        "ttl_s": ttl_s,
        "resource_freshness_s": _spread(resource.age_s(now) for resource in reporting),
        "pool_admission_state": admission.state,
        "pool_admission_reason": admission.reason(stale),
        "instances": {
            "total": len(readings),
            "alive": len(alive),
            "stale": stale,
            "with_resource": len(reporting),
            "missing_resource": admission.missing,
            "accepting": admission.accepting,
            "degraded": admission.degraded,
            "rejecting": admission.rejecting,
        },
        "load": load,
        "utilization": _utilization(reporting),
        "metric_source": _metric_source(load, is_reporting=bool(reporting)),
        "metric_quality": _metric_quality(alive, reporting),
    }


def pool_resource_sources(summary: Mapping[str, object]) -> dict[str, object]:
    """Return only where the numbers of a summary come from and how complete they are."""
    return {
        "metric_source": summary["metric_source"],
        "metric_quality": summary["metric_quality"],
        "null_semantics": NULL_SEMANTICS,
    }


def _admission(reporting: Sequence[Resource], *, alive: int) -> _Admission:
    states = [(resource.admission_state or "").strip().lower() for resource in reporting]
    return _Admission(
        alive=alive,
        missing=alive - len(reporting),
        accepting=states.count("accepting"),
        degraded=states.count("degraded"),
        rejecting=states.count("rejecting"),
    )


def _load(alive: Sequence[InstanceReading], capacity: int) -> dict[str, float | None]:
    inflight = _sum(reading.inflight for reading in alive)
    prepare = _sum(reading.prepare_queue_depth for reading in alive)
    ready = _sum(reading.ready_queue_depth for reading in alive)
    return {
        "inflight_total": inflight,
        "qps_1m_total": _sum(reading.qps_1m for reading in alive),
        "load_ratio": _ratio(inflight, capacity),
        "capacity": capacity,
        "prepare_queue_depth": prepare,
        "ready_queue_depth": ready,
        "queue_pressure": _ratio(_sum((prepare, ready)), capacity),
    }


def _utilization(reporting: Sequence[Resource]) -> dict[str, float | None]:
    def over(reduce: Callable[[Iterable[float | None]], float | None], name: str) -> float | None:
        return reduce(map(attrgetter(name), reporting))

    return {
        "cpu_avg": over(_avg, "cpu_util"),
        "cpu_max": over(_max, "cpu_util"),
        "memory_used_mb": over(_sum, "memory_used_mb"),
        "memory_total_mb": over(_sum, "memory_total_mb"),
        "memory_used_ratio": _paired_ratio(
            (it.memory_used_mb, it.memory_total_mb) for it in reporting
        ),
        "memory_free_ratio_min": over(_min, "memory_free_ratio"),
        "gpu_util_avg": over(_avg, "gpu_util_avg"),
        # The published meaning: the highest average, not the highest sample.
        "gpu_util_max": over(_max, "gpu_util_avg"),
        "gpu_mem_used_mb": over(_sum, "gpu_mem_used_mb"),
        "gpu_mem_total_mb": over(_sum, "gpu_mem_total_mb"),
        "gpu_mem_used_ratio": _paired_ratio(
            (it.gpu_mem_used_mb, it.gpu_mem_total_mb) for it in reporting
        ),
        "network_rx_mbps_total": over(_sum, "network_rx_mbps"),
        "network_tx_mbps_total": over(_sum, "network_tx_mbps"),
    }


def _metric_source(load: Mapping[str, object], *, is_reporting: bool) -> dict[str, str]:
    from_load = {
        "inflight_total": "proxy_lifecycle_counter",
        "qps_1m_total": "instance_heartbeat",
        "load_ratio": "derived_from_inflight_capacity",
        "capacity": "proxy_config",
        "prepare_queue_depth": _QUEUES,
        "ready_queue_depth": _QUEUES,
        "queue_pressure": "derived_from_queue_depth_capacity",
    }
    freshness = "derived_from_instance_resource_report_time"
    return {
        "instances": "proxy_instance_pool_ttl",
        "resource": _SNAPSHOT if is_reporting else _UNAVAILABLE,
        **{
            name: source if load[name] is not None else _UNAVAILABLE
            for name, source in from_load.items()
        },
        "utilization": _SNAPSHOT if is_reporting else _UNAVAILABLE,
        "pool_admission_state": "derived_from_instance_resource_admission",
        "resource_freshness_s": freshness if is_reporting else _UNAVAILABLE,
    }


def _metric_quality(
    alive: Sequence[InstanceReading],
    reporting: Sequence[Resource],
) -> dict[str, str]:
    load = [value for it in alive for value in (it.inflight, it.qps_1m)]
    queue = [value for it in alive for value in (it.prepare_queue_depth, it.ready_queue_depth)]
    return {
        "resource": _quality(len(reporting), len(alive)),
        "load": _quality(len(_known(load)), len(load)),
        "queue": _quality(len(_known(queue)), len(queue)),
    }


def _quality(known: int, expected: int) -> str:
    if known == 0:
        return "missing"
    return "complete" if known == expected else "partial"


def _known(values: Iterable[float | None]) -> list[float]:
    known = [value for value in values if value is not None]
    return known if all(map(math.isfinite, known)) else list(filter(math.isfinite, known))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    total = sum(known)
    if not math.isfinite(total):  # a sum tells of all of them at once
        known = list(filter(math.isfinite, known))
        total = sum(known)
    return _finite(total) if known else None


def _avg(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return _finite(sum(known) / len(known)) if known else None


def _min(values: Iterable[float | None]) -> float | None:
    return min(_known(values), default=None)


def _max(values: Iterable[float | None]) -> float | None:
    return max(_known(values), default=None)


def _spread(values: Iterable[float | None]) -> dict[str, float | None]:
    known = list(values)
    return {"min": _min(known), "avg": _avg(known), "max": _max(known)}


def _ratio(part: float | None, whole: float | None) -> float | None:
    if part is None or whole is None or whole <= 0:
        return None
    return _finite(part / whole)


def _paired_ratio(pairs: Iterable[tuple[float | None, float | None]]) -> float | None:
    both = [(used, total) for used, total in pairs if used is not None and total is not None]
    return _ratio(_sum(used for used, _ in both), _sum(total for _, total in both))
