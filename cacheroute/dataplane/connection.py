"""One client connection: bytes to requests, one answer at a time, in order.

Requests that break the framing rules are refused and the connection is closed, since
nobody can say where the next one would begin. A request reaches its handler whole.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, cast

import httptools

from cacheroute.dataplane import sockets
from cacheroute.dataplane.head import CONTINUE, origin_form
from cacheroute.dataplane.inbound import Inbound

if TYPE_CHECKING:
    from cacheroute.dataplane.server import HttpServer

_ONCE = frozenset({b"host", b"content-length", b"transfer-encoding"})
_PIPELINED_MAX = 4
_LINGER_S = 2.0
_HALF_CLOSE_GRACE_S = 0.25
_PROBE_CHECKS_S = (0.05, 0.1, 0.3, 1.0)
_WRITE_HIGH_WATER_BYTES = 64 * 1024
_UNKNOWN_BYTES = 1 << 40
"""Added to the size of a head that began in the middle of what was read."""


class ClientConnection(asyncio.Protocol):
    """The server side of one connection."""

    __slots__ = (
        "_active", "_age_s", "_body", "_body_bytes", "_discard", "_eof", "_fields", "_head_bytes",
        "_headers", "_in_body", "_in_message", "_is_http_10", "_loop", "_parser", "_probe",
        "_queue", "_reading_paused", "_refusal", "_server", "_stall_s", "_transport",
        "_unsent_bytes", "_url", "closing", "write_paused",
    )  # fmt: skip

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._loop = server.loop
        self._parser = httptools.HttpRequestParser(self)
        self._transport = cast(asyncio.Transport, None)
        self._active: Inbound | None = None
        self._queue: deque[Inbound] = deque()
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._fields: dict[bytes, bytes] = {}
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._head_bytes = 0
        self._in_message = False
        self._in_body = False
        self._is_http_10 = False
        self._refusal: tuple[int, str] | None = None
        self._discard = False
        self._eof = False
        self._probe: asyncio.TimerHandle | None = None
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
            self._refuse(503, "Too many connections to this server; try again shortly.")

    def connection_lost(self, exc: Exception | None) -> None:
        if self._probe is not None:
            self._probe.cancel()
        self._server.forget(self)
        self._queue.clear()
        self._refusal = None
        self._body = []
        active, self._active = self._active, None
        self._discard = True
        self._transport = sockets.NOWHERE
        if active is not None and active.on_gone is not None:
            on_gone, active.on_gone = active.on_gone, None
            on_gone()

    def data_received(self, data: bytes) -> None:
        if self._discard:
            return
        self._head_bytes = len(data) + (self._head_bytes if self._in_message else 0)
        body_bytes = self._body_bytes
        try:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                self._decline(data[offer.args[0] :])
        except httptools.HttpParserError:
            self._refuse(*(self._refusal or (400, "The request is not valid HTTP/1.1.")))
            return
        if self._in_message:
            if self._in_body and self._body_bytes != body_bytes:
                self._head_bytes = 0
            elif self._head_bytes % _UNKNOWN_BYTES > self._server.limits.head_bytes:
                # Of a head, or of what may stand around the chunks of a body.
                self._refuse(431, self._head_too_large())
                return
        if not self._queue:
            return
        if self._active is None:
            self._next()
        if len(self._queue) >= _PIPELINED_MAX and not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        self._eof = True
        if not self.is_busy:
            return False
        # A client may close its sending side and still wait for the answer. Only sending
        # something tells that apart from one that has closed altogether: see _probe_peer.
        self._probe = self._loop.call_later(_HALF_CLOSE_GRACE_S, self._probe_peer)
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

    # From the parser.

    def on_url(self, url: bytes) -> None:
        if not self._in_message:
            self._in_message = True
            self._age_s = 0.0
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # a trailer: nobody asked for it
        lowered = name.lower()
        self._fields.setdefault(lowered, value)
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        fields = self._fields
        limits = self._server.limits
        self._in_body = True
        if self._head_bytes > limits.head_bytes:
            size = len(self._url) + sum(len(n) + len(v) + 4 for n, v in self._headers)
            if size > limits.head_bytes:
                self._fail(431, self._head_too_large())
        self._head_bytes = 0
        if len(self._headers) > limits.headers:
            self._fail(431, f"The request has more than {limits.headers} headers (limits.headers).")
        if len(self._headers) != len(fields):
            self._refuse_repetition()
        version = self._parser.get_http_version()
        self._is_http_10 = version == "1.0"
        if version == "1.1":
            if b"host" not in fields:
                self._fail(400, "An HTTP/1.1 request needs a Host header.")
        elif version != "1.0":
            self._fail(505, f"HTTP/{version} is not spoken here; use HTTP/1.1.")
        coding = fields.get(b"transfer-encoding")
        if coding is not None:
            if version == "1.0":
                self._fail(400, "An HTTP/1.0 request cannot have a Transfer-Encoding.")
            if b"content-length" in fields:
                self._fail(400, "Content-Length and Transfer-Encoding exclude each other.")
            if coding.strip().lower() != b"chunked":
                self._fail(400, "The only Transfer-Encoding understood here is 'chunked'.")
        length = fields.get(b"content-length")
        if length is not None:
            length = length.strip()  # the parser leaves the blanks behind a value
            if not length.isdigit():
                self._fail(400, "Content-Length must be a plain decimal number.")
            if int(length) > limits.body_bytes:
                self._fail(413, self._body_too_large())
        if b"expect" in fields and version == "1.1":
            if fields[b"expect"].strip().lower() != b"100-continue":
                self._fail(417, "The only Expect understood here is '100-continue'.")
            if self._active is None and not self._queue and length != b"0":
                self._transport.write(CONTINUE)

    def on_body(self, data: bytes) -> None:
        self._body_bytes += len(data)
        if self._body_bytes > self._server.limits.body_bytes:
            self._fail(413, self._body_too_large())
        self._body.append(data)

    def on_message_complete(self) -> None:
        body = self._body
        method = self._parser.get_method()
        inbound = Inbound(
            self,
            "POST" if method == b"POST" else method.decode("latin-1"),
            origin_form(self._url),
            self._headers,
            self._fields,
            body[0] if len(body) == 1 else b"".join(body),
            self._is_http_10,
            self._parser.should_keep_alive(),
        )
        self._queue.append(inbound)
        # Ready for the next request, which may stand in the bytes that are being parsed.
        self._in_message = self._in_body = False
        self._url = b""
        self._headers = []
        self._fields = {}
        self._body = []
        self._body_bytes = 0
        # How much of what is being parsed belongs to the next head is not known here.
        self._head_bytes = _UNKNOWN_BYTES

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
            self._probe.cancel()
            self._probe = None
        is_due = bool(self._queue) or self._refusal is not None
        if not inbound.keep_alive or self.closing or (self._eof and not is_due):
            self._finish_and_close()
        elif is_due:
            # Not from here: a thousand pipelined requests would nest a thousand calls.
            self._loop.call_soon(self._next)
        else:
            if self._reading_paused:
                self._reading_paused = False
                self._transport.resume_reading()
            if self._in_body and b"expect" in self._fields and not self._is_http_10:
                self._transport.write(CONTINUE)  # could not be said before this answer's end

    def hang_up(self) -> None:
        """Close once everything written has gone out, without ending the answer."""
        self._active = None
        self._discard = True
        self._refusal = None
        self._queue.clear()
        self._age_s = 0.0
        self._transport.close()

    def reset(self) -> None:
        """Close at once with a reset."""
        self._active = None
        self._discard = True
        self._refusal = None
        self._queue.clear()
        sockets.reset(self._transport)

    def reset_and_tell(self) -> None:
        """Close at once; the running request is told that its client is gone."""
        sockets.reset(self._transport)

    # From the server.

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
        elif self._in_message:
            limit_s = timeouts.client_body_s if self._in_body else timeouts.client_head_s
            if self._age_s > limit_s:
                what, setting = (
                    ("body", "timeouts.client_body_s")
                    if self._in_body
                    else ("head", "timeouts.client_head_s")
                )
                self._refuse(408, f"The request {what} took longer than {limit_s:g} s ({setting}).")
        elif self._age_s > timeouts.client_idle_s:
            self._age_s = 0.0
            self._transport.close()

    def shut(self) -> None:
        """Close when idle, otherwise after the running answer."""
        self.closing = True
        if self._active is None and not self._in_message and not self._queue:
            self._transport.close()

    @property
    def is_busy(self) -> bool:
        """Whether an answer is running or due."""
        return self._active is not None or bool(self._queue) or self._refusal is not None

    # Within.

    def _next(self) -> None:
        if self._active is not None or self.write_paused:
            return
        if self._queue:
            inbound = self._active = self._queue.popleft()
            try:
                self._server.on_request(inbound)
            except Exception:
                self.reset_and_tell()
                raise
        elif self._refusal is not None:
            status, message = self._refusal
            self._refusal = None
            headers, body = self._server.render_refusal(status, message)
            refusal = self._active = Inbound(
                self, "POST", b"*", [], {}, b"", False, False
            )  # fmt: skip
            refusal.respond(status, headers, body)

    def _decline(self, rest: bytes) -> None:
        """Parse a request that offers to change the protocol as one that does not.

        The parser takes it for whole at the end of its head, and would read its body as the
        next request.
        """
        while self._queue[-1].method != "CONNECT":
            self._parser = httptools.HttpRequestParser(self)
            data = self._queue.pop().head_without_offer() + rest
            try:
                self._parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as offer:
                rest = data[offer.args[0] :]
        self.closing = self._discard = True

    def _fail(self, status: int, message: str) -> None:
        """Stop the parser from within one of its callbacks."""
        self._refusal = (status, message)
        raise _Refused

    def _refuse_repetition(self) -> None:
        names = [name.lower() for name, _ in self._headers]
        for name in _ONCE:
            if names.count(name) > 1:
                self._fail(400, f"The header {name.decode()} may appear only once.")

    def _refuse(self, status: int, message: str) -> None:
        """Answer a broken request and close, but never before the answer to an earlier one."""
        self._discard = True
        self._age_s = 0.0
        self._in_message = self._in_body = False
        self._refusal = (status, message)
        self._next()

    def _finish_and_close(self) -> None:
        # Closing a socket with unread input makes the kernel send a reset, which can
        # destroy the answer before the client has read it: close our half, linger, then close.
        if self._discard or self._in_message or self._reading_paused:
            self._discard = True
            if self._reading_paused:
                self._transport.resume_reading()
            if self._transport.can_write_eof() and not self._eof:
                self._transport.write_eof()
                return
        self._transport.close()

    def _probe_peer(self) -> None:
        # An interim response is legal for any HTTP/1.1 request and ignored by a client that
        # waits; the kernel of one that has closed answers it with a reset.
        self._probe = None
        active = self._active
        if active is None or self._transport.is_closing():
            return
        if not active.begun and not active.is_http_10:
            self._transport.write(CONTINUE)
        self._check_peer(0)

    def _check_peer(self, turn: int) -> None:
        if sockets.is_reset(self._transport):
            self._transport.abort()
        elif turn < len(_PROBE_CHECKS_S) and self._active is not None:
            self._probe = self._loop.call_later(
                _PROBE_CHECKS_S[turn], self._check_peer, turn + 1
            )  # fmt: skip

    def _head_too_large(self) -> str:
        limit = self._server.limits.head_bytes
        return f"The request head is larger than {limit} bytes (limits.head_bytes)."

    def _body_too_large(self) -> str:
        limit = self._server.limits.body_bytes
        return f"The request body is larger than {limit} bytes (limits.body_bytes)."


class _Refused(Exception):
    """Unwinds the parser; what is refused stands in the connection."""
