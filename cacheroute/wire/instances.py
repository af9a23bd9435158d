"""What Instances send to the control plane, and what they get back.

Unknown top-level keys are ignored, as peers of other versions send more. Replies are
read with the same tolerance.
"""

from pydantic import BaseModel, ConfigDict, Field

from cacheroute.wire.capabilities import Capabilities
from cacheroute.wire.fields import (
    MAX_LIST_ITEMS,
    Count,
    Endpoint,
    Finite,
    InstanceId,
    JsonObject,
    NotNegative,
    OptionalInstanceId,
    Port,
    Text,
    Word,
)


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class RegisterBody(_Body):
    """`POST /v1/instance/register`."""

    instance_id: OptionalInstanceId = None
    """Absent, it becomes `hp_<host>:<port>`."""
    host: str = Field(min_length=1, max_length=2048)
    """A name or an address; a URL with a base path is read too."""
    port: Port
    endpoints: list[Endpoint] = Field(default_factory=list, max_length=MAX_LIST_ITEMS)
    """Empty means all, or those registered before."""
    tags: list[Word] = Field(default_factory=list, max_length=MAX_LIST_ITEMS)
    weight: NotNegative = 1.0
    meta: JsonObject = Field(default_factory=dict)
    capabilities: Capabilities | None = None
    capability_fingerprint: Text | None = None
    """Ignored: it is worked out from `capabilities`."""


class RegisterReply(_Body):
    """The answer to a registration."""

    instance_id: str
    heartbeat_interval_s: int
    ttl_s: int
    capability_fingerprint: str | None = None


class HeartbeatBody(_Body):
    """`POST /v1/instance/heartbeat`."""

    instance_id: InstanceId
    inflight: Count | None = None
    """Ignored: this Proxy counts its own."""
    qps_1m: NotNegative | None = None
    gpu_util: Finite | None = None
    capabilities: Capabilities | None = None
    capability_fingerprint: Text | None = None


class HeartbeatReply(_Body):
    """The answer to a heartbeat; a lone `ok` when all is well."""

    ok: bool
    error: str | None = None
    detail: str | None = None
    requires_capabilities: bool = False
    """Whether to send the full object, or to register again when the id is unknown."""
    expected_fingerprint: str | None = None
    reported_fingerprint: str | None = None


class UnregisterBody(_Body):
    """`POST /v1/instance/unregister`."""

    instance_id: InstanceId


class SnapshotBody(_Body):
    """`POST /v1/instance/resource_snapshot`."""

    instance_id: InstanceId
    snapshot: dict[str, object]
    metadata: dict[str, object] = Field(default_factory=dict)


class OkReply(_Body):
    """The answer to an unregistration and to a snapshot."""

    ok: bool
    error: str | None = None
    detail: str | None = None


class LoadRow(_Body):
    """The load of one Instance; null is not known."""

    inflight: int | None = None
    qps_1m: float | None = None
    gpu_util: float | None = None


class ResourceRow(_Body):
    """One normalised resource report; null is not known."""

    cpu_util: float | None = None
    memory_used_mb: float | None = None
    memory_total_mb: float | None = None
    memory_free_mb: float | None = None
    memory_free_ratio: float | None = None
    gpu_util_avg: float | None = None
    gpu_util_current: float | None = None
    gpu_util_max: float | None = None
    gpu_sample_count: int | None = None
    gpu_sample_age_ms: int | None = None
    gpu_sample_source: str | None = None
    gpu_sample_quality: str | None = None
    gpu_sample_window_ms: int | None = None
    gpu_mem_used_mb: float | None = None
    gpu_mem_total_mb: float | None = None
    network_rx_mbps: float | None = None
    network_tx_mbps: float | None = None
    admission_state: str | None = None
    resource_ts_ms: int | None = None
    resource_reported_at: int | None = None
    resource_report_monotonic_ms: int | None = None
    resource_report_wall_time_ms: int | None = None
    reported_instance_id: str | None = None
    raw_resource: dict[str, object] | None = None
    """The snapshot as sent; only in the list of Instances."""


class InstanceRow(_Body):
    """One element of `GET /v1/instance/list`.

    From `state` on, the keys are ours: a reply of another Proxy lacks them.
    """

    instance_id: str
    host: str
    port: int
    endpoints: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    weight: float = 1.0
    meta: dict[str, object] = Field(default_factory=dict)
    capabilities: dict[str, object] | None = None
    capability_fingerprint: str | None = None
    registered_at: int
    """Whole seconds since the epoch."""
    last_seen_at: int
    """Whole seconds since the epoch."""
    load: LoadRow = Field(default_factory=LoadRow)
    resource: ResourceRow = Field(default_factory=ResourceRow)
    is_alive: bool
    state: str | None = None
    """`alive`, `stale` or `dead`."""
    age_s: float | None = None
    """Seconds of silence, on the Proxy's monotonic clock."""
    clock_skew_ms: int | None = None
    """How far the agent's clock is ahead of the Proxy's; nothing is judged by it."""
    origin: str | None = None
    """`registered` or `static`."""
    base_path: str | None = None
    models: list[str] | None = None
    """Null when not known."""
    draining: bool = False
    """Whether the operator has drained it: it takes no new requests."""
    drain_reason: str | None = None
    """In the operator's words."""
    drained_at: int | None = None
    """Whole seconds since the epoch."""
    own_weight: float | None = None
    """The weight it gave itself, where `weight` may be the operator's."""
    ejected_for_s: float = 0.0
    """How much longer health keeps it out."""
    unanswered_s: float | None = None
    """How long it has answered nothing while requests wait; null while none waits for long."""
