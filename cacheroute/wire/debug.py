"""What the debug pages of the control plane say.

Null is not known; 0 was measured. Keys that another Proxy does not send have defaults.
"""

from pydantic import BaseModel, ConfigDict, Field

from cacheroute.wire.instances import ResourceRow
from cacheroute.wire.queue_rules import QueueRules


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class HealthReply(_Reply):
    """`GET /healthz`."""

    ok: bool
    ttl_s: int | None = None


class ReadyReply(_Reply):
    """`GET /ready`; 503 with `ok` false and a reason."""

    ok: bool
    reason: str | None = None
    """`draining` or `no_instance`."""


class KnowledgeCountsRow(_Reply):
    """Requests that named knowledge, by what became of it."""

    kv_inject: int = 0
    text_inject: int = 0
    fallback: int = 0
    """Those that went on with less than was wanted."""


class PredictionErrorsRow(_Reply):
    """How wrong the predicted times to first token were: |predicted - actual| / actual."""

    count: int = 0
    """Predictions that could be compared."""
    window: int = 0
    """How many of them, the last ones, the two below are over."""
    p50_ratio: float | None = None
    p90_ratio: float | None = None


class FailingNodeRow(_Reply):
    """A knowledge node that did not answer when it was asked last."""

    node: str
    """Its `host:port`."""
    failing_s: float
    """Since it failed first; it has not answered in between."""
    asked_age_s: float
    """Since it was asked last."""
    error: str | None = None
    """What went wrong last, in a sentence."""


class StatusReply(_Reply):
    """`GET /debug/status`.

    From `proxy_id` on, the keys are ours: a reply of another Proxy lacks them.
    """

    ok: bool
    ttl_s: int
    alive_instances: int
    total_instances: int
    expired_instances: int
    sample_ids: list[str] = Field(default_factory=list)
    """At most ten ids that are alive."""
    topology_kdn_links: int = 0
    proxy_id: str | None = None
    version: str | None = None
    strategy: str | None = None
    uptime_s: float | None = None
    draining: bool = False
    inflight: int | None = None
    """Requests on all Instances together."""
    stale_instances: int | None = None
    dead_instances: int | None = None
    unknown_reports: int | None = None
    """Heartbeats and snapshots of ids nobody registered."""
    scheduler_state: str | None = None
    """`off`, `registering`, `registered`, `unreachable` or `refused`."""
    knowledge: KnowledgeCountsRow | None = None
    """Of the Instances that are in the pool."""
    prediction_error: PredictionErrorsRow | None = None
    """Over all Instances."""
    injection_strategy: str | None = None
    """Who chooses between text and KV."""
    kdn_failing: list[FailingNodeRow] = Field(default_factory=list)
    """At most 32 knowledge nodes, those that have failed for longest first."""


class SchedulerReply(_Reply):
    """`GET /debug/scheduler`: how the Proxy stands with its Scheduler."""

    ok: bool
    url: str | None = None
    """Null where the Proxy registers with none."""
    state: str
    """`off`, `registering`, `registered`, `unreachable` or `refused`."""
    state_age_s: float | None = None
    """For how long it has been so."""
    proxy_id: str | None = None
    last_error: str | None = None
    """What went wrong last, a sentence; kept when all is well again."""
    registrations: int = 0
    """More than one means that the Scheduler had forgotten the Proxy."""
    heartbeats: int = 0
    failures: int = 0
    """Calls that failed one after the other."""
    heard_age_s: float | None = None
    """Since when no call has worked; null before the first."""
    heartbeat_interval_s: float | None = None
    """As the Scheduler asked for."""


class CorrectionRow(_Reply):
    """What one kind of prediction is multiplied with."""

    factor: float
    """Observed over predicted; 1 is as the coefficients say."""
    count: int
    """Observations behind it."""


class InstancePredictionsRow(_Reply):
    """What was learned about one Instance."""

    instance_id: str
    errors: PredictionErrorsRow
    corrections: dict[str, CorrectionRow] = Field(default_factory=dict)
    """`text_prefill`, `kv_prefill`, `transfer` and `decode`."""
    answer_tokens: float | None = None
    """How long its answers are taken to be, a mean that fades; 128 before one was seen."""


class PredictionsReply(_Reply):
    """`GET /debug/predictions`: how well the fleet is predicted, and from what."""

    ok: bool
    generated_at: float
    """Seconds since the epoch."""
    errors: PredictionErrorsRow
    """Over all Instances."""
    instances: list[InstancePredictionsRow] = Field(default_factory=list)
    """Those that something was predicted of."""
    coefficients: dict[str, object] = Field(default_factory=dict)
    """The document in use, without the measured curve of short prompts."""
    source: str | None = None
    """`published` for the documented default, `document` for a file of one's own."""
    fitted: dict[str, object] = Field(default_factory=dict)
    """What the document says of where it is from: when, of what, with which error."""


class InstanceResourceRow(_Reply):
    """One Instance and its normalised resources."""

    instance_id: str
    host: str
    port: int
    last_seen_at: int
    resource: ResourceRow


class InstanceResourcesReply(_Reply):
    """`GET /debug/instance_resources`."""

    instances: list[InstanceResourceRow]


class LoadScore(_Reply):
    """What `least_load` makes of one Instance; lower wins."""

    total: float | None = None
    """Null when nothing is known, or when its weight is 0."""
    components: dict[str, float] = Field(default_factory=dict)
    """Values that are known, unweighted."""
    weighted_components: dict[str, float] = Field(default_factory=dict)
    """The same times their weight, where the weight is not 0."""
    source: dict[str, str] = Field(default_factory=dict)
    queue_source: str = "unavailable"
    weights: dict[str, float] = Field(default_factory=dict)
    """All nine."""


class InstanceLoadRow(_Reply):
    """The load of one Instance; queue figures are null where nothing queues."""

    instance_id: str
    is_alive: bool
    inflight: int | None = None
    qps_1m: float | None = None
    prepare_queue_depth: int | None = None
    ready_queue_depth: int | None = None
    active_prepare: int | None = None
    active_ready: int | None = None
    pending_prefill_count: int | None = None
    active_decode_count: int | None = None
    next_slot_ready_in_ms: float | None = None
    prefill_free_in_ms: float | None = None
    predicted_total_backlog_ms: float | None = None
    least_load_score: LoadScore = Field(default_factory=LoadScore)
    max_concurrent: int | None = None
    """Its own cap on requests at once; null is none. This key and those below are ours."""
    kv_links: int | None = None
    """Knowledge nodes that a path to it is known from."""
    kv_links_busy: int | None = None
    """Nodes that are sending it KV."""


class InstanceLoadsReply(_Reply):
    """`GET /debug/instance_loads`."""

    ok: bool
    ttl_s: int
    generated_at: float
    metric_source: dict[str, str] = Field(default_factory=dict)
    instances: list[InstanceLoadRow]
    queue_rules: QueueRules | None = None
    """Null where the Proxy does not tell."""


class PoolResourceReply(_Reply):
    """`GET /debug/pool_resource`."""

    ok: bool
    pool_resource: dict[str, object]


class PoolResourceSourcesReply(_Reply):
    """`GET /debug/pool_resource_sources`."""

    ok: bool
    metric_source: dict[str, str]
    metric_quality: dict[str, str]
    null_semantics: str
