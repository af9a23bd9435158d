"""What a Proxy tells the Scheduler about itself, and what it gets back.

Unknown top-level keys are ignored on both sides, as peers of other versions send more. A
field that is left out of a heartbeat is left as it was, except the three load figures: the
published Scheduler sets all of them to 0 that are missing beside one that is not.
"""

from pydantic import BaseModel, ConfigDict, Field

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
    Word,
)

PROXY_NOT_REGISTERED = "proxy_id not registered"
"""The `detail` of the 404 that asks a Proxy to register again."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ProxyRegisterBody(_Body):
    """`POST /v1/proxy/register`; replaces an earlier record and zeroes its inflight count."""

    proxy_id: OptionalInstanceId = None
    """Absent, it becomes `hp_<host>:<port>`."""
    host: str = Field(min_length=1, max_length=255)
    """Where the Scheduler sends requests: an address others can reach."""
    port: Port
    endpoints: list[Endpoint] = Field(
        default_factory=lambda: ["chat/completions", "completions"], max_length=MAX_LIST_ITEMS
    )
    tags: list[Word] = Field(default_factory=list, max_length=MAX_LIST_ITEMS)
    weight: NotNegative = 1.0
    meta: JsonObject = Field(default_factory=dict)
    """`version`, and where some are known `kdn_links` by knowledge node and `models` by name."""
    max_capacity: Count = 0
    """Requests at once that count as a full pool; 0 reads as always full."""
    instance_count: Count = 0
    kv_mem_per_instance_gb: NotNegative = 0.0
    kv_cache_update_policy: Word = "lru"
    pool_resource: JsonObject | None = None
    """The summary of the pool, as `GET /debug/pool_resource` shows it."""


class ProxyRegisterReply(_Body):
    """The answer to a registration."""

    proxy_id: InstanceId
    heartbeat_interval_s: float = Field(default=5, gt=0, le=3600, allow_inf_nan=False)
    """How often the Scheduler wants to hear from the Proxy; outranks the Proxy's setting."""
    ttl_s: float = Field(default=30, gt=0, allow_inf_nan=False)
    """Silence after which the Scheduler sends nothing any more."""


class ProxyHeartbeatBody(_Body):
    """`POST /v1/proxy/heartbeat`; 404 where the id is unknown."""

    proxy_id: InstanceId
    inflight: Count | None = None
    """Left out by a Proxy as published: the Scheduler counts its own forwards."""
    qps_1m: NotNegative | None = None
    gpu_util: Finite | None = None
    meta_patch: JsonObject | None = None
    """Merged into the registered meta, key by key."""
    pool_resource: JsonObject | None = None


class ProxyUnregisterBody(_Body):
    """`POST /v1/proxy/unregister`."""

    proxy_id: InstanceId


class ProxyOkReply(_Body):
    """The answer to a heartbeat and to an unregistration, of a known id or not."""

    ok: bool


class ProxyRow(_Body):
    """One element of `GET /v1/proxy/list`, the most recent heartbeat first."""

    proxy_id: str
    host: str
    port: int
    endpoints: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    weight: float = 1.0
    meta: dict[str, object] = Field(default_factory=dict)
    max_capacity: int = 0
    instance_count: int = 0
    kv_mem_per_instance_gb: float = 0.0
    kv_cache_pool_gb: float = 0.0
    """Instances times the memory of each."""
    kv_cache_update_policy: str = "lru"
    inflight: int | None = None
    qps_1m: float | None = None
    gpu_util: float | None = None
    registered_at: float
    """Seconds since the epoch."""
    last_seen_at: float
    """Seconds since the epoch."""
    is_alive: bool
    pool_resource: dict[str, object] | None = None
    pool_resource_reported_at: float | None = None
    """Seconds since the epoch."""
