"""A Proxy between a knowledge node and an Instance that say what a test wants them to.

Both speak the published protocol by hand: the node looks texts up, the Instance takes orders
for KV at the port it has registered and answers chats. What either says can be changed.
"""

import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.backend import Reply, ScriptedBackend, scripted
from tests.support.client import Answer, RawClient, connected, post
from tests.support.meta import meta_of, meta_of_json
from tests.support.openai_shapes import CHAT, COMPLETIONS, completion
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.received import Received
from tests.support.script import Gate, Script, json_answer
from tests.support.waiting import eventually_is

LOOKUP = "/knowledge/search/text"
INJECT = "/v1/kv/inject_ready"
PROMPT = "May the pump run dry?"
ASKED = {"max_tokens": 64, "temperature": 0.5, "top_p": 0.9}
"""Sampling of every request that is made here."""
COUNTS = (
    "inflight", "prepare_queue_depth", "ready_queue_depth", "active_prepare", "active_ready",
    "pending_prefill_count", "active_decode_count",
)  # fmt: skip
BACKLOG = ("next_slot_ready_in_ms", "prefill_free_in_ms", "predicted_total_backlog_ms")


def kid_of(text: str) -> str:
    """Return the id of a text, as knowledge nodes make it."""
    return hashlib.sha256(text.encode()).hexdigest()


def forwarded(
    kids: Sequence[str] = (),
    *,
    mode: object = "kvcache",
    kdn: str = "",
    rag: bool = True,
    stream: bool = False,
    prompt: str = PROMPT,
    request_id: object = 17,
    knowledge_length: int = 1024,
    model: str = "m",
    endpoint: str = "chat/completions",
    max_tokens: int = 64,
) -> bytes:
    """Return a Request as a Scheduler forwards it."""
    return json.dumps(
        {
            "Request_ID": request_id,
            "Request_type": "request",
            "Prompt": {
                "model": model, "user_prompt": prompt, "token_length": 50, "bs": 1,
                "stream": stream, **ASKED, "max_tokens": max_tokens,
            },
            "Service": {
                "Enable_PD_Disaggregation": False, "Enable_know_injection": rag,
                "Injection_type": mode, "Knowledge_List": list(kids),
                "Knowledge_length": knowledge_length, "Endpoint_type": endpoint,
            },
            "Task": {"KDN_server_addr": kdn, "P_proxy_id": "hp_1"},
        }
    ).encode()  # fmt: skip


def asked_with(*system: str, stream: bool = False) -> dict[str, Any]:
    """Return the chat that an Instance must be asked for a Request, knowledge first."""
    messages = [{"role": "system", "content": text} for text in system]
    messages.append({"role": "user", "content": PROMPT})
    return {"model": "m", "messages": messages, "stream": stream, **ASKED}


@dataclass(frozen=True, slots=True)
class Piece:
    """One text of a knowledge node."""

    content: str
    kv_ready: bool = True

    @property
    def kid(self) -> str:
        """Its id."""
        return kid_of(self.content)


def looking_up(pieces: Mapping[str, Piece]) -> Reply:
    """Return a node's reply: found in the order of the question, ids in lower case."""

    def reply(received: Received) -> Script:
        asked = [kid.strip().lower() for kid in received.json()["knowledge_ids"]]
        items = [
            {
                "id": kid,
                "content": pieces[kid].content,
                "length": len(pieces[kid].content),
                "kv_ready": int(pieces[kid].kv_ready),
            }
            for kid in asked
            if kid in pieces
        ]
        return json_answer({"items": items, "miss": [kid for kid in asked if kid not in pieces]})

    return reply


def acknowledged(injected: Sequence[str], **fields: object) -> dict[str, Any]:
    """Return what an Instance says about an order, in the words of its node."""
    return {
        "ok": True, "injected_kids": list(injected), "text_only_kids": [], "miss_kids": [],
        "keys_injected": 4 * len(injected), "payload_bytes": 98_304_000, "payload_files": 4,
        "network_sim_enabled": False, "detail": "", **fields,
    }  # fmt: skip


def injecting(received: Received) -> Script:
    """Inject everything that is ordered."""
    return json_answer(acknowledged(received.json()["knowledge_ids"]))


def injecting_at(gate: Gate) -> Reply:
    """Inject everything that is ordered, once the gate is open."""
    return lambda received: (gate, *injecting(received))


@dataclass(slots=True)
class Told:
    """One answer, and the meta in it."""

    answer: Answer
    meta: dict[str, Any]

    @property
    def trace(self) -> dict[str, Any]:
        """When what happened, and how."""
        trace = self.meta["trace"]
        assert isinstance(trace, dict)
        return trace

    @property
    def paths(self) -> dict[str, Any]:
        """How the knowledge went, by the published keys."""
        return {key: value for key, value in self.trace.items() if key.endswith("_actual_path")}

    @property
    def kids(self) -> tuple[list[str], list[str], list[str]]:
        """The ids that have KV, those that are text only, and those that are missing."""
        meta = self.meta
        return meta["kv_ready_kids"], meta["text_only_kids"], meta["miss_kids"]


