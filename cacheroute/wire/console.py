"""What a console reads in one go: the whole pool as columns, and the figures around it.

A column is a list with a value for each Instance, in the order of `ids`, or one value that holds
for all of them. Null is not known; 0 was measured. Ages are as of `generated_at`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
C = TypeVar("C", bound=msgspec.Struct)

Numbers = list[float | None] | float | None
Counts = list[int | None] | int | None
Words = list[str | None] | str | None
Flags = list[bool] | bool


class Lists(msgspec.Struct, frozen=True):
    """A column of lists of words: few are different, so each stands once."""

    values: list[list[str] | None] = []
    at: list[int] | int = 0
    """Which of them each Instance has."""


class Identities(msgspec.Struct, frozen=True, kw_only=True):
    """Who the Instances are: what changes only when somebody comes, goes or is described anew."""

    ids: list[str] = []
    host: Words = None
    port: Counts = None
    base_path: Words = None
    origin: Words = None
    """`registered` or `static`."""
    models: Lists = Lists()
    endpoints: Lists = Lists()
    tags: Lists = Lists()
    own_weight: Numbers = None
    """The weight it gave itself."""
    max_concurrent: Counts = None
    """Its own cap on requests at once; null is none, and then the rules' counts."""


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """How the Instances are, a column for each thing known of them, in the order of `ids`."""

    state: Words = None
    """`alive`, `stale` or `dead`."""
    age_s: Numbers = None
    """Seconds of silence."""
    draining: Flags = False
    weight: Numbers = 1.0
    ejected_for_s: Numbers = 0.0
    inflight: Counts = None
    qps_1m: Numbers = None
    score: Numbers = None
    """The Proxy's own total of `least_load`; lower wins."""
    prepare_queue_depth: Counts = None
    ready_queue_depth: Counts = None
    active_prepare: Counts = None
    active_ready: Counts = None
    pending_prefill_count: Counts = None
    active_decode_count: Counts = None
    next_slot_ready_in_ms: Numbers = None
    prefill_free_in_ms: Numbers = None
    predicted_total_backlog_ms: Numbers = None
    cpu_util: Numbers = None
    memory_used_mb: Numbers = None
    memory_total_mb: Numbers = None
    gpu_util: Numbers = None
    """What its heartbeat said; percent, as the three below."""
    gpu_util_avg: Numbers = None
    gpu_util_current: Numbers = None
    gpu_util_max: Numbers = None
    gpu_sample_age_ms: Counts = None
    gpu_sample_source: Words = None
    gpu_sample_quality: Words = None
    gpu_mem_used_mb: Numbers = None
    gpu_mem_total_mb: Numbers = None
    network_rx_mbps: Numbers = None
    network_tx_mbps: Numbers = None
    admission_state: Words = None
    report_age_s: Numbers = None
    """Since its last resource report came."""
    clock_skew_ms: Counts = None
    requests: Counts = None
    """Requests that were sent to it and have ended, since it came."""
    failures: Counts = None
    """Those of them that did not end well."""
    kv_links: Counts = None
    """Knowledge nodes that a path to it is known from."""
    kv_links_busy: Counts = None
    """Nodes that are sending it KV."""


class Proxy(msgspec.Struct, frozen=True, kw_only=True):
    """The Proxy itself; null is not told."""

    proxy_id: str | None = None
    version: str | None = None
    strategy: str | None = None
    uptime_s: float | None = None
    draining: bool | None = None
    injection_strategy: str | None = None
    """Who chooses between text and KV."""


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """What is summed up over all that are alive; null is not known."""

    admission_state: str | None = None
    admission_reason: str | None = None
    accepting: int | None = None
    degraded: int | None = None
    rejecting: int | None = None
    inflight: int | None = None
    qps_1m: float | None = None
    prepare_queue_depth: int | None = None
    ready_queue_depth: int | None = None
    cpu_util_avg: float | None = None
    """Percent, as the two below."""
    memory_used_percent: float | None = None
    gpu_util_avg: float | None = None
    gpu_mem_used_percent: float | None = None
    network_rx_mbps: float | None = None
    network_tx_mbps: float | None = None
    capacity: int | None = None
    """Requests at once that count as full."""


