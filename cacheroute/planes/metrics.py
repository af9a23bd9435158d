"""The metrics page: what the owner has counted, put into Prometheus text at scrape time.

Nothing here is touched by a request. The table below is also the table in the README.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from cacheroute.core.tally import Histogram, Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """One metric of the page."""

    name: str
    kind: str
    labels: tuple[str, ...]
    help: str


_BACKEND = ("service", "backend", "rule")
_INSTANCE = ("instance",)
_QUEUE = ("instance", "queue")

CATALOGUE: tuple[MetricRow, ...] = (
    MetricRow(
        name="kronaxis_router_requests_total", kind="counter", labels=_BACKEND,
        help="Requests that have ended, by the Instance that had them; empty for none.",
    ),
    MetricRow(
        name="kronaxis_router_errors_total", kind="counter", labels=(*_BACKEND, "cause"),
        help="Requests that did not end well, by cause.",
    ),
    MetricRow(
        name="kronaxis_router_request_duration_ms", kind="histogram", labels=_BACKEND,
        help="From a request's arrival to the end of its answer, in milliseconds.",
    ),
    MetricRow(
        name="cacheroute_ttft_seconds", kind="histogram", labels=_INSTANCE,
        help="From arrival to the first generated content of a stream.",
    ),
    MetricRow(
        name="cacheroute_tpot_seconds", kind="histogram", labels=_INSTANCE,
        help="Time per output token after the first one of a stream.",
    ),
    MetricRow(
        name="cacheroute_queue_wait_seconds", kind="histogram", labels=_INSTANCE,
        help="From arrival until the request was sent to the Instance.",
    ),
    MetricRow(
        name="cacheroute_tokens_total", kind="counter", labels=("instance", "kind"),
        help="Tokens as Instances counted them: prompt, completion, cached (part of prompt).",
    ),
    MetricRow(
        name="cacheroute_inflight", kind="gauge", labels=_INSTANCE,
        help="Requests on the Instance right now.",
    ),
    MetricRow(
        name="cacheroute_queue_depth", kind="gauge", labels=_QUEUE,
        help="Requests that wait before the Instance, to be prepared (prepare) or sent (ready).",
    ),
    MetricRow(
        name="cacheroute_queue_active", kind="gauge", labels=_QUEUE,
        help="Requests past a queue: being prepared (prepare), on the Instance (ready).",
    ),
    MetricRow(
        name="cacheroute_backlog_seconds", kind="gauge", labels=_INSTANCE,
        help="How long one more request would wait at the Instance, as predicted.",
    ),
    MetricRow(
        name="cacheroute_injections_total", kind="counter", labels=("instance", "path"),
        help="Requests of a Scheduler by what became of their knowledge: kv_inject, text_inject, "
        "or why neither.",
    ),
    MetricRow(
        name="cacheroute_prediction_error_ratio", kind="histogram", labels=_INSTANCE,
        help="How wrong the predicted time to first token was, as a share of the actual one.",
    ),
    MetricRow(
        name="cacheroute_instances", kind="gauge", labels=("state",),
        help="Instances of the pool by liveness: alive, stale, dead.",
    ),
    MetricRow(
        name="cacheroute_instance_resting", kind="gauge", labels=_INSTANCE,
        help="1 while the Instance rests after failures or at its own request.",
    ),
    MetricRow(
        name="cacheroute_decisions_total", kind="counter", labels=("strategy",),
        help="Selections made.",
    ),
    MetricRow(
        name="cacheroute_unknown_instance_calls_total", kind="counter", labels=(),
        help="Heartbeats and reports from ids that are not registered.",
    ),
    MetricRow(
        name="cacheroute_scheduler_registered", kind="gauge", labels=(),
        help="1 while the Scheduler answers and lists this Proxy; absent where none is configured.",
    ),
    MetricRow(
        name="cacheroute_client_connections", kind="gauge", labels=(),
        help="Open client connections of the service plane.",
    ),
    MetricRow(
        name="cacheroute_request_memory_bytes", kind="gauge", labels=(),
        help="What is held of requests that are read or answered; `limits.request_bytes` is the "
        "most.",
    ),
    MetricRow(
        name="cacheroute_request_log_dropped_total", kind="counter", labels=(),
        help="Lines of the request log that could not be written.",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueGauges:
    """The queues before one Instance at scrape time."""

    waiting: tuple[int, int]
    """Who waits to be prepared, and to be sent."""
    active: tuple[int, int]
    """Who is being prepared, and is on the Instance."""
    backlog_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceGauges:
    """One Instance at scrape time."""

    instance_id: str
    tally: Tally
    inflight: int
    is_resting: bool
    queues: QueueGauges | None = None
    """None where nothing was queued yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Everything that the page shows, taken in one go."""

    instances: tuple[InstanceGauges, ...]
    nowhere: Tally
    by_liveness: dict[str, int]
    strategy: str
    decisions_total: int
    unknown_calls_total: int
    client_connections: int
    request_memory_bytes: int
    log_dropped_total: int
    is_scheduled: bool | None = None
    """Whether the Scheduler knows this Proxy; None without one."""


Sample = tuple[str, dict[str, str], float]


class Collector:
    """Hands the readings of the moment to prometheus_client."""

    def __init__(self, read: Callable[[], Readings]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Yield every metric of the catalogue."""
        from prometheus_client.metrics_core import Metric

        readings = self._read()
        for row in CATALOGUE:
            name = row.name.removesuffix("_total") if row.kind == "counter" else row.name
            metric = Metric(name, row.help, row.kind)
            for sample_name, labels, value in samples(row.name, readings):
                metric.add_sample(sample_name, labels, value)
            yield metric


