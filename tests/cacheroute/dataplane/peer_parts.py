"""A pool of upstream connections, and a listener that notes what it is told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from cacheroute.core.errors import UpstreamError
from cacheroute.dataplane.outbound import Outbound
from cacheroute.dataplane.pool import Peer, UpstreamPool
from tests.support.backend import ScriptedBackend
from tests.support.script import Script, Write
from tests.support.waiting import eventually

PATH = "/v1/chat/completions"


@dataclass(slots=True, weakref_slot=True, eq=False)
class Notes:
    """Everything a listener was told about one request."""

    outbound: Outbound = field(init=False)
    told: list[str] = field(default_factory=list)
    """Names of the calls, in order."""
    pieces: list[bytes] = field(default_factory=list)
    last: bytes | None = None
    """The piece that came with the end."""
    error: UpstreamError | None = None
    on_news: Callable[[], None] = lambda: None
    """Called after each note."""

    def on_head(self) -> None:
        """Note it."""
        self._note("head")

    def on_body(self, data: bytes) -> None:
        """Note it."""
        self.pieces.append(data)
        self._note("body")

    def on_end(self, data: bytes) -> None:
        """Note it."""
        self.last = data
        self._note("end")

    def on_fail(self, error: UpstreamError) -> None:
        """Note it."""
        self.error = error
        self._note("fail")

    def _note(self, what: str) -> None:
        self.told.append(what)
        self.on_news()

    @property
    def body(self) -> bytes:
        """The body so far."""
        return b"".join(self.pieces) + (self.last or b"")

    @property
    def whole(self) -> bool:
        """Whether the answer has ended well."""
        return self.last is not None

    async def heard(self, size: int) -> None:
        """Wait for this many body bytes."""
        await eventually(lambda: len(self.body) >= size or self.error)
        assert self.error is None, self.error

    async def over(self) -> "Notes":
        """Wait for the end, good or bad."""
        await eventually(lambda: self.whole or self.error)
        assert self.told.count("end") + self.told.count("fail") == 1, self.told
        assert self.told.count("head") <= 1, self.told
        return self

    async def succeeded(self) -> bytes:
        """Wait for the end, which must be a good one; returns the body."""
        await self.over()
        assert self.error is None, self.error
        return self.body

    async def failed(self) -> UpstreamError:
        """Wait for the end, which must be a bad one; returns the error."""
        await self.over()
        assert self.error is not None, self.body
        return self.error


def noted(body: bytes = b"", *, method: str = "POST", path: str = PATH) -> Notes:
    """Return a request that was not sent yet, by what will be heard of it."""
    notes = Notes()
    start = f"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
    notes.outbound = Outbound(start.encode(), body, notes, expects_body=method != "HEAD")
    return notes


def send(peer: Peer, body: bytes = b"", *, method: str = "POST", path: str = PATH) -> Notes:
    """Send a request, and return what will be heard of it."""
    notes = noted(body, method=method, path=path)
    peer.send(notes.outbound)
    return notes


@contextlib.asynccontextmanager
async def pooled(**given: Any) -> AsyncIterator[UpstreamPool]:
    """Run a pool for as long as the block lasts; leaves no connection behind."""
    pool = UpstreamPool(**given)
    try:
        yield pool
    finally:
        for peer in list(pool._peers.values()):
            for outbound in list(peer.active):
                outbound.abandon()
        pool.close()
        await asyncio.sleep(0)


def at(pool: UpstreamPool, backend: ScriptedBackend) -> Peer:
    """Return the peer that a scripted backend is."""
    return pool.peer(backend.host, backend.port)


def tick(pool: UpstreamPool, elapsed_s: float) -> None:
    """Say that this many seconds have gone by."""
    for watched in list(pool._sweeper.watched):
        watched.tick(elapsed_s)


def raw(*pieces: bytes) -> Script:
    """Return a script that writes these bytes."""
    return tuple(map(Write, pieces))
