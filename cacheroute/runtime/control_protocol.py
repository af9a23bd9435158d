"""uvicorn's HTTP/1.1, with an end to what it would wait for and keep for ever.

By itself it takes a head of any size, from anybody who has not shown a token yet, and keeps a
connection open on which nothing is asked or nothing is read: memory and descriptors that the
service plane lives of as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from cacheroute.dataplane.sockets import FULL_READ_BYTES
from cacheroute.runtime.lingering import LingeringTransport

HEAD_BYTES = 64 * 1024
"""Largest request head, and most bytes around the chunks of a body."""
LINES_MAX = 1000
"""Most lines of a head and trailers together: each takes a hundred times its own size."""
HEAD_WITHIN_S = 30.0
"""Longest time from connecting, or from the first byte of a later request, to a whole head."""
READ_WITHIN_S = 60.0
"""Longest time in which a client makes no room for what it has asked for."""
PIPELINED_MAX = 32
"""Most requests that wait behind the one that is answered; more are no client's of ours."""

_HEAD_TOO_LARGE = "The request head is larger than {} bytes.\n"
_TOO_MANY_CLIENTS = "{} clients are connected, and no more may be (control.connections).\n"


class BoundedProtocol(HttpToolsProtocol):
    """One connection of the control plane."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # uvicorn itself would answer 503 to somebody who is connected already.
        self._most_clients, self.limit_concurrency = self.limit_concurrency, None
        self._in_message = False
        self._loose_bytes = 0
        self._has_asked = False
        self._has_moved = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first head, and not for ever."""
        lingering = LingeringTransport(transport, self.loop, self._may_be_unread)
        super().connection_made(lingering)
        if self._most_clients is not None and len(self.connections) > self._most_clients:
            self.connections.discard(self)  # or each that is turned away would cost a place
            self._refuse("503 Service Unavailable", _TOO_MANY_CLIENTS.format(self._most_clients))
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._stop_timers()
        self._lingering.lost()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, and count what is neither a whole head nor a body."""
        if self._lingering.is_over:
            return
        if len(data) >= FULL_READ_BYTES:
            self._let_others_read()
        self._has_moved = False
        super().data_received(data)
        if self.transport.is_closing():
            return
        self._loose_bytes = 0 if self._has_moved else self._loose_bytes + len(data)
        if self._loose_bytes > HEAD_BYTES:
            if self._is_answering:
                self.transport.abort()  # in the middle of an answer nothing else can be said
            else:
                self._refuse(
                    "431 Request Header Fields Too Large", _HEAD_TOO_LARGE.format(HEAD_BYTES)
                )
        elif len(self.pipeline) > PIPELINED_MAX:
            self.pipeline.clear()
            self.transport.abort()
        elif not self._is_answering:
            self._await_head()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_message = True
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """A request is whole."""
        self._in_message = False
        super().on_message_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of a head, or a trailer; too many break the parser off."""
        if len(self.headers) >= LINES_MAX:
            raise _TooManyLines
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Somebody asks for something: what follows is bounded elsewhere."""
        self._has_moved = self._has_asked = True
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body, whose size others bound."""
        self._has_moved = True
        super().on_body(body)

    def pause_writing(self) -> None:
        """Give a client that is behind some time to read."""
        super().pause_writing()
        if self._read_timer is None:
            self._read_timer = self._in(READ_WITHIN_S, self.transport.abort)

    def resume_writing(self) -> None:
        """It has caught up."""
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None
        super().resume_writing()

    def _let_others_read(self) -> None:
        self.transport.pause_reading()
        self.loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        if not self.flow.read_paused:
            self.transport.resume_reading()

    @property
    def _is_answering(self) -> bool:
        return self._has_asked and not self.cycle.response_complete

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self._in(HEAD_WITHIN_S, self.transport.close)

    def _refuse(self, status: str, message: str) -> None:
        self._in_message = True  # whatever comes now is not read
        self.transport.write(
            f"HTTP/1.1 {status}\r\nConnection: close\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(message)}\r\n\r\n{message}".encode()
        )
        self.transport.close()

    @property
    def _lingering(self) -> LingeringTransport:
        return cast(LingeringTransport, self.transport)

    def _may_be_unread(self) -> bool:
        return self._in_message or self.flow.read_paused

    def _in(self, seconds: float, act: Callable[[], None]) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, act)

    def _stop_timers(self) -> None:
        for timer in (self._head_timer, self._read_timer):
            if timer is not None:
                timer.cancel()
        self._head_timer = self._read_timer = None


class _TooManyLines(Exception):
    """Unwinds the parser."""