def _backend(instance_id: str) -> dict[str, str]:
    return {"service": "", "backend": instance_id, "rule": ""}


def _owned(readings: Readings) -> Iterable[tuple[str, Tally]]:
    yield "", readings.nowhere
    for one in readings.instances:
        yield one.instance_id, one.tally


def _histogram(name: str, labels: dict[str, str], histogram: Histogram) -> Iterator[Sample]:
    rows = histogram.cumulative()
    for bound, count in rows:
        yield f"{name}_bucket", {**labels, "le": bound}, count
    yield f"{name}_count", labels, rows[-1][1]
    yield f"{name}_sum", labels, histogram.total


def samples(name: str, readings: Readings) -> Iterator[Sample]:
    """Yield the samples of one metric of the catalogue."""
    match name:
        case "kronaxis_router_requests_total":
            for instance_id, tally in _owned(readings):
                yield name, _backend(instance_id), tally.requests
        case "kronaxis_router_errors_total":
            for instance_id, tally in _owned(readings):
                for cause, count in sorted(tally.failures.items()):
                    yield name, {**_backend(instance_id), "cause": cause}, count
        case "kronaxis_router_request_duration_ms":
            for instance_id, tally in _owned(readings):
                yield from _histogram(name, _backend(instance_id), tally.duration_ms)
        case (
            "cacheroute_ttft_seconds" | "cacheroute_tpot_seconds" | "cacheroute_queue_wait_seconds"
        ):
            for one in readings.instances:
                histogram = {
                    "cacheroute_ttft_seconds": one.tally.ttft_s,
                    "cacheroute_tpot_seconds": one.tally.tpot_s,
                    "cacheroute_queue_wait_seconds": one.tally.queue_wait_s,
                }[name]
                yield from _histogram(name, {"instance": one.instance_id}, histogram)
        case "cacheroute_prediction_error_ratio":
            for one in readings.instances:
                if any(one.tally.prediction_error.counts):
                    labels = {"instance": one.instance_id}
                    yield from _histogram(name, labels, one.tally.prediction_error)
        case "cacheroute_injections_total":
            for one in readings.instances:
                for path, count in sorted(one.tally.paths.items()):
                    yield name, {"instance": one.instance_id, "path": path}, count
        case "cacheroute_queue_depth" | "cacheroute_queue_active":
            for one in readings.instances:
                if one.queues is not None:
                    is_depth = name == "cacheroute_queue_depth"
                    counts = one.queues.waiting if is_depth else one.queues.active
                    for queue, count in zip(("prepare", "ready"), counts, strict=True):
                        yield name, {"instance": one.instance_id, "queue": queue}, count
        case "cacheroute_backlog_seconds":
            for one in readings.instances:
                if one.queues is not None:
                    yield name, {"instance": one.instance_id}, one.queues.backlog_s
        case "cacheroute_scheduler_registered":
            if readings.is_scheduled is not None:
                yield name, {}, float(readings.is_scheduled)
        case "cacheroute_tokens_total":
            for one in readings.instances:
                for kind, count in (
                    ("prompt", one.tally.prompt_tokens),
                    ("completion", one.tally.completion_tokens),
                    ("cached", one.tally.cached_tokens),
                ):
                    yield name, {"instance": one.instance_id, "kind": kind}, count
        case "cacheroute_inflight":
            for one in readings.instances:
                yield name, {"instance": one.instance_id}, one.inflight
        case "cacheroute_instances":
            for state in ("alive", "stale", "dead"):
                yield name, {"state": state}, readings.by_liveness.get(state, 0)
        case "cacheroute_instance_resting":
            for one in readings.instances:
                yield name, {"instance": one.instance_id}, float(one.is_resting)
        case "cacheroute_decisions_total":
            yield name, {"strategy": readings.strategy}, readings.decisions_total
        case "cacheroute_unknown_instance_calls_total":
            yield name, {}, readings.unknown_calls_total
        case "cacheroute_client_connections":
            yield name, {}, readings.client_connections
        case "cacheroute_request_memory_bytes":
            yield name, {}, readings.request_memory_bytes
        case "cacheroute_request_log_dropped_total":
            yield name, {}, readings.log_dropped_total


def render_metrics(read: Callable[[], Readings]) -> tuple[str, bytes]:
    """Return content type and text of the page."""
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collector(read))
    return CONTENT_TYPE_LATEST, generate_latest(registry)


def catalogue_table() -> str:
    """Write the catalogue as a table for the README."""
    lines = ["| Metric | Kind | Labels | Meaning |", "|---|---|---|---|"]
    for row in CATALOGUE:
        labels = ", ".join(f"`{label}`" for label in row.labels) or "–"
        lines.append(f"| `{row.name}` | {row.kind} | {labels} | {row.help} |")
    return "\n".join(lines)
