"""One client connection: whole requests in, one answer at a time and in order out.

A connection on which framing has been broken is answered once more and closed, since
nobody can say where the next request would begin.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from cacheroute.dataplane import sockets
from cacheroute.dataplane.half_close import HalfCloseProbe
from cacheroute.dataplane.head import CONTINUE
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.reader import Refusal, RequestReader
from cacheroute.dataplane.sockets import FULL_READ_BYTES

if TYPE_CHECKING:
    from cacheroute.dataplane.server import HttpServer

_PIPELINED_MAX = 4
_LINGER_S = 2.0
_WRITE_HIGH_WATER_BYTES = 64 * 1024


class ClientConnection(asyncio.Protocol):
    """The server side of one connection."""

    __slots__ = (
        "_active", "_age_s", "_discard", "_eof", "_loop", "_memory", "_probe", "_reader",
        "_reading_paused", "_refusal", "_server", "_stall_s", "_transport", "_unsent_bytes",
        "closing", "write_paused",
    )  # fmt: skip

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._loop = server.loop
        self._transport = cast(asyncio.Transport, None)
        self._memory = server.memory
        self._reader = RequestReader(self, server.limits, server.memory)
        self._active: Inbound | None = None
        self._refusal: Refusal | None = None
        self._discard = False
        self._eof = False
        self._probe: HalfCloseProbe | None = None
        self._reading_paused = False
        self._age_s = 0.0
        self._stall_s = 0.0
        self._unsent_bytes = 0
        self.write_paused = False
        self.closing = False
        """Whether the running answer is the last one on this connection."""

    # From the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=_WRITE_HIGH_WATER_BYTES)
        if not self._server.admit(self):
            self._refuse((503, "Too many connections to this server; try again shortly."))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._probe is not None:
            self._probe.stop()
        self._server.forget(self)
        active = self._active
        self._drop_all()
        self._transport = sockets.NOWHERE
        if active is not None and active.on_gone is not None:
            on_gone, active.on_gone = active.on_gone, None
            on_gone()

    def data_received(self, data: bytes) -> None:
        if len(data) >= FULL_READ_BYTES:
            self._let_others_read()
        if self._discard:
            return
        reader = self._reader
        refusal = reader.feed(data)
        if reader.has_moved:
            reader.has_moved = False
            self._age_s = 0.0
        if refusal is not None:
            if refusal[0]:
                self._refuse(refusal)
                return
            self.closing = self._discard = True
        memory = self._memory
        if memory.held_bytes > memory.easy_bytes and not memory.allows(self._held_bytes):
            self._refuse_for_memory()
            return
        if not reader.requests:
            return
        if self._active is None:
            self._next()
        if len(reader.requests) >= _PIPELINED_MAX and not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        self._eof = True
        if not self.is_busy:
            return False
        self._probe = HalfCloseProbe(self._transport, self._loop)
        self._probe.watch(self._active)
        return True

    def pause_writing(self) -> None:
        self.write_paused = True
        self._stall_s = 0.0
        self._unsent_bytes = self._transport.get_write_buffer_size()
        if self._active is not None and self._active.on_pause is not None:
            self._active.on_pause()

    def resume_writing(self) -> None:
        self.write_paused = False
        if self._active is None:
            self._next()
        elif self._active.on_resume is not None:
            self._active.on_resume()

    # From the reader.

    def may_continue(self) -> None:
        """A client waits for leave to send its body; it gets it when its turn has come."""
        if not self.is_busy:
            self._transport.write(CONTINUE)

    # From the answer that is running.

    def send(self, data: bytes) -> None:
        """Write bytes of the running answer."""
        self._transport.write(data)

    def send_all(self, pieces: list[bytes]) -> None:
        """Write several pieces without joining them first."""
        self._transport.writelines(pieces)

    def answered(self, inbound: Inbound) -> None:
        """Go on after a complete answer."""
        if self._active is not inbound:
            return
        self._active = None
        self._age_s = 0.0
        inbound.on_gone = inbound.on_pause = inbound.on_resume = None
        if self._probe is not None:
            self._probe.watch(None)
        self._memory.held_bytes -= inbound.held_bytes
        reader = self._reader
        is_due = bool(reader.requests) or self._refusal is not None
        if not inbound.keep_alive or self.closing or (self._eof and not is_due):
            self._finish_and_close()
        elif is_due:
            # Not from here: a thousand pipelined requests would nest a thousand calls.
            self._loop.call_soon(self._next)
        else:
            if self._reading_paused:
                self._reading_paused = False
                self._transport.resume_reading()
            if reader.wants_continue:
                self._transport.write(CONTINUE)  # could not be said before this answer's end

    def hang_up(self, *, with_reset: bool = False) -> None:
        """Close once everything written has gone out, without ending the answer."""
        self._age_s = 0.0
        if with_reset:
            self._drop_all()
            sockets.reset_once_sent(self._transport)
        else:
            self._finish_and_close()

    def reset(self) -> None:
        """Close at once with a reset."""
        self._drop_all()
        sockets.reset(self._transport)

    # From the server.

    def reset_and_tell(self) -> None:
        """Close at once; the running request is told that its client is gone."""
        sockets.reset(self._transport)

    def tick(self, elapsed_s: float) -> None:
        """Hold this connection to its limits on silence."""
        self._age_s += elapsed_s
        timeouts = self._server.timeouts
        if self.write_paused:
            unsent_bytes = self._transport.get_write_buffer_size()
            if unsent_bytes < self._unsent_bytes:
                self._stall_s = 0.0  # slow, but reading
            self._unsent_bytes = unsent_bytes
            self._stall_s += elapsed_s
            if self._stall_s > timeouts.client_write_s:
                sockets.reset(self._transport)
        elif self._active is not None:
            if self._eof and sockets.is_reset(self._transport):
                self._transport.abort()
        elif self._discard or self._transport.is_closing():
            # Over, but for what is left to send, which is less than the water mark.
            is_unread = self._transport.get_write_buffer_size() > 0
            if self._age_s > (timeouts.client_write_s if is_unread else _LINGER_S):
                self._transport.abort()
        elif self._reader.in_message:
            self._hold_request_to_its_limit()
        elif self._age_s > timeouts.client_idle_s:
            self._age_s = 0.0
            self._transport.close()

    def shut(self) -> None:
        """Close when idle, otherwise after the running answer."""
        self.closing = True
        if not self.is_busy and not self._reader.in_message:
            self._transport.close()

    @property
    def is_busy(self) -> bool:
        """Whether an answer is running or due."""
        return self._active is not None or bool(self._reader.requests) or self._refusal is not None

    # Within.

    def _let_others_read(self) -> None:
        self._transport.pause_reading()
        self._loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        if not self._reading_paused:
            self._transport.resume_reading()

    def _next(self) -> None:
        if self._active is not None or self.write_paused:
            return
        requests = self._reader.requests
        if requests:
            inbound = self._active = requests.popleft()
            if self._probe is not None:
                self._probe.watch(inbound)
            try:
                self._server.on_request(inbound)
            except Exception:
                self.reset_and_tell()
                raise
        elif self._refusal is not None:
            status, message = self._refusal
            self._refusal = None
            headers, body = self._server.render_refusal(status, message)
            refusal = self._active = Inbound(self, "POST", b"*", [], {}, b"", False, False)
            refusal.respond(status, headers, body)

    def _refuse(self, refusal: Refusal) -> None:
        """Answer a broken request and close, but never before the answer to an earlier one."""
        self._discard = True
        self._age_s = 0.0
        self._refusal = refusal
        self._reader.drop_unfinished()
        self._next()

    def _refuse_for_memory(self) -> None:
        """Give up all that waits behind the running answer, and say so at its end."""
        self._reader.drop()
        limit = self._server.limits.request_bytes
        message = (
            f"Other requests take the memory there is for them, {limit} bytes in all "
            "(limits.request_bytes); try again shortly."
        )
        self._refuse((503, message))

    def _drop_all(self) -> None:
        """Give up the running request and all that has come behind it; no more is read."""
        active, self._active = self._active, None
        if active is not None:
            self._memory.held_bytes -= active.held_bytes
        self._discard = True
        self._refusal = None
        self._reader.drop()

    @property
    def _held_bytes(self) -> int:
        active = self._active
        return self._reader.held_bytes + (0 if active is None else active.held_bytes)

    def _hold_request_to_its_limit(self) -> None:
        timeouts = self._server.timeouts
        if self._reader.in_body:
            limit_s, what, setting = timeouts.client_body_s, "body", "timeouts.client_body_s"
        else:
            limit_s, what, setting = timeouts.client_head_s, "head", "timeouts.client_head_s"
        if self._age_s > limit_s:
            message = f"The request {what} took longer than {limit_s:g} s ({setting})."
            self._refuse((408, message))

    def _finish_and_close(self) -> None:
        # Closing a socket with unread input makes the kernel send a reset, which can
        # destroy the answer before the client has read it: close our half, linger, then close.
        may_be_unread = self._discard or self._reader.in_message or self._reading_paused
        self._drop_all()
        if may_be_unread:
            if self._reading_paused:
                self._transport.resume_reading()
            transport = self._transport
            if transport.can_write_eof() and not (self._eof or transport.is_closing()):
                transport.write_eof()
                return
        self._transport.close()
