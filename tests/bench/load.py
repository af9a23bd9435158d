"""Clients that cost as little as they can, driven by one line of JSON per measurement.

They measure between two moments at which the count of what came back and the router's CPU
time are read together, so connecting and warming up cost nobody anything.
"""

import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import cycle
from typing import cast

import uvloop

from tests.bench import payloads, readings

_GOOD = b"HTTP/1.1 200 "
_LAST_CHUNK = b"\r\n0\r\n\r\n"
_DRAIN_S = 2.0
_READY_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One measurement."""

    port: int
    connections: int
    size: payloads.Size
    every_us: int | None
    """Pace of each stream; None for plain JSON answers, one after the other."""
    warm_s: float
    window_s: float
    pids: list[int]
    """Processes whose CPU time is read."""
    max_requests: int | None = None
    """End the window once so many answers have come in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What came of it."""

    window_s: float
    cpu_s: float
    answers: int
    events: int
    bad: int
    """Answers that were not 200, and connections that were lost."""


class Clients:
    """All connections of one measurement, and what came back on them."""

    def __init__(self, order: Order) -> None:
        self.requests = cycle(payloads.requests(order.size, order.every_us))
        self.is_stream = order.every_us is not None
        self.answers = 0
        self.events = 0
        self.bad = 0
        self.running = 0
        self.target: int | None = None
        """Answers at which `reached` is set; one that is bad sets it too."""
        self.reached = asyncio.Event()
        self.over = False
        """Whether nobody asks again."""
        self.drained = asyncio.Event()
        self.open: set[Client] = set()

    def went_wrong(self) -> None:
        """Note an answer that was not 200, or a connection that was lost."""
        self.bad += 1
        self.reached.set()

    def answered(self) -> bool:
        """Note a whole answer; True when the next request is to be sent."""
        self.answers += 1
        self.running -= 1
        if self.answers == self.target:
            self.reached.set()
        if self.over and not self.running:
            self.drained.set()
        return not self.over


class Client(asyncio.Protocol):
    """One connection that asks again as soon as it is answered."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._transport = cast(asyncio.Transport, None)
        self._kept = b""
        self._is_new = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._clients.open.add(self)
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        clients = self._clients
        clients.open.discard(self)
        if not clients.over:
            clients.went_wrong()

    def data_received(self, data: bytes) -> None:
        if self._clients.is_stream:
            self._events(data)
            return
        if self._kept:
            data = self._kept + data
        if not data.startswith(_GOOD):
            self._transport.abort()
        elif data.endswith(payloads.JSON_END):
            self._kept = b""
            self._answered()
        else:
            self._kept = data

    def _events(self, data: bytes) -> None:
        if self._is_new:
            self._is_new = False
            if not data.startswith(_GOOD):
                self._transport.abort()
                return
        found = data.count(b"\n\n")
        kept = self._kept
        if kept.endswith(b"\n") and data.startswith(b"\n"):
            found += 1  # a cut right between the two
        kept = (kept + data)[-7:] if len(data) < 7 else data[-7:]
        self._kept = kept
        self._clients.events += found
        if kept == _LAST_CHUNK:
            self._clients.events -= payloads.EVENTS_BEYOND_COUNT
            self._kept = b""
            self._is_new = True
            self._answered()

    def _answered(self) -> None:
        if self._clients.answered():
            self._ask()

    def _ask(self) -> None:
        self._clients.running += 1
        self._transport.write(next(self._clients.requests))

    def leave(self) -> None:
        """Close, whatever is under way."""
        self._transport.abort()


async def measure(order: Order) -> Taken:
    """Connect, warm up, measure, leave."""
    clients = Clients(order)
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(_READY_S):
        for _ in range(order.connections):
            await loop.create_connection(lambda: Client(clients), "127.0.0.1", order.port)
    await asyncio.sleep(order.warm_s)
    cpu_s, began_s = readings.cpu_s(order.pids), loop.time()
    answers, events = clients.answers, clients.events
    if order.max_requests is None:
        await asyncio.sleep(order.window_s)
    else:
        clients.target = answers + order.max_requests
        await clients.reached.wait()
    taken = Taken(
        window_s=loop.time() - began_s,
        cpu_s=readings.cpu_s(order.pids) - cpu_s,
        answers=clients.answers - answers,
        events=clients.events - events,
        bad=clients.bad,
    )
    clients.over = True
    if not clients.is_stream:  # streams are left in the middle, as many clients do
        with suppress(TimeoutError):
            await asyncio.wait_for(clients.drained.wait(), _DRAIN_S)
    for client in list(clients.open):
        client.leave()
    await asyncio.sleep(0.02)
    return taken


async def _obey() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        try:
            reply = asdict(await measure(Order(**json.loads(line))))
        except (OSError, TimeoutError) as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)  # noqa: T201


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_obey())
