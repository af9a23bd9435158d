"""One question with one small answer, for requests that are run by hand.

A request that goes through the rooms is no task of the event loop (see `dataplane.turns`), so
it cannot await a client library. This asks over the same warm connections that requests use,
and wakes the request in the turn in which the answer has come.
"""

from __future__ import annotations

import asyncio

from cacheroute.core.errors import UpstreamError, UpstreamProtocolError, UpstreamTimeout
from cacheroute.dataplane.outbound import Outbound
from cacheroute.dataplane.pool import Peer
from cacheroute.dataplane.turns import Signal


class Ask:
    """A POST of JSON to a peer, until its whole answer is here or will not be."""

    __slots__ = (
        "_error", "_limit_bytes", "_limit_setting", "_outbound", "_peer", "_pieces", "_signal",
        "_size", "_timeout_s", "_timeout_setting", "_timer", "_whole",
    )  # fmt: skip

    def __init__(
        self,
        peer: Peer,
        path: str,
        body: bytes,
        *,
        host: str,
        timeout_s: float,
        timeout_setting: str,
        limit_bytes: int,
        limit_setting: str | None = None,
    ) -> None:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode("latin-1")
        self._peer = peer
        self._outbound = Outbound(head, body, self)
        self._signal = Signal()
        self._limit_bytes = limit_bytes
        self._limit_setting = limit_setting
        self._timeout_s = timeout_s
        self._timeout_setting = timeout_setting
        self._pieces: list[bytes] = []
        self._size = 0
        self._whole: bytes | None = None
        self._error: UpstreamError | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def answer(self) -> tuple[int, bytes]:
        """Send it, and wait; returns status and body, raises UpstreamError.

        Whoever is interrupted while waiting has walked away: the peer sees a reset.
        """
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._timeout_s, self._late)
        try:
            self._peer.send(self._outbound)
            while self._whole is None:
                if self._error is not None:
                    raise self._error
                await self._signal
            return self._outbound.status, self._whole
        finally:
            self._timer.cancel()
            self._outbound.abandon()

    # From the data plane

    def on_head(self) -> None:
        """Wait for the rest."""

    def on_body(self, data: bytes) -> None:
        """Keep a piece, within the limit."""
        self._size += len(data)
        if self._size <= self._limit_bytes:
            self._pieces.append(data)
            return
        name = self._peer.name
        setting = f" ({self._limit_setting})" if self._limit_setting else ""
        message = f"{name} answered more than {self._limit_bytes} bytes{setting}."
        self._fail(UpstreamProtocolError(message, peer=name))

    def on_end(self, data: bytes) -> None:
        """Hand over the whole."""
        self.on_body(data)
        if self._error is None:
            self._whole = b"".join(self._pieces)
            self._signal.notify()

    def on_fail(self, error: UpstreamError) -> None:
        """Hand over the failure."""
        self._error = error
        self._signal.notify()

    def _late(self) -> None:
        name, setting = self._peer.name, self._timeout_setting
        message = f"{name} did not answer within {self._timeout_s:g} s ({setting})."
        self._fail(UpstreamTimeout(message, peer=name))

    def _fail(self, error: UpstreamError) -> None:
        self._outbound.abandon()
        self.on_fail(error)
