"""The model server that is attached, asked what it is and whether it is still there.

Whatever it answers is a value or a fault with a sentence. A key is sent only once the server
has shown that it wants one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cacheroute.attach.endpoints import KNOWN, NOT_THERE, served_endpoints
from cacheroute.attach.faults import (
    AttachFault,
    KeyWanted,
    ModelNotServed,
    NotAnswering,
    NotUnderstood,
)
from cacheroute.formats.engine_metrics import EngineStats, read_engine_metrics
from cacheroute.member.peer import Peer, PeerFault, Said
from cacheroute.wire import paths

MAX_MODELS = 1024
MAX_NAMED = 8
METRICS_MAX_BYTES = 4 * 1024 * 1024
_REFUSED = frozenset({401, 403})

VERSION_AT: Mapping[str | None, tuple[str, str]] = {
    None: ("/version", "version"),
    "vllm": ("/version", "version"),
    "sglang": ("/get_server_info", "version"),
    "llama.cpp": ("/props", "build_info"),
    "tgi": ("/info", "version"),
}
"""Where each kind of engine tells its version, and under which key."""

_KIND_OF_OWNER = {"vllm": "vllm", "sglang": "sglang", "llamacpp": "llama.cpp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """One model of a server's list."""

    name: str
    parent: str | None = None
    """The model it is an adapter of; None for a model of its own."""
    max_model_len: int | None = None
    """Longest context, in tokens."""
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a server is, as far as it can be read."""

    model: str
    """The model to be registered for first."""
    cards: tuple[ModelCard, ...]
    """All it lists; one made up card where it lists none."""
    endpoints: tuple[str, ...]
    kind: str | None
    """`vllm`, `sglang`, `llama.cpp` or `tgi`; None is not known."""
    version: str | None
    stats: EngineStats
    """Its metrics page when it was described."""
    wants_key: bool = False
    """Whether it lists its models to those with a key only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """One look at a server."""

    problem: str | None
    """Why it cannot be counted on, in words; None when it answers."""
    stats: EngineStats | None = None
    """Its metrics; None when there are none to be had."""


