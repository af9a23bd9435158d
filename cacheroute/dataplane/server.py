"""Listens, and hands whole requests to one callback.

The callback must answer each `Inbound` exactly once, now or later; it runs in the event
loop's turn that read the request, so it must not block.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence

from cacheroute.core.limits import Limits, Timeouts
from cacheroute.dataplane.connection import ClientConnection
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.memory import RequestMemory
from cacheroute.dataplane.sockets import bind
from cacheroute.dataplane.sweep import Sweeper

Refusal = tuple[Sequence[tuple[bytes, bytes]], bytes]


def render_plain_refusal(_status: int, message: str) -> Refusal:
    """Say in plain text why a request was refused."""
    return ((b"Content-Type", b"text/plain; charset=utf-8"),), message.encode() + b"\n"


class HttpServer:
    """An HTTP/1.1 server on asyncio transports."""

    def __init__(
        self,
        on_request: Callable[[Inbound], None],
        *,
        limits: Limits | None = None,
        timeouts: Timeouts | None = None,
        render_refusal: Callable[[int, str], Refusal] = render_plain_refusal,
    ) -> None:
        self.on_request = on_request
        self.limits = limits or Limits()
        self.timeouts = timeouts or Timeouts()
        self.render_refusal = render_refusal
        """Turns a status and a sentence into the headers and body of a refusal."""
        self.memory = RequestMemory(self.limits.request_bytes)
        """What all connections together hold of requests."""
        self._connections: set[ClientConnection] = set()
        self._turned_away: set[ClientConnection] = set()
        self._refusing = False
        self._servers: list[asyncio.Server] = []
        self._idle = asyncio.Event()
        self._idle.set()

    async def start(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        listeners: list[socket.socket] | None = None,
    ) -> None:
        """Bind and listen; raises OSError when the address is taken. Port 0 takes a free one."""
        self.loop = asyncio.get_running_loop()
        timeouts = self.timeouts
        self._sweeper = Sweeper(
            self.loop,
            [
                timeouts.client_head_s,
                timeouts.client_body_s,
                timeouts.client_idle_s,
                timeouts.client_write_s,
            ],
        )
        listeners = listeners or bind(host, port)
        self.port: int = listeners[0].getsockname()[1]
        """The port that is listened on."""
        for listener in listeners:
            server = await self.loop.create_server(
                lambda: ClientConnection(self), sock=listener, backlog=2048
            )
            self._servers.append(server)
        self._sweeper.start()

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._connections)

    def refuse_new(self) -> None:
        """Stop listening, and let each connection end with the answer it is at."""
        self._refusing = True
        for server in self._servers:
            server.close()
        self._servers.clear()
        for connection in list(self._connections):
            connection.shut()

    async def idle(self, within_s: float) -> bool:
        """Wait until nobody is connected; False when that takes longer."""
        if self._connections and within_s > 0:
            try:
                await asyncio.wait_for(self._idle.wait(), within_s)
            except TimeoutError:
                pass
        return not self._connections

    async def stop(self, grace_s: float = 0.0) -> None:
        """Refuse new connections, let running answers end for `grace_s`, then cut the rest."""
        self.refuse_new()
        await self.idle(grace_s)
        for connection in list(self._connections):
            connection.reset_and_tell()
        if self._connections:
            await asyncio.wait_for(self._idle.wait(), 5.0)
        self._sweeper.stop()

    # From the connections.

    def admit(self, connection: ClientConnection) -> bool:
        """Take note of a new connection; False when it is one too many."""
        self._connections.add(connection)
        self._sweeper.watched.add(connection)
        self._idle.clear()
        if self._refusing:
            connection.shut()  # it was accepted before we stopped listening
        elif len(self._connections) - len(self._turned_away) > self.limits.connections:
            self._turned_away.add(connection)
            return False
        return True

    def forget(self, connection: ClientConnection) -> None:
        """Take note that a connection is gone."""
        self._connections.discard(connection)
        self._turned_away.discard(connection)
        self._sweeper.watched.discard(connection)
        if not self._connections:
            self._idle.set()
