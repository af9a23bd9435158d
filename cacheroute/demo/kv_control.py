"""`POST /v1/kv/inject_ready`: a Proxy wants KV of some knowledge where this Instance finds it.

The Instance asks the knowledge node to write it into the store, which only the Instance knows,
and repeats what the node says. The password of the store goes to nodes that were named at the
start (`--kdn-targets`) and to nobody else, whatever address a request holds.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated

import msgspec

from cacheroute.dataplane.inbound import Inbound
from cacheroute.demo.kv_options import KvOptions
from cacheroute.demo.refusal import JSON_HEADERS
from cacheroute.formats.address import Address, parse_base_url
from cacheroute.wire import paths

if TYPE_CHECKING:
    from cacheroute.member.peer import Peer

TIMEOUT_S = 60.0
"""For a knowledge node to write, and to simulate the way of what it has written."""
MAX_AT_ONCE = 64
MAX_IDS = 1024
_LOOPBACK = ("localhost", "::1")

_Short = Annotated[str, msgspec.Meta(max_length=512)]


class _Wanted(msgspec.Struct):
    kdn_addr: _Short
    model: _Short
    knowledge_ids: Annotated[list[_Short], msgspec.Meta(min_length=1, max_length=MAX_IDS)]
    request_id: int | _Short = 0


class InjectRefusal(Exception):
    """An order that is not carried out: status, code and a sentence."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail


class KvControl:
    """Passes orders for KV on to knowledge nodes."""

    def __init__(
        self,
        store: KvOptions | None,
        targets: tuple[Address, ...],
        *,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._store = store
        self._targets = {_same(target): target for target in targets}
        self._timeout_s = timeout_s
        self._peers: dict[Address, Peer] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def routes(self) -> Mapping[str, Mapping[str, Callable[[Inbound], None]]]:
        """What it answers, as the service's other paths."""
        return {paths.KV_INJECT_READY: {"POST": self.on_inject}}

    def on_inject(self, inbound: Inbound) -> None:
        """Carry out one order, for as long as whoever sent it stays."""
        try:
            store, target, body = self._understood(inbound.body)
        except InjectRefusal as refusal:
            _refuse(inbound, refusal)
            return
        task = asyncio.create_task(  # noqa: TID251 - held here, ended by close() or on_gone
            self._inject(inbound, store, target, body)
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        inbound.on_gone = lambda: _drop(task)

    async def close(self) -> None:
        """Drop what is under way, and every connection."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        peers, self._peers = list(self._peers.values()), {}
        for peer in peers:
            await peer.__aexit__(None, None, None)

    def _understood(self, data: bytes) -> tuple[KvOptions, Address, _Wanted]:
        try:
            wanted = msgspec.json.decode(data, type=_Wanted)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise InjectRefusal(400, "invalid_request", f"The body is no order: {error}.") from None
        if self._store is None:
            raise InjectRefusal(
                409, "no_kv_store", "This Instance has no KV store: start it with --kv-redis."
            )
        try:
            origin = parse_base_url(wanted.kdn_addr.strip())
        except ValueError as error:
            raise InjectRefusal(400, "invalid_request", f"kdn_addr: {error}.") from None
        target = self._targets.get(_same(Address(origin.host, origin.port)))
        if target is None:
            named = ", ".join(str(each) for each in self._targets.values()) or "none"
            raise InjectRefusal(
                403,
                "unknown_kdn",
                f"{origin.authority} is not a knowledge node of this Instance (--kdn-targets: "
                f"{named}), and only those are told where its KV store is.",
            )
        if len(self._tasks) >= MAX_AT_ONCE:
            raise InjectRefusal(503, "overloaded", f"{MAX_AT_ONCE} orders are being carried out.")
        return self._store, target, wanted

    async def _inject(
        self, inbound: Inbound, store: KvOptions, target: Address, wanted: _Wanted
    ) -> None:
        # An HTTP client takes long to load, and most Instances need none for this.
        await asyncio.to_thread(importlib.import_module, "cacheroute.member.peer")
        from cacheroute.member.peer import PeerFault

        order = {
            "request_id": wanted.request_id,
            "model": wanted.model,
            "knowledge_ids": wanted.knowledge_ids,
            "redis_host": store.address.host,
            "redis_port": store.address.port,
            "redis_db": store.db,
            "redis_password": store.password,
        }
        try:
            told = await self._peer(target).post(paths.KNOWLEDGE_INJECT_READY_KV, order)
        except PeerFault as fault:
            detail = str(fault)
            if store.password:
                # A node that refuses an order likes to repeat it.
                detail = detail.replace(store.password, "…")
            _refuse(inbound, InjectRefusal(502, "kdn_failed", f"{detail}."))
        else:
            _answer(inbound, 200, told)

    def _peer(self, target: Address) -> Peer:
        from cacheroute.member.peer import Peer

        peer = self._peers.get(target)
        if peer is None:
            peer = self._peers[target] = Peer(
                f"http://{target.authority}", timeout_s=self._timeout_s
            )
        return peer


def _same(address: Address) -> Address:
    """One address for all the names of this machine, so that any of them will do."""
    return Address("127.0.0.1", address.port) if address.host in _LOOPBACK else address


def _drop(task: asyncio.Task[None]) -> None:
    task.cancel()


def _refuse(inbound: Inbound, refusal: InjectRefusal) -> None:
    _answer(inbound, refusal.status, {"error": refusal.code, "detail": refusal.detail})


def _answer(inbound: Inbound, status: int, body: Mapping[str, object]) -> None:
    inbound.on_gone = None
    inbound.respond(status, JSON_HEADERS, msgspec.json.encode(body))
