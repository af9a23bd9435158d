"""The HTTP face of a knowledge node: which path does what.

Lookups wait for nobody: neither for a transfer nor for KV that is being written.
"""

import time
from collections.abc import Callable, Mapping

import msgspec

from cacheroute.dataplane.inbound import Inbound
from cacheroute.demo.kdn.answering import Answer, Answering, reading
from cacheroute.demo.kdn.building import Building
from cacheroute.demo.kdn.content import asked_for
from cacheroute.demo.kdn.faults import FaultOrder, Faults
from cacheroute.demo.kdn.fields import lookup_item, snapshot_item, wants_content
from cacheroute.demo.kdn.injecting import Injecting
from cacheroute.demo.kdn.link import Link
from cacheroute.demo.kdn.refused import JSON_HEADERS, Refused
from cacheroute.demo.kdn.texts import Texts
from cacheroute.wire import knowledge as wire
from cacheroute.wire import paths

DEMO_LINK = "/demo/link"
DEMO_FAULT = "/demo/fault"

MAX_META_BYTES = 64 * 1024


class Service:
    """Answers requests with the parts of one node."""

    def __init__(
        self,
        *,
        texts: Texts,
        injecting: Injecting,
        building: Building,
        link: Link,
        faults: Faults,
        identity: Callable[[], tuple[str, str, int]],
        database: str,
    ) -> None:
        self._texts = texts
        self._injecting = injecting
        self._building = building
        self._link = link
        self._faults = faults
        self._identity = identity
        """Gives the id, the host and the port that others know."""
        self._database = database
        self.answering = Answering()
        self._routes = self._build_routes()

    def on_request(self, inbound: Inbound) -> None:
        """Begin to answer one request."""
        methods = self._routes.get(inbound.path)
        if methods is None:
            inbound.respond(404, JSON_HEADERS, Refused(404, f"no {inbound.path} here").body)
            return
        answer = methods.get(inbound.method)
        if answer is None:
            allow = (b"allow", ", ".join(methods).encode())
            refused = Refused(405, f"{inbound.method} does nothing at {inbound.path}")
            inbound.respond(405, (allow, *JSON_HEADERS), refused.body)
            return
        self.answering.begin(inbound, answer)

    def _build_routes(self) -> Mapping[str, Mapping[str, Answer]]:
        return {
            paths.HEALTHZ: {"GET": self._healthz},
            paths.TOPOLOGY_PING: {"GET": self._ping},
            paths.TOPOLOGY_HELLO: {"POST": reading(wire.HelloBody, self._hello)},
            paths.KNOWLEDGE_SEARCH_TEXT: {"POST": reading(wire.LookupBody, self._lookup)},
            paths.KNOWLEDGE_INJECT_READY_KV: {
                "POST": reading(wire.InjectReadyKvBody, self._inject)
            },
            paths.KNOWLEDGE_REGISTER_TEXT: {
                "POST": reading(wire.RegisterTextBody, self._register_text)
            },
            paths.KNOWLEDGE_BUILD_KV: {"POST": reading(wire.BuildKvBody, self._building.build)},
            paths.KNOWLEDGE_SNAPSHOT: {"POST": reading(wire.SnapshotBody, self._snapshot)},
            paths.KNOWLEDGE_DELETE: {"POST": reading(wire.DeleteBody, self._delete)},
            paths.KNOWLEDGE_PURGE_ALL: {"POST": reading(wire.PurgeBody, self._purge_all)},
            paths.KNOWLEDGE_POOL_STATUS: {"POST": reading(wire.PoolStatusBody, self._status)},
            DEMO_LINK: {"GET": self._show_link, "POST": reading(wire.LinkBody, self._set_link)},
            DEMO_FAULT: {
                "GET": self._show_faults,
                "POST": reading(FaultOrder, self._order_fault),
                "DELETE": self._clear_faults,
            },
        }

    # What Proxies and Instances ask.

    async def _lookup(self, body: wire.LookupBody) -> object:
        await self._faults.before_lookup()
        await self._link.message()
        kids = asked_for(body.knowledge_ids or ())
        known = self._texts.find(kids, with_content=wants_content(body.need_fields))
        return {
            "items": [lookup_item(known[kid], body.need_fields) for kid in kids if kid in known],
            "miss": [kid for kid in kids if kid not in known],
        }

    async def _inject(self, body: wire.InjectReadyKvBody) -> object:
        await self._faults.before_inject()
        return await self._injecting.inject(body)

    async def _hello(self, body: wire.HelloBody) -> object:
        kdn_id, host, port = self._identity()
        rules = self._link.rules
        return wire.HelloReply(
            ok=True,
            kdn_id=kdn_id,
            kdn_host=host,
            kdn_port=port,
            echo_instance_id=body.instance_id,
            link_bandwidth_mbps=rules.bandwidth_mbps,
            link_delay_ms=rules.delay_ms if self._link.is_simulated else None,
        )

    async def _ping(self, _: bytes) -> object:
        # Whoever measures the way here measures the simulated one.
        await self._link.message()
        return {"ok": True, "ts_ms": int(time.time() * 1000)}

    async def _healthz(self, _: bytes) -> object:
        return {"ok": True}

    # What fills the node and shows it.

    async def _register_text(self, body: wire.RegisterTextBody) -> object:
        meta = None if body.meta is None else msgspec.json.encode(body.meta).decode()
        if meta is not None and len(meta) > MAX_META_BYTES:
            raise Refused(413, f"meta is longer than {MAX_META_BYTES} bytes")
        entry, is_new = await self._texts.register(body.content, meta=meta, now_s=int(time.time()))
        return wire.RegisterTextReply(
            kid=entry.kid, status="created" if is_new else "exists", length=entry.length
        )

    async def _snapshot(self, body: wire.SnapshotBody) -> object:
        limit = min(body.limit, wire.MAX_SNAPSHOT_ITEMS)
        entries = self._texts.page(limit=limit, offset=body.offset)
        return {
            "items": [snapshot_item(entry, body.need_fields) for entry in entries],
            "count": len(entries),
            "limit": limit,
            "offset": body.offset,
        }

    async def _delete(self, body: wire.DeleteBody) -> object:
        given = body.knowledge_ids
        kids = asked_for([given] if isinstance(given, str) else given)
        if not kids:
            raise Refused(400, "knowledge_ids must be a non-empty list")
        deleted, with_kv = await self._texts.delete(kids)
        return {
            "deleted": deleted,
            "not_found": [kid for kid in dict.fromkeys(kids) if kid not in set(deleted)],
            "errors": [],
            "kv_deleted": with_kv,
            "kv_errors": [],
        }

    async def _purge_all(self, body: wire.PurgeBody) -> object:
        await self._texts.delete_all()
        return {
            "purged": True,
            "delete_kv": body.delete_kv,
            "db_dir": self._database,
            "kv_root": self._database,
            "kv_deleted": True,
            "errors": [],
        }

    async def _status(self, body: wire.PoolStatusBody) -> object:
        totals = self._texts.totals()
        texts, ready = totals.texts, totals.kv_ready
        sample = self._texts.page(limit=body.sample_limit, offset=0)
        names = (
            "kid", "length", "embed_dim", "kv_ready", "kv_dumped_keys", "kv_updated_at", "rel_path",
        )  # fmt: skip
        return {
            "kdn_id": self._identity()[0],
            "db_dir": self._database,
            "kv_root": self._database,
            "scheduler_enabled": False,
            "scheduler_registered": False,
            "total_blocks": texts,
            "embedding_ready_blocks": 0,
            "kv_ready_blocks": ready,
            "text_only_blocks": texts - ready,
            "avg_length": round(totals.chars / texts, 2) if texts else 0.0,
            "avg_dumped_keys_on_ready": round(totals.kv_keys / ready, 2) if ready else 0.0,
            "max_dumped_keys": totals.kv_keys_max,
            "kv_nominal_bytes": totals.kv_nominal_bytes,
            "sample_items": [snapshot_item(entry, names) for entry in sample],
        }

    # Ours: the simulated link, and faults.

    async def _show_link(self, _: bytes) -> object:
        rules = self._link.rules
        return {
            "network_sim_enabled": self._link.is_simulated,
            "bandwidth_mbps": rules.bandwidth_mbps,
            "delay_ms": rules.delay_ms,
            "efficiency": rules.efficiency,
            "speed": rules.speed,
            "is_busy": self._link.is_busy,
            "waiting": self._link.waiting,
        }

    async def _set_link(self, body: wire.LinkBody) -> object:
        changes = {}
        if body.bandwidth_mbps is not msgspec.UNSET:
            changes["bandwidth_mbps"] = body.bandwidth_mbps
        if body.delay_ms is not msgspec.UNSET:
            changes["delay_ms"] = body.delay_ms
        self._link.change(**changes)
        return await self._show_link(b"")

    async def _show_faults(self, _: bytes) -> object:
        return self._faults.shown()

    async def _order_fault(self, body: FaultOrder) -> object:
        self._faults.order(body)
        return self._faults.shown()

    async def _clear_faults(self, _: bytes) -> object:
        self._faults.clear()
        return self._faults.shown()
