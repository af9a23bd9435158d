"""The console's document as a stream of events: whole first, then whatever has changed.

All readers share one document, made at most twice a second. A reader that does not read is cut
off, for the Proxy keeps nothing for it; one more than there is room for is sent away.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cacheroute.planes.console import ConsolePages, Frame
from cacheroute.planes.control_replies import JsonResponse
from cacheroute.wire.problem import flat_error

MAX_READERS = 8
EVERY_S = 0.5
"""Shortest time between two events."""
KEEP_ALIVE_S = 15.0
"""Longest silence; a comment ends it."""
SLOW_S = 5.0
"""A reader that takes longer to make room for an event is cut off."""

Abort = Callable[[object], None]
"""Cuts the connection of a client that cannot be told, by its address as in the scope."""


class ConsoleStream:
    """Everybody who reads along."""

    def __init__(
        self,
        pages: ConsolePages,
        stopping: asyncio.Event,
        abort: Abort,
        *,
        every_s: float = EVERY_S,
        keep_alive_s: float = KEEP_ALIVE_S,
        slow_s: float = SLOW_S,
    ) -> None:
        self.pages = pages
        self.stopping = stopping
        self.abort = abort
        self.every_s = every_s
        self.keep_alive_s = keep_alive_s
        self.slow_s = slow_s
        self.readers = 0
        """How many read along now."""

    def open(self) -> Response:
        """Return the answer to one more reader."""
        if self.stopping.is_set():
            return JsonResponse(
                flat_error("draining", "This Proxy is shutting down."), status_code=503
            )
        if self.readers >= MAX_READERS:
            detail = f"{MAX_READERS} consoles read this stream already; poll the snapshot instead."
            return JsonResponse(
                flat_error("too_many_readers", detail),
                status_code=503,
                headers={"retry-after": "5"},
            )
        return _Reading(self)


class _Reading(Response):
    """The answer to one reader, which ends with it or with the Proxy."""

    media_type = "text/event-stream"

    def __init__(self, stream: ConsoleStream) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write events until somebody leaves."""
        stream = self._stream
        stream.readers += 1
        gone = asyncio.ensure_future(_until_gone(receive))
        stopped = asyncio.ensure_future(stream.stopping.wait())
        try:
            async with asyncio.timeout(stream.slow_s) as limit:
                await self._write(send, (gone, stopped), limit)
                limit.reschedule(None)
                if not gone.done():
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            stream.abort(scope.get("client"))
        finally:
            stream.readers -= 1
            gone.cancel()
            stopped.cancel()

    async def _write(
        self,
        send: Send,
        ends: tuple[asyncio.Future[Any], ...],
        limit: asyncio.Timeout,
    ) -> None:
        stream = self._stream
        loop = asyncio.get_running_loop()
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sent: Frame | None = None
        silent_since_s = loop.time()
        while not any(end.done() for end in ends):
            frame = stream.pages.frame(stream.every_s)
            now_s = loop.time()
            event = None
            if sent is None or frame.rev != sent.rev:
                event, sent = event_of(frame, sent), frame
            elif now_s - silent_since_s >= stream.keep_alive_s:
                event = b": nothing new\n\n"
            if event is not None:
                silent_since_s = now_s
                limit.reschedule(now_s + stream.slow_s)
                await send({"type": "http.response.body", "body": event, "more_body": True})
            limit.reschedule(None)
            await asyncio.wait(ends, timeout=stream.every_s, return_when="FIRST_COMPLETED")


def event_of(frame: Frame, before: Frame | None) -> bytes:
    """Write a document as an event: the first of a reader, and after one of the same Instances."""
    knows = before is not None and before.who == frame.who
    kind = b"change" if knows else b"snapshot"
    return b"event: %b\nid: %d\ndata: %b\n\n" % (kind, frame.rev, frame.written(knows=knows))


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