@dataclass(slots=True, eq=False)
class Player:
    """An Instance whose two faces can be told what to say."""

    backend: ScriptedBackend
    chats: Reply = field(default_factory=lambda: json_answer(completion()))
    """What chats and completions are answered."""
    orders: Reply = injecting
    """What orders for KV are answered."""

    def reply(self, received: Received) -> Script:
        """Answer one request."""
        said = self.orders if received.path == INJECT else self.chats
        return said(received) if callable(said) else said

    @property
    def ordered(self) -> list[Any]:
        """Bodies of the orders for KV, in order of arrival."""
        return [each.json() for each in self.backend.requests if each.path == INJECT]

    @property
    def asked(self) -> list[Any]:
        """Bodies of chats and completions, in order of arrival."""
        return [each.json() for each in self.backend.requests if each.path in (CHAT, COMPLETIONS)]


@contextlib.asynccontextmanager
async def player(host: str = "127.0.0.1") -> AsyncIterator[Player]:
    """Run an Instance that does as it is told."""
    async with scripted(host=host) as backend:
        told = Player(backend)
        backend.reply = told.reply
        yield told


@dataclass(slots=True, eq=False)
class Stage:
    """All three, and a way to ask."""

    proxy: RunningProxy
    node: ScriptedBackend
    player: Player

    @property
    def looked_up(self) -> list[Any]:
        """Ids that the node was asked for, question by question."""
        return [each.json()["knowledge_ids"] for each in self.node.requests]

    def request(self, kids: Sequence[str] = (), **fields: Any) -> bytes:
        """Return a Request that names this node."""
        return forwarded(kids, **({"kdn": self.node.authority} | fields))

    async def ask(self, kids: Sequence[str] = (), **fields: Any) -> Told:
        """Make a request, which must be answered well, and return what was told of it."""
        endpoint = fields.get("endpoint", "chat/completions")
        body = self.request(kids, **fields)
        answer = await post(self.proxy.service_port, body, f"/v1/{endpoint}")
        assert answer.status == 200, answer.body
        is_stream = fields.get("stream", False)
        return Told(answer, (meta_of if is_stream else meta_of_json)(answer.body))

    async def pressure(self) -> dict[str, Any]:
        """Return the load figures of the one Instance."""
        (row,) = await self.proxy.loads()
        return row

    async def counts(self) -> dict[str, int]:
        """Return the counters of the one Instance that are not 0."""
        row = await self.pressure()
        return {name: row[name] for name in COUNTS if row[name]}

    async def shows(self, **counts: int) -> None:
        """Wait until exactly these counters are not 0."""
        await eventually_is(self.counts, lambda now: now == counts)

    async def nothing_left(self) -> None:
        """Every counter of every Instance is back at 0, and nothing is kept of anybody."""

        async def left() -> list[object]:
            return [row for row in await self.proxy.loads() if any(row[name] for name in COUNTS)]

        await eventually_is(left, lambda rows: not rows, within_s=1.0)
        for row in await self.proxy.loads():
            assert not any(row[name] for name in BACKLOG), row
        turnstiles = self.proxy.app.proxy.turnstiles
        assert len(turnstiles.links) == 0
        for gate in turnstiles._gates.values():
            assert len(gate.upcoming) == 0
            assert gate.board.waiting() == []

    @contextlib.asynccontextmanager
    async def clients(self, *bodies: bytes) -> AsyncIterator[list[RawClient]]:
        """Hold chats that are under way, one connection each."""
        async with contextlib.AsyncExitStack() as stack:
            held = []
            for body in bodies:
                client = await stack.enter_async_context(connected(self.proxy.service_port))
                client.ask("POST", CHAT, body=body)
                held.append(client)
            yield held


async def join(proxy: RunningProxy, instance: Player, **fields: Any) -> None:
    """Register an Instance that takes its orders at the port it serves on."""
    backend = instance.backend
    body = {
        "instance_id": "i-1", "host": backend.host, "port": backend.port,
        "meta": {"cp_port": backend.port}, **fields,
    }  # fmt: skip
    await proxy.register(**body)


@contextlib.asynccontextmanager
async def stage(*pieces: Piece, **overrides: object) -> AsyncIterator[Stage]:
    """Run a node with these texts, an Instance, and a Proxy that may ask the node."""
    found = {piece.kid: piece for piece in pieces}
    async with (
        scripted(looking_up(found)) as node,
        player() as instance,
        running_proxy(**{"kdn__allow": [node.authority], **overrides}) as proxy,  # type: ignore[arg-type]
    ):
        await join(proxy, instance)
        yield Stage(proxy, node, instance)
