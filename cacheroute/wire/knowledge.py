"""What a knowledge node is asked, and what it answers.

Ids of knowledge match without regard to case, and come back in lower case. Replies are read
leniently, as nodes of other makes leave fields out; requests are bounded.
"""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

MAX_IDS = 256
"""Most ids in one call."""
MAX_ID_CHARS = 128
MAX_FIELDS = 32
MAX_SNAPSHOT_ITEMS = 10_000
"""Most items that one snapshot answers with, whatever its `limit` says."""

KnowledgeId = Annotated[str, Meta(max_length=MAX_ID_CHARS)]
KnowledgeIds = Annotated[list[KnowledgeId], Meta(max_length=MAX_IDS)]
FieldNames = Annotated[
    list[Annotated[str, Meta(max_length=MAX_ID_CHARS)]], Meta(max_length=MAX_FIELDS)
]
Name = Annotated[str, Meta(min_length=1, max_length=256)]
Host = Annotated[str, Meta(min_length=1, max_length=255)]
Port = Annotated[int, Meta(ge=1, le=65535)]
Number = int | float | None


class LookupBody(Struct, frozen=True, kw_only=True):
    """`POST /knowledge/search/text`."""

    knowledge_ids: KnowledgeIds | None = None
    need_fields: FieldNames | None = None
    """Fields that are wanted besides the id; nothing is everything."""


class FoundKnowledge(Struct, frozen=True, kw_only=True):
    """One item of a lookup, as far as it was asked for."""

    id: str
    content: str | None = None
    kv_ready: Any = None
    """0 or 1 as published; whatever is truthy counts."""
    length: Any = None
    """Characters, not tokens. This and what follows is looked at by people only: a node that
    writes it in another way must not lose its knowledge by that."""
    rel_path: Any = None
    kv_rel_dir: Any = None
    kv_dumped_keys: Any = None
    kv_updated_at: Any = None
    """Seconds since the epoch."""


class LookupReply(Struct, frozen=True, kw_only=True):
    """What was found, in the order it was asked for, and the ids that nobody knows."""

    items: list[FoundKnowledge]
    miss: list[str] = msgspec.field(default_factory=list)


class RedisFields(Struct, frozen=True, kw_only=True):
    """Which Redis KV goes into, or comes from."""

    redis_host: Host = "127.0.0.1"
    redis_port: Port = 6379
    redis_db: Annotated[int, Meta(ge=0, le=65535)] = 0
    redis_password: Annotated[str, Meta(max_length=512)] | None = None


class InjectReadyKvBody(RedisFields, frozen=True, kw_only=True):
    """`POST /knowledge/inject_ready_kv`, from an Instance that names its own Redis."""

    request_id: int | str | None = None
    model: Annotated[str, Meta(max_length=256)] = ""
    """Model that the KV must be of; empty takes any."""
    knowledge_ids: KnowledgeIds | None = None


class InjectReadyKvReply(Struct, frozen=True, kw_only=True):
    """What came of an injection: `injected_kids` says it, since `ok` is true in any case."""

    ok: bool
    injected_kids: list[str] = msgspec.field(default_factory=list)
    text_only_kids: list[str] = msgspec.field(default_factory=list)
    """Known, and not injected: without KV, or it could not be written."""
    miss_kids: list[str] = msgspec.field(default_factory=list)
    keys_injected: int = 0
    payload_bytes: int = 0
    payload_files: int = 0
    network_sim_enabled: bool = False
    detail: str = ""
    network_queue_ms: Number = None
    """Wait for the link; None where the node does not tell."""
    network_transfer_ms: Number = None
    network_total_ms: Number = None


class RegisterTextBody(Struct, frozen=True, kw_only=True):
    """`POST /knowledge/register_text`."""

    content: str
    meta: dict[str, Any] | None = None


class RegisterTextReply(Struct, frozen=True, kw_only=True):
    """The id that a text has got, or had."""

    kid: str
    """SHA-256 of the normalised text, in hex."""
    status: str
    """`created` or `exists`."""
    length: int
    """Characters of the normalised text."""


class BuildKvBody(RedisFields, frozen=True, kw_only=True):
    """`POST /knowledge/build_kv`: have an engine compute the KV of a text, and keep it."""

    kid: Annotated[str, Meta(min_length=1, max_length=MAX_ID_CHARS)]
    api_url: Annotated[str, Meta(min_length=1, max_length=2048)]
    """Base address of the engine, or its chat completions endpoint."""
    model: Name
    max_tokens: Annotated[int, Meta(ge=1, le=1024)] = 1
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.0
    match: Annotated[str, Meta(min_length=1, max_length=512)] = "*@*"
    """Pattern of the keys that may be KV, as SCAN takes it."""
    scan_count: Annotated[int, Meta(ge=1, le=100_000)] = 1000
    flushdb: bool = False
    """Whether the Redis database is emptied first, whatever is in it."""


class BuildKvReply(Struct, frozen=True, kw_only=True):
    """How much KV was kept."""

    kid: str
    kv_dir: str
    dumped_keys: int
    kv_root: str
    nominal_bytes: int | None = None
    """Size that the KV stands for; None where the node does not tell."""
    detail: str = ""


class SnapshotBody(Struct, frozen=True, kw_only=True):
    """`POST /knowledge/snapshot`: all items, page by page."""

    need_fields: FieldNames | None = None
    limit: Annotated[int, Meta(ge=0)] = MAX_SNAPSHOT_ITEMS
    offset: Annotated[int, Meta(ge=0, le=2**53)] = 0


class DeleteBody(Struct, frozen=True, kw_only=True):
    """`POST /knowledge/delete`; the KV of a text goes with it in any case."""

    knowledge_ids: KnowledgeIds | KnowledgeId
    delete_kv: bool = False


class PurgeBody(Struct, frozen=True, kw_only=True):
    """`POST /knowledge/purge_all`."""

    delete_kv: bool = True


class PoolStatusBody(Struct, frozen=True, kw_only=True):
    """`POST /knowledge/pool_status`."""

    sample_limit: Annotated[int, Meta(ge=0, le=1000)] = 10


class HelloBody(Struct, frozen=True, kw_only=True):
    """`POST /v1/topology/hello`, from an Instance that measures its links."""

    instance_id: Annotated[str, Meta(min_length=1, max_length=264)]
    instance_host: Annotated[str, Meta(max_length=255)] = ""
    instance_port: Annotated[int, Meta(ge=0, le=65535)] = 0


class HelloReply(Struct, frozen=True, kw_only=True):
    """Who the node is, and what its simulated link is like if it has one."""

    ok: bool
    kdn_id: str | None = None
    kdn_host: str | None = None
    kdn_port: int | None = None
    echo_instance_id: str | None = None
    link_bandwidth_mbps: Number = None
    """Ours; None where the link is a real one."""
    link_delay_ms: Number = None


class LinkBody(Struct, frozen=True, kw_only=True):
    """`POST /demo/link`: what is left out stays as it is."""

    bandwidth_mbps: Annotated[float, Meta(gt=0, le=1e9)] | UnsetType | None = UNSET
    """Null ends the simulation."""
    delay_ms: Annotated[float, Meta(ge=0, le=60_000)] | UnsetType = UNSET