class QueueRules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of the queues before each Instance; null is not told."""

    prepare_concurrency: int | None = None
    """Most requests that are prepared for one Instance at once."""
    ready_concurrency: int | None = None
    """Most prepared requests on one Instance at once, unless it has a cap of its own."""
    max_queue: int | None = None
    """Most requests that wait at one turnstile of an Instance."""
    wait_at_cap: bool | None = None
    """Whether a plain request waits where every Instance is at its own cap."""
    release_policy: str | None = None
    """`ordered` or `text_bypass`."""
    text_bypass_max_per_flush: int | None = None
    """Most text requests that pass a waiting head at a time, with `text_bypass`."""


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted since the Proxy started: two looks tell a rate."""

    requests: int = 0
    """Requests that have ended, however."""
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    ttft_counts: list[int] = []
    """Times to first token that fell into each bucket; the last has no upper bound."""
    ttft_bounds_s: list[float] = []
    decisions: int = 0
    traces: int = 0


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """Requests that named knowledge, by what became of it."""

    kv_inject: int = 0
    text_inject: int = 0
    fallback: int = 0


class PredictionErrors(msgspec.Struct, frozen=True, kw_only=True):
    """How wrong the predicted times to first token were."""

    count: int = 0
    window: int = 0
    p50_ratio: float | None = None
    p90_ratio: float | None = None


class SchedulerSide(msgspec.Struct, frozen=True, kw_only=True):
    """How the Proxy stands with its Scheduler, as in `GET /debug/scheduler`."""

    state: str = "off"
    url: str | None = None
    state_age_s: float | None = None
    proxy_id: str | None = None
    last_error: str | None = None
    registrations: int = 0
    heartbeats: int = 0
    failures: int = 0
    heard_age_s: float | None = None
    heartbeat_interval_s: float | None = None


class ConsoleSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /v1/console/snapshot`."""

    rev: int
    """Moves when anything but the time does; it starts anew with the Proxy."""
    generated_at: float
    """Seconds since the epoch, by the Proxy's clock."""
    run: str = ""
    """Another one after a restart, so that numbers are not taken for the same."""
    ttl_s: int | None = None
    proxy: Proxy = Proxy()
    pool: Pool = Pool()
    totals: Totals | None = None
    """Null where the Proxy does not tell."""
    knowledge: Knowledge | None = None
    prediction_errors: PredictionErrors | None = None
    scheduler: SchedulerSide | None = None
    """Null where it does not tell."""
    queue_rules: QueueRules | None = None
    """Null where it does not tell."""
    weights: dict[str, float] = {}
    """What `least_load` weighs each signal with."""
    sources: dict[str, str] = {}
    """Who counts each signal."""
    who: int = 0
    """Moves when `identities` do."""
    identities: Identities | None = None
    """Null when the reader has those of this `who` already."""
    instances: Columns = Columns()

    @property
    def ids(self) -> list[str]:
        """The Instances, in the order of every column."""
        return [] if self.identities is None else self.identities.ids


class Unchanged(msgspec.Struct, frozen=True, kw_only=True):
    """What is answered when `since` is the newest: only the time has moved."""

    rev: int
    unchanged: bool
    generated_at: float
    run: str = ""
    uptime_s: float | None = None
    """How much later it is than the document: the wall clock may have been set since."""


def pool_of(summary: Mapping[str, object]) -> Pool:
    """Take out of `pool_resource` what a console shows; its shape differs between versions."""

    def at(*path: str) -> object:
        value: object = summary
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    return Pool(
        admission_state=_text(at("pool_admission_state")),
        admission_reason=_text(at("pool_admission_reason")),
        accepting=_count(at("instances", "accepting")),
        degraded=_count(at("instances", "degraded")),
        rejecting=_count(at("instances", "rejecting")),
        inflight=_count(at("load", "inflight_total")),
        qps_1m=_number(at("load", "qps_1m_total")),
        prepare_queue_depth=_count(at("load", "prepare_queue_depth")),
        ready_queue_depth=_count(at("load", "ready_queue_depth")),
        capacity=_count(at("load", "capacity")),
        cpu_util_avg=_number(at("utilization", "cpu_avg")),
        memory_used_percent=_percent(at("utilization", "memory_used_ratio")),
        gpu_util_avg=_number(at("utilization", "gpu_util_avg")),
        gpu_mem_used_percent=_percent(at("utilization", "gpu_mem_used_ratio")),
        network_rx_mbps=_number(at("utilization", "network_rx_mbps_total")),
        network_tx_mbps=_number(at("utilization", "network_tx_mbps_total")),
    )


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(value: object) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _percent(value: object) -> float | None:
    ratio = _number(value)
    return None if ratio is None else 100 * ratio


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


class NotASnapshot(ValueError):
    """The bytes are no document of this kind."""


_READ_SNAPSHOT = msgspec.json.Decoder(ConsoleSnapshot)
_READ_UNCHANGED = msgspec.json.Decoder(Unchanged)
_UNCHANGED_BYTES = 400


def read_snapshot(
    document: bytes, known: ConsoleSnapshot | None = None
) -> ConsoleSnapshot | Unchanged:
    """Read an answer; raises NotASnapshot with what is wrong.

    Who the Instances are is taken from the last document, `known`, where it is left out.
    """
    try:
        if len(document) <= _UNCHANGED_BYTES and b'"unchanged"' in document:
            return _READ_UNCHANGED.decode(document)
        found = _READ_SNAPSHOT.decode(document)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        raise NotASnapshot(str(problem)) from problem
    if found.identities is not None:
        return found
    if known is None or known.identities is None or known.who != found.who:
        raise NotASnapshot("it leaves out who the Instances are, and nobody has said it before")
    return msgspec.structs.replace(found, identities=known.identities)


def folded(column: list[T]) -> list[T] | T:
    """Write a column whose values are all the same as that one value."""
    # Most columns that differ do so in their ends already, and need not be counted through.
    if column and column[0] == column[-1] and column.count(column[0]) == len(column):
        return column[0]
    return column


def spread(column: Any, count: int) -> list[Any]:
    """Return a value for each Instance; a list of another length is cut or filled with None."""
    if not isinstance(column, list):
        return [column] * count
    if len(column) == count:
        return column
    return [*column[:count], *[None] * (count - len(column))]


def only(snapshot: ConsoleSnapshot, ids: Iterable[str]) -> ConsoleSnapshot:
    """Return the document with these Instances alone, as far as they are in it."""
    count, wanted = len(snapshot.ids), frozenset(ids)
    places = [at for at, id_ in enumerate(snapshot.ids) if id_ in wanted]
    identities = _picked(snapshot.identities or Identities(), places, count)
    instances = _picked(snapshot.instances, places, count)
    return msgspec.structs.replace(snapshot, identities=identities, instances=instances)


def _picked(columns: C, places: Sequence[int], count: int) -> C:
    picked: dict[str, Any] = {}
    for name in columns.__struct_fields__:
        column = getattr(columns, name)
        if isinstance(column, Lists):
            at = spread(column.at, count)
            picked[name] = Lists(values=column.values, at=[at[place] for place in places])
        elif isinstance(column, list):
            column = spread(column, count)
            picked[name] = [column[place] for place in places]
    return msgspec.structs.replace(columns, **picked)


def spread_lists(column: Lists, count: int) -> list[list[str] | None]:
    """Return the list of words of each Instance."""
    values = column.values
    if isinstance(column.at, int):
        return [values[column.at] if 0 <= column.at < len(values) else None] * count
    return [
        values[at] if isinstance(at, int) and 0 <= at < len(values) else None
        for at in spread(column.at, count)
    ]
