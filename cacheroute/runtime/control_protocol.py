"""uvicorn's HTTP/1.1, with an end to what it would wait for and keep for ever.

By itself it takes a head of any size, from anybody who has not shown a token yet, and keeps a
connection open on which nothing is asked or nothing is read: memory and descriptors that the
service plane lives of as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 64 * 1024
"""Largest request head, and most bytes around the chunks of a body."""
HEAD_WITHIN_S = 30.0
"""Longest time from connecting, or from the first byte of a later request, to a whole head."""
READ_WITHIN_S = 60.0
"""Longest time in which a client makes no room for what it has asked for."""

_TOO_LARGE = b"The request head is larger than %d bytes.\n"


class BoundedProtocol(HttpToolsProtocol):
    """One connection of the control plane."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._loose_bytes = 0
        self._has_asked = False
        self._has_moved = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first head, and not for ever."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._stop_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, and count what is neither a whole head nor a body."""
        self._has_moved = False
        super().data_received(data)
        if self.transport.is_closing():
            return
        self._loose_bytes = 0 if self._has_moved else self._loose_bytes + len(data)
        if self._loose_bytes > HEAD_BYTES:
            self._refuse_head()
        elif not self._is_answering:
            self._await_head()

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

    @property
    def _is_answering(self) -> bool:
        return self._has_asked and not self.cycle.response_complete

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self._in(HEAD_WITHIN_S, self.transport.close)

    def _refuse_head(self) -> None:
        if self._is_answering:
            self.transport.abort()  # in the middle of an answer nothing else can be said
            return
        message = _TOO_LARGE % HEAD_BYTES
        self.transport.write(
            b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n"
            b"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%b"
            % (len(message), message)
        )
        self.transport.close()

    def _in(self, seconds: float, act: Callable[[], None]) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, act)

    def _stop_timers(self) -> None:
        for timer in (self._head_timer, self._read_timer):
            if timer is not None:
                timer.cancel()
        self._head_timer = self._read_timer = None
