"""The least a proxy can do in Python: parse both sides, choose in turn, pass bytes on.

No limits, no timeouts, no counters, no second try: the floor under what the Proxy costs.
`python -m tests.bench.relay PORT BACKEND_PORT...` ends when its standard input does.
"""

import asyncio
import sys
from collections import deque
from itertools import cycle
from typing import cast

import httptools
import uvloop

_DROPPED = frozenset((b"host", b"connection", b"content-length", b"transfer-encoding"))


class Upstream(asyncio.Protocol):
    """The client side of one connection to a backend."""

    def __init__(self, peer: "Peer") -> None:
        self._peer = peer
        self._transport = cast(asyncio.Transport, None)
        self._down: Down | None = None
        self._unsent = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._unsent)

    def connection_lost(self, exc: Exception | None) -> None:
        if self in self._peer.idle:
            self._peer.idle.remove(self)
        if self._down is not None:
            self._down.leave()

    def begin(self, down: "Down", request: bytes) -> None:
        """Send a request, at once or as soon as the connection is there."""
        self._down = down
        self._parser = httptools.HttpResponseParser(self)
        self._head: list[bytes] = []
        self._body: list[bytes] = []
        self._over = self._chunked = False
        if self._transport is None:
            self._unsent = request
        else:
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        down = self._down
        if down is None:
            self._transport.abort()
            return
        self._parser.feed_data(data)
        body = b"".join(self._body)
        self._body.clear()
        if body and self._chunked:
            body = b"%x\r\n%b\r\n" % (len(body), body)
        if self._over:
            if self._chunked:
                body += b"0\r\n\r\n"
            self._down = None
            self._peer.idle.append(self)
        down.send(b"".join(self._head) + body, over=self._over)
        self._head.clear()

    def on_status(self, reason: bytes) -> None:
        self._head.append(b"HTTP/1.1 %d %b\r\n" % (self._parser.get_status_code(), reason))

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"transfer-encoding":
            self._chunked = True
        self._head.append(b"%b: %b\r\n" % (name, value))

    def on_headers_complete(self) -> None:
        self._head.append(b"\r\n")

    def on_body(self, data: bytes) -> None:
        self._body.append(data)

    def on_message_complete(self) -> None:
        self._over = True

    def leave(self) -> None:
        """Give the request up."""
        self._down = None
        if self._transport is not None:
            self._transport.abort()


class Peer:
    """One backend and its idle connections."""

    def __init__(self, port: int) -> None:
        self.host = b"127.0.0.1:%d" % port
        self.port = port
        self.idle: list[Upstream] = []

    def send(self, down: "Down", request: bytes) -> Upstream:
        """Send a request on a warm connection, or on a new one."""
        if self.idle:
            upstream = self.idle.pop()
        else:
            upstream = Upstream(self)
            connecting = down.loop.create_task(
                down.loop.create_connection(lambda: upstream, "127.0.0.1", self.port)
            )
            _held.add(connecting)
            connecting.add_done_callback(_held.discard)
        upstream.begin(down, request)
        return upstream


_held: set[object] = set()


class Down(asyncio.Protocol):
    """The server side of one client's connection."""

    def __init__(self, peers: "cycle[Peer]") -> None:
        self.loop = asyncio.get_running_loop()
        self._peers = peers
        self._parser = httptools.HttpRequestParser(self)
        self._transport = cast(asyncio.Transport, None)
        self._upstream: Upstream | None = None
        self._waiting: deque[list[bytes]] = deque()
        self._url = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._upstream is not None:
            self._upstream.leave()

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_begin(self) -> None:
        self._lines: list[bytes] = []
        self._body: list[bytes] = []

    def on_url(self, url: bytes) -> None:
        self._url = url

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() not in _DROPPED:
            self._lines.append(b"%b: %b\r\n" % (name, value))

    def on_body(self, data: bytes) -> None:
        self._body.append(data)

    def on_message_complete(self) -> None:
        peer = next(self._peers)
        body = b"".join(self._body)
        start = b"%b %b HTTP/1.1\r\nHost: %b\r\n" % (
            self._parser.get_method(), self._url, peer.host,
        )  # fmt: skip
        length = b"Content-Length: %d\r\n\r\n" % len(body)
        self._upstream = peer.send(self, b"".join([start, *self._lines, length, body]))

    def send(self, data: bytes, *, over: bool) -> None:
        """Pass bytes of the answer on."""
        if over:
            self._upstream = None
        self._transport.write(data)

    def leave(self) -> None:
        """Cut the answer off."""
        self._upstream = None
        self._transport.abort()


async def _serve(port: int, backends: list[int]) -> None:
    loop = asyncio.get_running_loop()
    peers = cycle([Peer(backend) for backend in backends])
    await loop.create_server(lambda: Down(peers), "127.0.0.1", port, backlog=2048)
    over = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), over.set)
    await over.wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(int(sys.argv[1]), [int(text) for text in sys.argv[2:]]))
