"""Both sides of the data plane on loopback: a server that notes what reaches it, and its clients.

Limits on time are tested by handing time in: `Served.tick` says that seconds have gone by.
"""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from cacheroute.core.limits import Limits, Timeouts
from cacheroute.dataplane.connection import ClientConnection
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.server import HttpServer, Refusal, render_plain_refusal
from tests.support.client import Answer, RawClient
from tests.support.waiting import eventually

Handler = Callable[[Inbound], None]

both_loops = pytest.mark.asyncio(loop_factories=["uvloop", "asyncio"])
HOST = b"Host: a\r\n"
PING = b"GET /ping HTTP/1.1\r\n" + HOST + b"\r\n"


def echo(inbound: Inbound) -> None:
    """Answer at once with what was understood of the request."""
    understood = {
        "method": inbound.method,
        "path": inbound.path,
        "query": inbound.query.decode("latin-1"),
        "body": inbound.body.decode("latin-1"),
    }
    kind = [(b"Content-Type", b"application/json")]
    inbound.respond(200, kind, json.dumps(understood).encode())


def hold(inbound: Inbound) -> None:
    """Leave the answer to the test."""


def post(body: bytes, *lines: bytes, target: bytes = b"/") -> bytes:
    """Render a POST with a Content-Length."""
    return request(*lines, b"Content-Length: %d" % len(body), target=target) + body


def request(*lines: bytes, target: bytes = b"/", method: bytes = b"POST") -> bytes:
    """Render the head of a request with exactly these header lines and a Host."""
    start = b"%b %b HTTP/1.1" % (method, target)
    return b"\r\n".join([start, b"Host: a", *lines]) + b"\r\n\r\n"


def chunked(*pieces: bytes, trailers: bytes = b"") -> bytes:
    """Render a chunked body."""
    return b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in pieces) + b"0\r\n" + trailers + b"\r\n"


@dataclass(slots=True, eq=False)
class Served:
    """A running server, and what has reached it."""

    handler: Handler
    requests: list[Inbound] = field(default_factory=list)
    """In the order in which they were handed over."""
    gone: list[Inbound] = field(default_factory=list)
    """Requests whose client has left, one entry per call."""
    server: HttpServer = field(init=False)

    def __call__(self, inbound: Inbound) -> None:
        self.requests.append(inbound)
        inbound.on_gone = lambda: self.gone.append(inbound)
        self.handler(inbound)

    @property
    def port(self) -> int:
        """Where it listens."""
        return self.server.port

    @property
    def connection(self) -> ClientConnection:
        """The only connection there is."""
        (only,) = self.server._connections
        return only

    async def request(self, count: int = 1) -> Inbound:
        """Wait until this many requests have come; return the last of them."""
        await eventually(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def connected(self, count: int) -> None:
        """Wait until exactly this many clients are connected."""
        await eventually(lambda: self.server.connections == count)

    def tick(self, elapsed_s: float) -> None:
        """Say that this many seconds have gone by."""
        for watched in list(self.server._sweeper.watched):
            watched.tick(elapsed_s)


@contextlib.asynccontextmanager
async def serving(
    handler: Handler = echo,
    *,
    limits: Limits | None = None,
    timeouts: Timeouts | None = None,
    render_refusal: Callable[[int, str], Refusal] = render_plain_refusal,
) -> AsyncIterator[Served]:
    """Run a server for as long as the block lasts."""
    served = Served(handler)
    served.server = HttpServer(
        served, limits=limits, timeouts=timeouts, render_refusal=render_refusal
    )
    await served.server.start()
    try:
        yield served
    finally:
        await served.server.stop()


async def said(client: RawClient, data: bytes, method: str = "POST") -> Answer:
    """Send raw bytes, and wait for the end of what they are answered."""
    client.expect(method)
    client.send(data)
    return await client.over()


async def understood(client: RawClient, data: bytes, method: str = "POST") -> Any:
    """Send raw bytes, and return what the server read in them."""
    answer = await said(client, data, method)
    assert answer.status == 200, answer.body
    return answer.json()


@contextlib.asynccontextmanager
async def slow_reader(port: int) -> AsyncIterator[RawClient]:
    """Connect with a small window and do not read, so that answers soon pile up at the server."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(sock, ("127.0.0.1", port))
    _, client = await loop.create_connection(RawClient, sock=sock)
    client.stop_reading()
    try:
        yield client
    finally:
        client.close()


async def all_but_stuck(served: Served, inbound: Inbound) -> None:
    """Write to a client that does not read until a small rest, below the water mark, is left."""
    transport = served.connection._transport
    while not transport.get_write_buffer_size():
        inbound.write(bytes(1 << 14))
        await asyncio.sleep(0)
    assert not inbound.write_paused


class MemoryWire(asyncio.Transport):
    """A wire without a socket: what is written stays here, and input comes piece by piece."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._protocol = protocol
        self.writes: list[bytes] = []
        """What was written, call by call."""
        self.reading = True
        self.ended = False
        """Whether our half, or all of it, was closed."""
        self.unsent_bytes = 0
        """What the peer has not taken yet."""
        self._closing = False

    @property
    def written(self) -> bytes:
        """Everything written so far."""
        return b"".join(self.writes)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.writes.append(b"".join(list_of_data))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return self.unsent_bytes

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if not self._closing:
            self.ended = self._closing = True
            asyncio.get_running_loop().call_soon(self._protocol.connection_lost, None)

    def abort(self) -> None:
        self.close()


@contextlib.asynccontextmanager
async def wired(served: Served) -> AsyncIterator[tuple[ClientConnection, MemoryWire]]:
    """Hold a connection that is fed by hand."""
    connection = ClientConnection(served.server)
    wire = MemoryWire(connection)
    connection.connection_made(wire)
    try:
        yield connection, wire
    finally:
        wire.close()


async def feed(connection: ClientConnection, wire: MemoryWire, pieces: Iterable[bytes]) -> None:
    """Hand pieces in, each as soon as the connection reads, and let what is due be answered."""
    for piece in filter(None, pieces):
        await eventually(lambda: wire.reading, every_s=0)
        connection.data_received(piece)
    await eventually(lambda: not connection.is_busy, every_s=0)
