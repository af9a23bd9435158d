"""A knowledge node in this process on a real socket, and an engine that keeps KV in Redis."""

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import redis.asyncio

from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.server import HttpServer
from cacheroute.demo import kv_blob
from cacheroute.demo.kdn.node import Node
from cacheroute.demo.kdn.options import KdnOptions
from cacheroute.wire import paths
from tests.support.redis import RedisServer

OPTIONS = KdnOptions(port=0, grace_s=0.0)
MODEL = "tiny"
BLOCK_TOKENS = 8
"""Characters, here: one letter counts as one token."""
BLOCK_NOMINAL_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A running node and a client of it."""

    node: Node
    http: httpx.AsyncClient

    async def post(self, path: str, body: object) -> httpx.Response:
        return await self.http.post(path, json=body)

    async def told(self, path: str, body: object) -> dict[str, Any]:
        """Return the body of a 200."""
        answer = await self.post(path, body)
        assert answer.status_code == 200, answer.text
        value: dict[str, Any] = answer.json()
        return value

    async def register(self, text: str) -> str:
        """Register a text and return its id."""
        kid: str = (await self.told(paths.KNOWLEDGE_REGISTER_TEXT, {"content": text}))["kid"]
        return kid

    async def build(
        self, kid: str, engine: "Engine", target: RedisServer, **fields: Any
    ) -> dict[str, Any]:  # fmt: skip
        body = {"kid": kid, "api_url": engine.url, "model": MODEL, **redis_fields(target), **fields}
        return await self.told(paths.KNOWLEDGE_BUILD_KV, body)

    async def inject(self, kids: list[str], target: RedisServer, **fields: Any) -> dict[str, Any]:
        body = {"request_id": 7, "model": MODEL, "knowledge_ids": kids, **redis_fields(target)}
        return await self.told(paths.KNOWLEDGE_INJECT_READY_KV, {**body, **fields})


@contextlib.asynccontextmanager
async def live(**changes: Any) -> AsyncIterator[Live]:
    """Run a node for a while, with some options changed."""
    node = Node(replace(OPTIONS, **changes))
    node.building._settle_s = 0.01
    await node.open()
    url = f"http://127.0.0.1:{node.port}"
    try:
        async with httpx.AsyncClient(base_url=url, timeout=20, trust_env=False) as http:
            yield Live(node=node, http=http)
    finally:
        await node.close()


def redis_fields(target: RedisServer) -> dict[str, Any]:
    """Return how a body names a Redis."""
    return {
        "redis_host": target.host, "redis_port": target.port, "redis_db": 0,
        "redis_password": target.password,
    }  # fmt: skip


def exists(path: str) -> bool:
    """Whether there is such a file."""
    return Path(path).exists()


class Engine:
    """Answers chats, and keeps a key in Redis for each whole block of the one message."""

    def __init__(self, target: RedisServer) -> None:
        self._target = target
        self._tasks: set[asyncio.Task[None]] = set()
        self.asked: list[dict[str, Any]] = []
        """Bodies in the order they came."""
        self.status = 200
        self.keeps = True
        """Whether anything is written at all."""
        self.url = ""

    def keys(self, text: str) -> dict[bytes, bytes]:
        """Return what it keeps for a text."""
        blob = kv_blob.pack(BLOCK_TOKENS, BLOCK_NOMINAL_BYTES)
        ends = range(BLOCK_TOKENS, len(text) + 1, BLOCK_TOKENS)
        chains = [hashlib.sha256(text[:end].encode()).hexdigest()[:32] for end in ends]
        return {f"{MODEL}@1@0@{chain}".encode(): blob for chain in chains}

    def on_request(self, inbound: Inbound) -> None:
        assert inbound.path == paths.CHAT_COMPLETIONS, inbound.path
        self.asked.append(json.loads(inbound.body))
        task = asyncio.create_task(self._answer(inbound))  # noqa: TID251 - held in the set
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, inbound: Inbound) -> None:
        text = self.asked[-1]["messages"][0]["content"]
        if self.keeps:
            target = self._target
            async with redis.asyncio.Redis(
                host=target.host, port=target.port, password=target.password, protocol=2
            ) as client:
                for key, value in self.keys(text).items():
                    await client.set(key, value)
        inbound.respond(self.status, (), b'{"choices": []}')


@contextlib.asynccontextmanager
async def engine(target: RedisServer) -> AsyncIterator[Engine]:
    """Run an engine for a while."""
    each = Engine(target)
    server = HttpServer(each.on_request)
    await server.start()
    each.url = f"http://127.0.0.1:{server.port}"
    try:
        yield each
    finally:
        await server.stop()
