"""A server that says what a real vLLM said, on a real socket; it can go and come back."""

import contextlib
from collections.abc import AsyncIterator

from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.server import HttpServer
from tests.cacheroute.attach import captured

SERVED = ("/v1/chat/completions", "/v1/completions", "/tokenize")


class Engine:
    """Answers each path with what is set for it, and everything else with 404."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, bytes]] = {
            "/health": (200, b""),
            "/v1/models": (200, captured.MODELS),
            "/version": (200, captured.VERSION),
            "/metrics": (200, captured.metrics()),
            **dict.fromkeys(SERVED, (400, b'{"error":{"message":"no JSON"}}')),
        }
        self.key: bytes | None = None
        """Wanted as bearer token below `/v1`."""
        self.asked: list[tuple[str, str, bytes | None]] = []
        """Method, path and key of each request."""
        self.port = 0
        self._server: HttpServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def open(self) -> None:
        """Listen; on the same port as before, if there was one."""
        self._server = HttpServer(self._on_request)
        await self._server.start("127.0.0.1", self.port)
        self.port = self._server.port

    async def close(self) -> None:
        """Be gone."""
        if self._server is not None:
            await self._server.stop()
            self._server = None

    def paths_asked(self) -> list[str]:
        return [path for _, path, _ in self.asked]

    def _on_request(self, inbound: Inbound) -> None:
        key = inbound.header(b"authorization")
        self.asked.append((inbound.method, inbound.path, key))
        status, body = self.answers.get(inbound.path, (404, b'{"detail":"Not Found"}'))
        is_locked = self.key is not None and inbound.path.startswith("/v1")
        if is_locked and key != b"Bearer " + (self.key or b""):
            status, body = 401, b'{"error":"Unauthorized"}'
        inbound.respond(status, ((b"content-type", b"application/json"),), body)


@contextlib.asynccontextmanager
async def engine() -> AsyncIterator[Engine]:
    """Run one for as long as the block lasts."""
    playing = Engine()
    await playing.open()
    try:
        yield playing
    finally:
        await playing.close()
