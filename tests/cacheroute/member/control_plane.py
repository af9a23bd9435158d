"""A tiny control plane on a real socket: it notes what it is told and says what it is made to."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.server import HttpServer

Answer = tuple[int, object]
Rule = Callable[[dict[str, Any]], Answer]

REGISTERED = {"heartbeat_interval_s": 0.05, "ttl_s": 30, "capability_fingerprint": "sha256:ab"}


class ControlPlane:
    """Answers each path by a rule that a test may replace."""

    def __init__(self) -> None:
        self.told: dict[str, asyncio.Queue[dict[str, Any]]] = {}
        self.rules: dict[str, Rule] = {
            "register": lambda body: (200, {"instance_id": body["instance_id"], **REGISTERED}),
            "heartbeat": lambda _: (200, {"ok": True}),
            "unregister": lambda _: (200, {"ok": True}),
            "resource_snapshot": lambda _: (200, {"ok": True}),
            "healthz": lambda _: (200, {"ok": True}),
            "snapshot": lambda _: (200, {"timestamp_ms": 5}),
            "report": lambda body: (200, {"ok": True, "merged_links": len(body["links"])}),
            # A knowledge node answers here as well.
            "hello": lambda body: (
                200,
                {"ok": True, "kdn_id": "kdn-1", "echo_instance_id": body["instance_id"]},
            ),
            "ping": lambda _: (200, {"ok": True, "ts_ms": 1}),
            "inject_ready_kv": lambda body: (
                200,
                {"ok": True, "injected_kids": body["knowledge_ids"], "keys_injected": 7},
            ),
        }
        self.server = HttpServer(self._on_request)
        self.authorization: set[bytes | None] = set()
        self.silent: set[str] = set()
        """Paths, by their last word, that are noted and never answered."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    async def next(self, name: str) -> dict[str, Any]:
        """Wait for the next request to a path, by its last word."""
        async with asyncio.timeout(20):
            return await self._queue(name).get()

    def answer(self, name: str, *answers: Answer) -> None:
        """Say these, one for each request, and the last one from then on."""
        left = list(answers)
        self.rules[name] = lambda _: left.pop(0) if len(left) > 1 else left[0]

    def _queue(self, name: str) -> asyncio.Queue[dict[str, Any]]:
        return self.told.setdefault(name, asyncio.Queue())

    def _on_request(self, inbound: Inbound) -> None:
        name = inbound.path.rsplit("/", 1)[-1]
        body = json.loads(inbound.body) if inbound.body else {}
        self.authorization.add(inbound.header(b"authorization"))
        if name in self.silent:
            inbound.on_gone = lambda: self._queue(f"{name} gone").put_nowait(body)
        else:
            status, answer = self.rules[name](body)
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            inbound.respond(status, ((b"content-type", b"application/json"),), data)
        self._queue(name).put_nowait(body)


@contextlib.asynccontextmanager
async def control_plane(port: int = 0) -> AsyncIterator[ControlPlane]:
    plane = ControlPlane()
    await plane.server.start("127.0.0.1", port)
    try:
        yield plane
    finally:
        await plane.server.stop()
