"""Knowledge nodes, and the Instances that are to take KV cache from them.

Two questions: what is this knowledge, asked of the node; and put this KV cache where you
find it, asked of the Instance's control plane, which turns to the node itself. Whatever goes
wrong is an UpstreamError that costs one request its knowledge, and nobody else anything.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from cacheroute.core.errors import UpstreamProtocolError
from cacheroute.core.injection.knowledge import KnowledgeItem
from cacheroute.core.instance import authority
from cacheroute.formats.address import parse_host_port
from cacheroute.upstream.ask import Ask
from cacheroute.wire import paths, strict_json

if TYPE_CHECKING:
    from cacheroute.core.instance import Instance
    from cacheroute.dataplane.pool import Peer, UpstreamPool

DEFAULT_CONTROL_PORT = 9002
"""Where an Instance listens that did not say where."""
MAX_PEERS = 1024
"""Most addresses, of nodes and of Instances' control planes, whose connections are kept."""
_FIELDS = ["content", "kv_ready"]
"""No more than is used: what is not asked for cannot be wrong."""
_ACK_MAX_BYTES = 64 * 1024
_TRANSFER_MAX_MS = 1e9
_SHOWN_CHARS = 200
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_FLAG_MAX_BYTES = 64


class _Found(msgspec.Struct):
    """What is used of an item; the rest is passed over, whatever it is."""

    id: str
    content: str | None = None
    kv_ready: msgspec.Raw = msgspec.Raw()


class _Reply(msgspec.Struct):
    items: list[_Found]
    miss: list[str] = msgspec.field(default_factory=list)


_read_lookup = msgspec.json.Decoder(_Reply).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """What a knowledge node knows of what it was asked for."""

    items: tuple[KnowledgeItem, ...]
    missing: tuple[str, ...]
    """Ids that it has nothing for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """What came of an injection, in the Instance's words."""

    reply: Mapping[str, object]
    """The whole answer, as it came."""
    injected: tuple[str, ...]
    """Ids whose KV cache is where the Instance will find it; the answer's `ok` says nothing."""
    transfer_ms: float | None
    """Time on the link without the wait for it, where the node tells."""


