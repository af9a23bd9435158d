"""What a console reads in one go: the whole pool as columns, and the figures around it.

A column is a list with a value for each Instance, in the order of `ids`, or one value that holds
for all of them. Null is not known; 0 was measured. Ages are as of `generated_at`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from cacheroute.wire.console_columns import Answers, Counts, Flags, Numbers, Words, spread
from cacheroute.wire.queue_rules import QueueRules

C = TypeVar("C", bound=msgspec.Struct)


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
    unanswered_s: Numbers = None
    """How long it has answered nothing while requests wait; null while none waits for long."""
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


class KdnNodes(msgspec.Struct, frozen=True, kw_only=True):
    """How the knowledge nodes are, a column for each thing known, in the order of `nodes`."""

    nodes: list[str] = []
    """`host:port`, or the bare name that a link to it was reported under."""
    answers: Answers = None
    """Whether it answered when it was asked last; null was not asked."""
    state_age_s: Numbers = None
    """For how long that is so."""
    asked_age_s: Numbers = None
    """Since it was asked last."""
    error: Words = None
    """What went wrong last, in a sentence; null where it answered."""
    running: Counts = 0
    """Links on which it is sending KV."""
    waiting: Counts = 0
    """Transfers that are predicted to begin behind others on their link."""
    bandwidth_mbps: Numbers = None
    """Of the best link to it, as the one below."""
    latency_ms: Numbers = None
    left_out: int = 0
    """Nodes that there was no room for."""


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
    kdn: KdnNodes | None = None
    """Null where it does not tell."""
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
    """Less that of the document, it tells how much later it is, even if the clock was set since."""


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
