"""What a host says it has left, in one vocabulary.

Agents of several kinds report; this is the only place that reads their snapshots. A
number nobody measured is None, never 0, and nothing a snapshot holds can raise here.
Liveness and age follow the moment of receipt: the sender's clock is only information.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TypeVar

from cacheroute.core.clock import Instant

_Known = TypeVar("_Known")

MAX_TEXT_CHARS = 256
MAX_RAW_DEPTH = 32
_MAX_NUMBER_CHARS = 64
_INTEGER_LIMIT = 2**63

_UTIL_AVG = ("utilization_pct_avg", "utilization_pct", "utilization_gpu_pct", "gpu_util", "util")
_UTIL_CURRENT = ("utilization_pct_current", "utilization_current", "gpu_util_current")
_UTIL_MAX = ("utilization_pct_max", "gpu_util_max")
_COUNT = ("utilization_sample_count", "gpu_sample_count")
_WINDOW = ("utilization_window_ms", "gpu_sample_window_ms")
_SOURCE = ("utilization_source", "gpu_sample_source", "source")
_QUALITY = ("utilization_sample_quality", "gpu_sample_quality")
_INVALID_QUALITIES = frozenset(
    {"invalid", "failed", "error", "command_error", "parse_error", "unsupported"},
)
_NO_TEXT = frozenset({"", "n/a", "[n/a]", "not supported", "[not supported]"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One report, normalised; the field order is the published one (protocol, 5.2)."""

    cpu_util: float | None = None
    """Percent of all processors together, 0 to 100."""
    memory_used_mb: float | None = None
    """Host memory in use, in MiB."""
    memory_total_mb: float | None = None
    """Host memory, in MiB."""
    memory_free_mb: float | None = None
    """Host memory that can be had without swapping, in MiB."""
    memory_free_ratio: float | None = None
    """The agent's own ratio, 0 to 1; what its admission state rests on."""
    gpu_util_avg: float | None = None
    """Mean over the GPUs of their averages over the window, in percent."""
    gpu_util_current: float | None = None
    """Mean over the GPUs of their newest samples, in percent."""
    gpu_util_max: float | None = None
    """The busiest sample of any GPU in the window, in percent."""
    gpu_sample_count: int | None = None
    """Samples behind the averages, all GPUs together."""
    gpu_sample_age_ms: int | None = None
    """How old the newest GPU sample was when the snapshot was taken; never negative."""
    gpu_sample_source: str | None = None
    """Where the first GPU's numbers come from, for example `nvml`."""
    gpu_sample_quality: str | None = None
    """`ok` if any GPU had a usable utilisation, else what the first GPU said."""
    gpu_sample_window_ms: int | None = None
    """The longest averaging window of any GPU."""
    gpu_mem_used_mb: float | None = None
    """GPU memory in use, all GPUs together, in MiB."""
    gpu_mem_total_mb: float | None = None
    """GPU memory, all GPUs together, in MiB."""
    network_rx_mbps: float | None = None
    """Received by the first interface listed, in 10^6 bit/s."""
    network_tx_mbps: float | None = None
    """Sent by the first interface listed, in 10^6 bit/s."""
    admission_state: str | None = None
    """The agent's hint: `accepting`, `degraded` or `rejecting`."""
    resource_ts_ms: int | None = None
    """When the agent took the snapshot, by its own clock."""
    resource_reported_at: int | None = None
    """When the report arrived here, in whole seconds since the epoch."""
    resource_report_monotonic_ms: int | None = None
    """The reporter's monotonic clock as it sent the report."""
    resource_report_wall_time_ms: int | None = None
    """The reporter's wall clock as it sent the report."""
    reported_instance_id: str | None = None
    """Whose snapshot the reporter believed it was sending."""
    raw_resource: Mapping[str, object] = field(default_factory=dict)
    """The snapshot as sent, except for what no JSON reply could carry."""
    received: Instant | None = None
    """When the report arrived, on both clocks; not on the wire."""

    @property
    def is_reported(self) -> bool:
        """Whether there ever was a snapshot with anything in it."""
        return self.received is not None and bool(self.raw_resource)

    def age_s(self, now: Instant) -> float | None:
        """Seconds since the report arrived; None before the first, never negative."""
        return None if self.received is None else max(0.0, now.mono_s - self.received.mono_s)

    @property
    def clock_skew_ms(self) -> int | None:
        """How far the agent's clock is ahead of ours, network delay included."""
        if self.received is None or self.resource_ts_ms is None:
            return None
        return self.resource_ts_ms - self.received.wall_ms

    def as_wire(self, *, raw: bool) -> dict[str, object]:
        """Return every published field, null where unknown; `raw` adds `raw_resource`."""
        wire: dict[str, object] = {name: getattr(self, name) for name in _PUBLISHED}
        if raw:
            wire["raw_resource"] = self.raw_resource
        return wire


_PUBLISHED = tuple(
    each.name for each in fields(Resource) if each.name not in {"raw_resource", "received"}
)


