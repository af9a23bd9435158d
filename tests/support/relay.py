"""A network between two: it carries every byte on, or swallows all of them without a word."""

import asyncio
import socket
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

_BLOCK = 65_536
_FILLERS = 8
"""More than the shortest queue of a listener has room for."""


class Relay:
    """Listens at an address of its own and carries bytes to another, until it is told not to."""

    def __init__(self, to: str) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.setblocking(False)
        self._to = to
        self._open: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self.connections = 0
        """How many came."""

    def carry(self, to: str | None = None) -> None:
        """Carry from now on, perhaps to another address; what was open before is closed."""
        self._stop()
        self._to = to or self._to
        for one in self._open:
            one.close()
        self._open.clear()
        self._server.listen(128)
        self._start(self._take())

    def swallow(self) -> None:
        """Carry nothing and take nobody: what is open stays open, who comes anew waits in vain."""
        self._stop()
        # The system goes on to shake hands until the queue is full, and then drops who knocks.
        self._server.listen(0)
        for _ in range(_FILLERS):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(self._server.getsockname())
            self._open.append(filler)

    async def end(self) -> None:
        """Close everything."""
        tasks = list(self._tasks)
        self._stop()
        await asyncio.gather(*tasks, return_exceptions=True)
        for one in (self._server, *self._open):
            one.close()

    def _start(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _take(self) -> None:
        loop = asyncio.get_running_loop()
        to = urlsplit(self._to)
        while True:
            here, _ = await loop.sock_accept(self._server)
            there = socket.socket()
            there.setblocking(False)
            self._open += here, there
            self.connections += 1
            await loop.sock_connect(there, (to.hostname, to.port))
            self._start(_carried(here, there))
            self._start(_carried(there, here))


async def _carried(source: socket.socket, sink: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while data := await loop.sock_recv(source, _BLOCK):
            await loop.sock_sendall(sink, data)
        sink.shutdown(socket.SHUT_WR)


@asynccontextmanager
async def a_relay(to: str) -> AsyncIterator[Relay]:
    """Carry to an address for as long as the block lasts."""
    relay = Relay(to)
    relay.carry()
    try:
        yield relay
    finally:
        await relay.end()
