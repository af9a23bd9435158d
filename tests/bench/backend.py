"""A backend that costs as little as it can: fixed answers, and streams paced to the microsecond.

`python -m tests.bench.backend COUNT` listens on COUNT loopback ports, prints them, and ends
when its standard input does.
"""

import asyncio
import heapq
import json
import os
import random
import re
import sys
from typing import cast

import uvloop

from tests.bench import payloads
from tests.bench.timer import Timer, now_ns

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
_AT_ONCE = 256
"""Most events that are sent before requests are looked at again."""


class Stream:
    """One answer on its way."""

    __slots__ = ("connection", "due_ns", "every_ns", "left")

    def __init__(self, connection: "Connection", events: int, every_ns: int) -> None:
        self.connection = connection
        self.left = events
        self.every_ns = every_ns
        # A phase of its own: streams in step would reach the router in one turn.
        self.due_ns = now_ns() + random.randrange(max(1, every_ns))

    def __lt__(self, other: "Stream") -> bool:
        return self.due_ns < other.due_ns


class Pacer:
    """Sends each stream's next event when it is due; a stream that is blocked catches up."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._due: list[Stream] = []
        self._timer = Timer(loop, self._run)

    def add(self, stream: Stream) -> None:
        """Take up a stream, or go on with one that was blocked."""
        heapq.heappush(self._due, stream)
        self._timer.at(self._due[0].due_ns)

    def _run(self) -> None:
        due = self._due
        for _ in range(_AT_ONCE):
            if not due or due[0].due_ns > now_ns():
                break
            stream = due[0]
            if stream.connection.send_next(stream):
                stream.due_ns += stream.every_ns
                heapq.heapreplace(due, stream)
            else:
                heapq.heappop(due)
        if due:
            self._timer.at(due[0].due_ns)


class Connection(asyncio.Protocol):
    """The server side of one connection."""

    def __init__(self, pacer: Pacer) -> None:
        self._pacer = pacer
        self._transport = cast(asyncio.Transport, None)
        self._descriptor = -1
        self._waiting = b""
        self._stream: Stream | None = None
        self._blocked = False
        self._behind = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=0)
        self._descriptor = transport.get_extra_info("socket").fileno()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._stream is not None:
            self._stream.left = 0
            self._stream = None

    def data_received(self, data: bytes) -> None:
        if self._waiting:
            data = self._waiting + data
            self._waiting = b""
        head = data.find(b"\r\n\r\n")
        length = _LENGTH.search(data, 0, head) if head >= 0 else None
        if head < 0 or (length is not None and len(data) < head + 4 + int(length[1])):
            self._waiting = data
            return
        if data.startswith(b"POST "):
            pace = payloads.pace_of(data)
            if pace is None:
                self._send(payloads.JSON_ANSWER)
                return
            self._send(payloads.STREAM_HEAD + payloads.STREAM_FIRST)
            self._stream = Stream(self, pace[0] - 1, pace[1] * 1000)
            self._pacer.add(self._stream)
        elif b"/v1/models" in data[:64]:
            self._send(payloads.MODELS_PAGE)
        else:
            self._send(payloads.OTHER_PAGE)

    def pause_writing(self) -> None:
        self._behind = True

    def resume_writing(self) -> None:
        self._behind = False
        if self._blocked and self._stream is not None:
            self._blocked = False
            self._pacer.add(self._stream)

    def send_next(self, stream: Stream) -> bool:
        """Send one event; False when the stream is over or blocked."""
        if stream is not self._stream:
            return False
        if self._behind:
            self._blocked = True
            return False
        stream.left -= 1
        if stream.left:
            self._send(payloads.STREAM_TOKEN)
            return True
        self._stream = None
        self._send(payloads.STREAM_LAST)
        return False

    def _send(self, data: bytes) -> None:
        # A transport gathers what one turn of the loop writes; a model server's events are
        # system calls of their own.
        sent = 0
        if not self._behind:
            try:
                sent = os.write(self._descriptor, data)
            except BlockingIOError:
                pass
            except OSError:
                self._transport.abort()
                return
        if sent < len(data):
            self._transport.write(data[sent:])  # waits for room, then tells us to go on


async def _serve(ports: int) -> None:
    loop = asyncio.get_running_loop()
    pacer = Pacer(loop)
    bound = []
    for _ in range(ports):
        server = await loop.create_server(lambda: Connection(pacer), "127.0.0.1", 0, backlog=2048)
        bound.append(server.sockets[0].getsockname()[1])
    print(json.dumps(bound), flush=True)  # noqa: T201
    over = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), over.set)  # whoever started us closes it, or is gone
    await over.wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(int(sys.argv[1])))