class Server:
    """Asks one server; the Peers stay the caller's to close."""

    def __init__(self, peer: Peer, keyed: Peer | None = None) -> None:
        self._open = peer
        self._keyed = keyed
        self._wants_key = False

    @property
    def url(self) -> str:
        """Its base URL."""
        return self._open.base_url

    @property
    def _peer(self) -> Peer:
        return self._keyed if self._wants_key and self._keyed else self._open

    async def describe(self, model: str | None) -> Description:
        """Find out what it serves; raises AttachFault with what is wrong and the way out."""
        try:
            return await self._describe(model)
        except PeerFault as fault:
            raise NotAnswering(
                f"{fault}", hint="is the server running, and is this its address?"
            ) from fault

    async def pulse(self) -> Pulse:
        """Look whether it still answers, and how loaded it is."""
        try:
            said = await self._peer.ask("GET", paths.HEALTH)
            if said.status in NOT_THERE:
                said = await self._peer.ask("GET", paths.MODELS, max_bytes=METRICS_MAX_BYTES)
        except PeerFault as fault:
            return Pulse(problem=str(fault))
        if said.status >= 500:
            return Pulse(problem=f"{self.url} answered with {said.status}")
        return Pulse(problem=None, stats=await self._stats())

    async def _describe(self, model: str | None) -> Description:
        health = await self._peer.ask("GET", paths.HEALTH)
        if health.status >= 500 and health.status not in NOT_THERE:
            raise NotAnswering(
                f"{self.url} answered {paths.HEALTH} with {health.status}: it is still loading, "
                "or broken",
                hint="give it time with --wait, or look into its log",
            )
        listed = await self._cards()
        chosen = self._chosen(listed, model)
        cards = listed or (ModelCard(name=chosen),)
        stats = await self._stats() or EngineStats()
        owner = next((card.owner for card in cards if card.owner), None)
        kind = stats.kind or _KIND_OF_OWNER.get(owner or "")
        endpoints = await served_endpoints(self._peer)
        if not endpoints:
            raise NotUnderstood(
                f"{self.url} has none of {', '.join(KNOWN[:2])} and the like",
                hint="is it a server of the OpenAI kind, and is this its base URL?",
            )
        return Description(
            model=chosen,
            cards=cards,
            endpoints=endpoints,
            kind=kind,
            version=await self._version(kind),
            stats=stats,
            wants_key=self._wants_key,
        )

    async def _cards(self) -> tuple[ModelCard, ...] | None:
        """Return the models it lists; None when it has no such list."""
        said = await self._listing()
        if said.status in NOT_THERE:
            return None
        if said.status >= 500:
            raise NotAnswering(f"{self.url} answered {paths.MODELS} with {said.status}")
        listed = _object(said).get("data") if said.status == 200 else None
        if not isinstance(listed, list):
            raise NotUnderstood(
                f"{self.url} answered {paths.MODELS} with {said.status} and no list of models",
                hint="is it a server of the OpenAI kind, and is this its base URL?",
            )
        read = (_card(each) for each in listed[:MAX_MODELS])
        return tuple(card for card in read if card is not None)

    async def _listing(self) -> Said:
        said = await self._peer.ask("GET", paths.MODELS, max_bytes=METRICS_MAX_BYTES)
        if said.status in _REFUSED and self._keyed is not None and not self._wants_key:
            self._wants_key = True
            said = await self._peer.ask("GET", paths.MODELS, max_bytes=METRICS_MAX_BYTES)
        if said.status in _REFUSED:
            raise self._key_fault(said.status)
        return said

    def _key_fault(self, status: int) -> AttachFault:
        if self._keyed is not None:
            return KeyWanted(
                f"{self.url} refused the key with {status}", hint="is it this server's key?"
            )
        return KeyWanted(
            f"{self.url} wants a key ({status}), and a registered Instance has none at the Proxy",
            hint=f"name it to the Proxy instead: --instance {self.url},api_key=env:NAME; or, if "
            "clients bring the key themselves, say where it is with --api-key-env NAME",
        )

    def _chosen(self, cards: tuple[ModelCard, ...] | None, model: str | None) -> str:
        if cards is None:
            if model is None:
                raise ModelNotServed(
                    f"{self.url} has no {paths.MODELS} that tells what it serves",
                    hint="name its model with --model",
                )
            return model
        names = [card.name for card in cards]
        if not names:
            raise NotAnswering(
                f"{self.url} lists no model", hint="it may be loading still: try --wait"
            )
        if model is None:
            return next((card.name for card in cards if card.parent is None), names[0])
        if model not in names:
            shown = ", ".join(map(repr, names[:MAX_NAMED]))
            more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
            raise ModelNotServed(
                f"{self.url} does not serve {model!r}; it serves {shown}{more}",
                hint="leave --model out to register it for what it serves",
            )
        return model

    async def _stats(self) -> EngineStats | None:
        try:
            said = await self._peer.ask("GET", paths.METRICS, max_bytes=METRICS_MAX_BYTES)
        except PeerFault:
            return None
        if said.status != 200:
            return None
        stats = read_engine_metrics(said.body.decode("utf-8", "replace"))
        return stats if stats.kind is not None else None

    async def _version(self, kind: str | None) -> str | None:
        path, key = VERSION_AT[kind]
        try:
            said = await self._peer.ask("GET", path)
        except PeerFault:
            return None  # it tells too much, or nothing
        version = _object(said).get(key) if said.status == 200 else None
        return version[:128] if isinstance(version, str) and version.isprintable() else None


def _card(given: Any) -> ModelCard | None:
    if not isinstance(given, dict):
        return None
    name, parent, length = given.get("id"), given.get("parent"), given.get("max_model_len")
    owner = given.get("owned_by")
    if not isinstance(name, str) or not 0 < len(name) <= 512:
        return None
    return ModelCard(
        name=name,
        parent=parent if isinstance(parent, str) and parent else None,
        max_model_len=length if type(length) is int and length > 0 else None,
        owner=owner if isinstance(owner, str) else None,
    )


def _object(said: Said) -> Mapping[str, Any]:
    try:
        value = json.loads(said.body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