def normalise(
    snapshot: Mapping[str, object],
    metadata: Mapping[str, object],
    received: Instant,
) -> Resource:
    """Read one agent snapshot; whatever is missing or makes no sense becomes None."""
    devices = _object(snapshot.get("devices"))
    cpu = _object(devices.get("cpu"))
    memory = _object(devices.get("memory"))
    capacity = _object(snapshot.get("capacity_hint"))
    gpus = _objects(devices.get("gpu"))
    network = _object(next(iter(_items(devices.get("network"))), None))

    usable = [gpu for gpu in gpus if _is_usable(gpu)]
    with_memory = [gpu for gpu in gpus if _has_memory(gpu)]
    gpu_util_avg = _mean(_first_number(gpu, _UTIL_AVG) for gpu in usable)
    taken_ms = _integer(snapshot.get("timestamp_ms"))
    return Resource(
        cpu_util=_number(cpu.get("utilization_pct")),
        memory_used_mb=_number(memory.get("used_mb")),
        memory_total_mb=_number(memory.get("total_mb")),
        memory_free_mb=_number(memory.get("free_mb")),
        memory_free_ratio=_number(capacity.get("memory_free_ratio")),
        gpu_util_avg=gpu_util_avg,
        gpu_util_current=_mean(_first_number(gpu, _UTIL_CURRENT) for gpu in usable),
        gpu_util_max=max(_known(_first_number(gpu, _UTIL_MAX) for gpu in usable), default=None),
        gpu_sample_count=_integer(_total(_first_number(gpu, _COUNT) for gpu in gpus)),
        gpu_sample_age_ms=_sample_age_ms(gpus, taken_ms),
        gpu_sample_source=next(iter(_known(_first_text(gpu, _SOURCE) for gpu in gpus)), None),
        gpu_sample_quality="ok" if gpu_util_avg is not None else _first_quality(gpus),
        gpu_sample_window_ms=_integer(
            max(_known(_first_number(gpu, _WINDOW) for gpu in gpus), default=None),
        ),
        gpu_mem_used_mb=_total(_number(gpu.get("memory_used_mb")) for gpu in with_memory),
        gpu_mem_total_mb=_total(_number(gpu.get("memory_total_mb")) for gpu in with_memory),
        network_rx_mbps=_number(network.get("rx_mbps")),
        network_tx_mbps=_number(network.get("tx_mbps")),
        admission_state=_text(capacity.get("admission_state")),
        resource_ts_ms=taken_ms,
        resource_reported_at=int(received.wall_s),
        resource_report_monotonic_ms=_integer(metadata.get("report_monotonic_ms")),
        resource_report_wall_time_ms=_integer(metadata.get("report_wall_time_ms")),
        reported_instance_id=_text(metadata.get("reported_instance_id")),
        raw_resource=_servable_object(snapshot, MAX_RAW_DEPTH),
        received=received,
    )


def _is_usable(gpu: Mapping[str, object]) -> bool:
    quality = _first_text(gpu, _QUALITY)
    is_refused = quality is not None and quality.lower() in _INVALID_QUALITIES
    return gpu.get("utilization_sample_ok") is not False and not is_refused


def _has_memory(gpu: Mapping[str, object]) -> bool:
    # Not the same question as `_is_usable`: a partitioned GPU has no utilisation but does
    # know its memory, while a stand-in for "no GPU" may claim 0 of 0 MiB.
    return _number(gpu.get("memory_total_mb")) != 0


def _sample_age_ms(gpus: Sequence[Mapping[str, object]], taken_ms: int | None) -> int | None:
    sampled = _known(_integer(gpu.get("utilization_sample_timestamp_ms")) for gpu in gpus)
    return max(0, taken_ms - max(sampled)) if taken_ms is not None and sampled else None


def _first_quality(gpus: Sequence[Mapping[str, object]]) -> str | None:
    return next(iter(_known(_first_text(gpu, _QUALITY) for gpu in gpus)), None)


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _objects(value: object) -> list[Mapping[str, object]]:
    return [item for item in _items(value) if isinstance(item, dict)]


def _known(values: Iterable[_Known | None]) -> list[_Known]:
    return [value for value in values if value is not None]


def _first_number(gpu: Mapping[str, object], names: Iterable[str]) -> float | None:
    for name in names:
        number = _number(gpu.get(name))
        if number is not None:
            return number
    return None


def _first_text(gpu: Mapping[str, object], names: Iterable[str]) -> str | None:
    for name in names:
        text = _text(gpu.get(name))
        if text is not None:
            return text
    return None


def _total(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return _finite(sum(known)) if known else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return _finite(sum(known) / len(known)) if known else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: object) -> float | None:
    """Read a number or a number in text; None for anything else, `N/A` and its kin included."""
    # Exact types: a bool is an int to Python, and nothing else but these comes from JSON.
    if type(value) is str:
        if len(value) > _MAX_NUMBER_CHARS or "_" in value:
            return None
    elif type(value) is not int and type(value) is not float:
        return None
    try:
        return _finite(float(value))
    except (ValueError, OverflowError):
        return None


def _integer(value: object) -> int | None:
    number = _number(value)
    if number is None or abs(number) >= _INTEGER_LIMIT:
        return None
    return value if isinstance(value, int) else int(number)


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    text = _servable_text(value.strip()[:MAX_TEXT_CHARS])
    return None if text.lower() in _NO_TEXT else text


def _servable_text(text: str) -> str:
    # A lone surrogate is legal in JSON and cannot be encoded: it would fail the whole reply.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _servable_object(value: Mapping[str, object], depth: int) -> dict[str, object]:
    return {_servable_text(str(name)): _servable(item, depth - 1) for name, item in value.items()}


def _servable(value: object, depth: int) -> object:
    """Copy what a JSON reply can carry; one Instance's NaN must not fail the list of all."""
    if isinstance(value, str):
        return _servable_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < _INTEGER_LIMIT else None
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, dict) and depth > 0:
        return _servable_object(value, depth)
    if isinstance(value, list) and depth > 0:
        return [_servable(item, depth - 1) for item in value]
    return None
