"""What the debug pages of the control plane say.

Null is not known; 0 was measured. Keys that another Proxy does not send have defaults.
"""

from pydantic import BaseModel, ConfigDict, Field

from cacheroute.wire.instances import ResourceRow


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


class InstanceLoadsReply(_Reply):
    """`GET /debug/instance_loads`."""

    ok: bool
    ttl_s: int
    generated_at: float
    metric_source: dict[str, str] = Field(default_factory=dict)
    instances: list[InstanceLoadRow]


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


class DecisionRow(_Reply):
    """One selection and why it fell so."""

    seq: int
    at: float
    """Seconds since the epoch."""
    request_id: str
    attempt: int = 1
    strategy: str
    model: str | None = None
    endpoint: str
    instance_id: str | None = None
    """Null when nobody could be chosen."""
    cost: float | None = None
    runner_up: str | None = None
    runner_up_cost: float | None = None
    considered: int = 0
    skipped: dict[str, int] = Field(default_factory=dict)
    reason: str = ""


class DecisionsReply(_Reply):
    """`GET /debug/decisions?last=N`, newest first."""

    ok: bool
    decisions: list[DecisionRow]
