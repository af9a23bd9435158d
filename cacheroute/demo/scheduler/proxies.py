"""The Proxies that registered here: who is alive, and whose turn it is.

Time is handed in. A registration replaces the record, and with it the count of running
requests; a Proxy is alive until it has been silent for longer than the time to live.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from cacheroute.core.clock import Instant
from cacheroute.formats.address import Address
from cacheroute.wire import strict_json
from cacheroute.wire.scheduler import ProxyHeartbeatBody, ProxyRegisterBody, ProxyRow

MAX_PROXIES = 256
MAX_META_BYTES = 256 * 1024
"""What heartbeats can make of the meta of one Proxy, patch by patch."""


@dataclass(slots=True, kw_only=True, eq=False)
class ProxyRecord:
    """One Proxy, as it registered and as it was last heard of."""

    proxy_id: str
    address: Address
    told: ProxyRegisterBody
    meta: dict[str, object]
    pool_resource: Mapping[str, object] | None
    registered_at: Instant
    seen_at: Instant
    resource_at: Instant | None
    inflight: int = 0
    """Requests that were forwarded and are not over, or what the Proxy last said."""
    qps_1m: float = 0.0
    gpu_util: float = 0.0


@dataclass(slots=True)
class Proxies:
    """Every Proxy that is known."""

    ttl_s: float
    _records: dict[str, ProxyRecord] = field(default_factory=dict)
    _last: str = ""

    def register(self, body: ProxyRegisterBody, address: Address, now: Instant) -> str | None:
        """Put a Proxy in the place of an earlier one with its id; None when there is no room."""
        proxy_id = body.proxy_id or f"hp_{address.authority}"
        if proxy_id not in self._records and not self._has_room(now):
            return None
        self._records[proxy_id] = ProxyRecord(
            proxy_id=proxy_id,
            address=address,
            told=body,
            meta=dict(body.meta),
            pool_resource=body.pool_resource,
            registered_at=now,
            seen_at=now,
            resource_at=None if body.pool_resource is None else now,
        )
        return proxy_id

    def heartbeat(self, body: ProxyHeartbeatBody, now: Instant) -> bool:
        """Note that a Proxy lives and what it says; False when it is unknown.

        ValueError when its meta would outgrow all bounds.
        """
        record = self._records.get(body.proxy_id)
        if record is None:
            return False
        meta = {**record.meta, **(body.meta_patch or {})}
        if body.meta_patch and len(strict_json.encode(meta)) > MAX_META_BYTES:
            raise ValueError(f"the meta of one Proxy may not exceed {MAX_META_BYTES} bytes")
        record.meta = meta
        record.seen_at = now
        if (body.inflight, body.qps_1m, body.gpu_util) != (None, None, None):
            # As published: whoever tells one of the three tells all of them.
            record.inflight = body.inflight or 0
            record.qps_1m = body.qps_1m or 0.0
            record.gpu_util = body.gpu_util or 0.0
        if body.pool_resource is not None:
            record.pool_resource = body.pool_resource
            record.resource_at = now
        return True

    def unregister(self, proxy_id: str) -> None:
        """Forget a Proxy, if it is known."""
        self._records.pop(proxy_id, None)

    def is_alive(self, record: ProxyRecord, now: Instant) -> bool:
        """Whether a Proxy was heard of recently enough to be sent a request."""
        return now.mono_s - record.seen_at.mono_s <= self.ttl_s

    def alive(self, now: Instant) -> list[ProxyRecord]:
        """Return the Proxies that can be sent requests, by id."""
        records = sorted(self._records.values(), key=lambda record: record.proxy_id)
        return [record for record in records if self.is_alive(record, now)]

    def next(
        self, endpoint: str, now: Instant, excluded: Collection[str] = ()
    ) -> ProxyRecord | None:
        """Return the Proxy whose turn it is: the first one after the last one, by id.

        The published order is that of the latest heartbeats, which changes under the count
        and lets one Proxy have several turns in a row.
        """
        able = [
            record
            for record in self.alive(now)
            if record.proxy_id not in excluded
            and endpoint in (record.told.endpoints or (endpoint,))
        ]
        following = [record for record in able if record.proxy_id > self._last]
        chosen = next(iter(following or able), None)
        if chosen is not None:
            self._last = chosen.proxy_id
        return chosen

    def why_none(self, endpoint: str, now: Instant) -> str:
        """Say why no Proxy can take a request."""
        known, alive = len(self._records), len(self.alive(now))
        if not known:
            return "No Proxy is registered."
        if not alive:
            return f"No Proxy is alive: all {known} have been silent for over {self.ttl_s:g} s."
        return f"None of the {alive} Proxies that are alive serves {endpoint}."

    def addresses(self) -> set[Address]:
        """Return where the Proxies are, the dead ones too."""
        return {record.address for record in self._records.values()}

    def rows(self, now: Instant, *, include_dead: bool) -> list[ProxyRow]:
        """Return the list of Proxies, the one that was heard of last first."""
        newest = sorted(self._records.values(), key=lambda one: -one.seen_at.mono_s)
        return [
            _row(record, is_alive=is_alive)
            for record in newest
            if (is_alive := self.is_alive(record, now)) or include_dead
        ]

    def _has_room(self, now: Instant) -> bool:
        if len(self._records) < MAX_PROXIES:
            return True
        oldest = min(self._records.values(), key=lambda record: record.seen_at.mono_s)
        if self.is_alive(oldest, now):
            return False
        del self._records[oldest.proxy_id]
        return True


def _row(record: ProxyRecord, *, is_alive: bool) -> ProxyRow:
    told = record.told
    resource = record.pool_resource
    return ProxyRow(
        proxy_id=record.proxy_id,
        host=record.address.host,
        port=record.address.port,
        endpoints=told.endpoints,
        tags=told.tags,
        weight=told.weight,
        meta=record.meta,
        max_capacity=told.max_capacity,
        instance_count=told.instance_count,
        kv_mem_per_instance_gb=told.kv_mem_per_instance_gb,
        kv_cache_pool_gb=told.instance_count * told.kv_mem_per_instance_gb,
        kv_cache_update_policy=told.kv_cache_update_policy,
        inflight=record.inflight,
        qps_1m=record.qps_1m,
        gpu_util=record.gpu_util,
        registered_at=record.registered_at.wall_s,
        last_seen_at=record.seen_at.wall_s,
        is_alive=is_alive,
        pool_resource=None if resource is None else dict(resource),
        pool_resource_reported_at=None if record.resource_at is None else record.resource_at.wall_s,
    )