class Kdns:
    """The way to every knowledge node, over connections of their own."""

    def __init__(
        self,
        pool: UpstreamPool,
        *,
        lookup_timeout_s: float,
        inject_timeout_s: float,
        reply_bytes: int,
    ) -> None:
        self._pool = pool
        self._lookup_timeout_s = lookup_timeout_s
        self._inject_timeout_s = inject_timeout_s
        self._reply_bytes = reply_bytes
        self._peers: OrderedDict[tuple[str, int], Peer] = OrderedDict()

    async def lookup(self, address: str, knowledge_ids: Sequence[str]) -> Lookup:
        """Ask the node at `host:port` for knowledge; raises UpstreamError."""
        host, port = _split(address)
        peer = self._peer(host, port)
        body = {"knowledge_ids": list(knowledge_ids), "need_fields": _FIELDS}
        status, answer = await Ask(
            peer,
            paths.KNOWLEDGE_SEARCH_TEXT,
            strict_json.encode(body),
            host=authority(host, port),
            timeout_s=self._lookup_timeout_s,
            timeout_setting="kdn.lookup_timeout_s",
            limit_bytes=self._reply_bytes,
            limit_setting="kdn.reply_bytes",
        ).answer()
        if status != 200:
            # Its error is a JSON object too; read as an answer, it would know of nothing.
            raise _bad(peer, f"answered {status}{_said(answer)}")
        try:
            found = _read_lookup(answer)
        except _UNREADABLE as error:
            raise _bad(peer, f"answered what is no list of knowledge: {error}") from None
        return Lookup(
            items=tuple(
                KnowledgeItem(
                    id=item.id, content=item.content or "", kv_ready=_is_true(item.kv_ready)
                )
                for item in found.items
            ),
            missing=tuple(found.miss),
        )

    async def inject(
        self,
        instance: Instance,
        *,
        request_id: int,
        kdn_address: str,
        model: str,
        knowledge_ids: Sequence[str],
    ) -> Ack:
        """Have an Instance take KV cache from a node; raises UpstreamError."""
        port = control_port(instance)
        peer = self._peer(instance.host, port)
        body = {
            "request_id": request_id,
            "kdn_addr": kdn_address,
            "model": model,
            "knowledge_ids": list(knowledge_ids),
        }
        status, answer = await Ask(
            peer,
            paths.KV_INJECT_READY,
            strict_json.encode(body),
            host=authority(instance.host, port),
            timeout_s=self._inject_timeout_s,
            timeout_setting="kdn.inject_timeout_s",
            limit_bytes=_ACK_MAX_BYTES,
        ).answer()
        if not 200 <= status < 300:
            raise _bad(peer, f"answered the injection with {status}{_said(answer)}")
        try:
            reply = msgspec.json.decode(answer)
        except _UNREADABLE:
            reply = None
        if not isinstance(reply, dict):
            raise _bad(peer, f"answered the injection with no JSON object{_said(answer)}")
        flaw = strict_json.flaw_of(reply)  # it is told to the caller as it came
        if flaw is not None:
            raise _bad(peer, f"answered the injection with JSON that is {flaw}")
        return Ack(
            reply=reply,
            injected=_texts(reply.get("injected_kids")),
            transfer_ms=_transfer_ms(reply.get("network_transfer_ms")),
        )

    def _peer(self, host: str, port: int) -> Peer:
        key = (host, port)
        peer = self._peers.get(key)
        if peer is None or peer.is_retired:
            peer = self._peers[key] = self._pool.peer(host, port)
        self._peers.move_to_end(key)
        if len(self._peers) > MAX_PEERS:
            self._forget_one(peer)
        return peer

    def _forget_one(self, kept: Peer) -> None:
        """Forget whoever was asked longest ago and is not being asked now."""
        for key, peer in self._peers.items():
            if not peer.active and peer is not kept:
                del self._peers[key]
                self._pool.drop(peer)
                return


def control_port(instance: Instance) -> int:
    """Return where an Instance takes orders: what it gave as `cp_port`, else 9002."""
    given = instance.meta.get("cp_port")
    if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) <= 5:
        given = int(given)
    if isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= 65535:
        return given
    return DEFAULT_CONTROL_PORT


def _split(address: str) -> tuple[str, int]:
    try:
        parsed = parse_host_port(address.rpartition("://")[2])
    except ValueError as error:
        message = f"The knowledge node's address {address!r:.100} cannot be used: {error}."
        raise UpstreamProtocolError(message, peer=address) from None
    return parsed.host, parsed.port


def _bad(peer: Peer, what: str) -> UpstreamProtocolError:
    return UpstreamProtocolError(f"{peer.name} {what}.", peer=peer.name)


def _is_true(value: msgspec.Raw) -> bool:
    """Take whatever is truthy; a node may say it with megabytes, which are not built."""
    size = len(memoryview(value))
    return bool(msgspec.json.decode(value)) if 0 < size <= _FLAG_MAX_BYTES else size > 0


def _texts(value: object) -> tuple[str, ...]:
    return tuple(x for x in value if isinstance(x, str)) if isinstance(value, list) else ()


def _transfer_ms(value: object) -> float | None:
    """Read a time that a node need not tell; what makes no sense is not known."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value <= _TRANSFER_MAX_MS else None


def _said(answer: bytes) -> str:
    """Return a short piece of an answer for a sentence, fit for a log; nothing of an empty one."""
    text = " ".join(answer[: 4 * _SHOWN_CHARS].decode("utf-8", "replace").split())
    shown = "".join(one if one.isprintable() else "?" for one in text[:_SHOWN_CHARS])
    return f": {shown}" if shown else ""
