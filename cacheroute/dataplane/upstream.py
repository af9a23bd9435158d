"""One connection to an upstream peer: a request out, an answer in, again and again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import httptools

from cacheroute.core.errors import UpstreamClosed, UpstreamProtocolError
from cacheroute.dataplane import sockets
from cacheroute.dataplane.head import HOP_BY_HOP, connection_tokens, has_no_body
from cacheroute.dataplane.sockets import FULL_READ_BYTES

if TYPE_CHECKING:
    from cacheroute.dataplane.outbound import Outbound
    from cacheroute.dataplane.pool import Peer

_NEEDED = frozenset(
    {b"content-type", b"content-encoding", b"retry-after", b"cache-control", b"x-accel-buffering"}
)
_SPECIAL = HOP_BY_HOP | _NEEDED | {b"content-length"}
_UNSENT_JOIN_BYTES = 8 * 1024


class UpstreamConnection(asyncio.Protocol):
    """The client side of one connection; at most one request at a time."""

    __slots__ = (
        "_bad", "_chunked", "_ended", "_fresh_head", "_head_bytes", "_head_done", "_interim",
        "_keep_alive", "_named", "_outbound", "_parser", "_peer", "_pieces", "_transport",
        "_until_close", "idle_s", "is_reused",
    )  # fmt: skip

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._parser = httptools.HttpResponseParser(self)
        self._transport = cast(asyncio.Transport, None)
        self._outbound: Outbound | None = None
        self._pieces: list[bytes] = []
        self._head_bytes = 0
        self._head_done = False
        self._fresh_head = False
        self._interim = False
        self._ended = False
        self._keep_alive = False
        self._until_close = False
        self._chunked = False
        self._named: set[bytes] | None = None
        self._bad: str | None = None
        self.idle_s = 0.0
        self.is_reused = False

    # From the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._peer.lost(self)
        outbound, self._outbound = self._outbound, None
        if outbound is None or outbound.done:
            return
        if self._until_close and exc is None:
            self._peer.ended(outbound).on_end(b"")
        elif self.is_reused and not outbound.heard and outbound.may_resend:
            # The peer closed an idle connection just as it was taken up again.
            outbound.may_resend = False
            self._peer.connect(outbound)
        else:
            what = "in the middle of its answer" if outbound.heard else "without an answer"
            how = "was reset" if exc is not None else "closed"
            self._peer.fail(
                outbound,
                UpstreamClosed(
                    f"The connection to {self._peer.name} {how} {what}.", peer=self._peer.name
                ),
            )

    def data_received(self, data: bytes) -> None:
        outbound = self._outbound
        if outbound is None:
            self._peer.lost(self)
            self._transport.abort()  # nobody asked
            return
        outbound.heard = True
        outbound.age_s = 0.0
        size = len(data)
        self._head_bytes += size
        if size >= FULL_READ_BYTES:
            self._let_others_read()
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            if not self._ended:
                self._break(self._bad or "what it sent is not a valid HTTP/1.1 answer")
                return
            self._bad = "bytes behind the answer"
        is_head_new = self._fresh_head
        if is_head_new:
            self._fresh_head = False
            outbound.listener.on_head()
            if outbound.done:
                return
        pieces = self._pieces
        if pieces:
            self._head_bytes = 0
            outbound.begun = True
            self._pieces = []
            body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        else:
            body = b""
        if self._ended:
            self._finish(outbound, body)
        elif body or is_head_new:
            outbound.listener.on_body(body)
        elif self._head_bytes > self._peer.limits.head_bytes:
            # Of a head, or of what may stand around the chunks of a body.
            self._break(self._head_too_large())

    # From the parser.

    def on_message_begin(self) -> None:
        if self._ended:
            raise _Stop  # a second answer to one request, if only its first byte

    def on_header(self, name: bytes, value: bytes) -> None:
        outbound = self._outbound
        if outbound is None or self._head_done:
            return  # a trailer, or the head of an answer that nobody asked for
        lowered = name.lower()
        if lowered in _SPECIAL:
            if lowered in HOP_BY_HOP:
                self._hop_by_hop(lowered, value)
                return
            if lowered == b"content-length":
                value = value.strip()  # the parser leaves the blanks behind a value
                if not value.isdigit() or outbound.content_length not in (None, int(value)):
                    self._bad = f"its Content-Length is {value.decode('latin-1')!r}"
                    raise _Stop
                outbound.content_length = int(value)
                return
            outbound.fields[lowered] = value
        if lowered not in self._peer.withheld:
            outbound.lines.append(b"".join((name, b": ", value, b"\r\n")))

    def on_headers_complete(self) -> None:
        outbound = self._outbound
        if outbound is None:
            return
        status = self._parser.get_status_code()
        if status < 100:
            self._bad = f"its status is {status}"
            raise _Stop
        if status < 200:
            if status == 101:
                self._bad = "it wants to change protocols"
                raise _Stop
            self._interim = True
            # Nothing that it says is about the answer, not even of framing: it has no body.
            outbound.lines.clear()
            outbound.fields.clear()
            outbound.content_length = None
            self._chunked = False
            self._named = None
            return
        self._interim = False
        outbound.status = status
        # Asked now: once the message is complete, the parser has forgotten its framing.
        self._keep_alive = self._parser.should_keep_alive()
        self._head_done = True
        self._fresh_head = True
        limit = self._peer.limits.head_bytes
        # Part of what was read may be the body; what is kept of the head is what counts.
        if self._head_bytes > limit and sum(map(len, outbound.lines)) > limit:
            self._bad = self._head_too_large()
            raise _Stop
        self._head_bytes = 0
        if self._named is not None:
            self._drop_named(outbound, self._named)
        if self._chunked:
            if outbound.content_length is not None:
                self._bad = "it has both a Content-Length and a Transfer-Encoding"
                raise _Stop
        elif outbound.content_length is None:
            self._until_close = outbound.until_close = True
        if not outbound.expects_body or has_no_body(status):
            self._ended = True

    def on_body(self, data: bytes) -> None:
        self._pieces.append(data)

    def on_message_complete(self) -> None:
        if not self._interim:
            self._ended = True

    # From the peer and the request.

    def begin(self, outbound: Outbound) -> None:
        """Send a request."""
        self._outbound = outbound
        outbound.connection = self
        self._head_bytes = 0
        self._head_done = self._ended = self._until_close = self._chunked = False
        self._named = None
        body = outbound.body
        if len(body) < _UNSENT_JOIN_BYTES:
            self._transport.write(outbound.head + body)
        else:
            self._transport.writelines([outbound.head, body])

    def reset(self) -> None:
        """Close with a reset; the request, if any, is given up."""
        self._outbound = None
        sockets.reset(self._transport)

    def close(self) -> None:
        """Close an idle connection."""
        self._outbound = None
        self._transport.close()

    def pause(self) -> None:
        """Stop reading."""
        if not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Go on reading."""
        if not self._transport.is_closing():
            self._transport.resume_reading()

    # Within.

    def _let_others_read(self) -> None:
        self._transport.pause_reading()
        asyncio.get_running_loop().call_soon(self._read_on)

    def _read_on(self) -> None:
        if self._outbound is None or not self._outbound.is_paused:
            self.resume()

    def _finish(self, outbound: Outbound, body: bytes) -> None:
        self._outbound = None
        outbound.connection = None
        if (
            self._bad is None
            and self._keep_alive
            and outbound.expects_body
            and not self._transport.is_closing()
            and self._transport.get_write_buffer_size() == 0
        ):
            if outbound.is_paused:
                self._transport.resume_reading()
            self.is_reused = True
            self.idle_s = 0.0
            self._peer.idle.append(self)
        else:
            # A HEAD leaves the parser waiting for a body; an early answer leaves the rest
            # of the request unsent. Neither connection can be used again, and closing would
            # wait until the rest has been read.
            if self._transport.get_write_buffer_size():
                sockets.reset(self._transport)
            else:
                self._transport.close()
        self._peer.ended(outbound).on_end(body)

    def _break(self, why: str) -> None:
        outbound, self._outbound = self._outbound, None
        sockets.reset(self._transport)
        if outbound is not None and not outbound.done:
            error = UpstreamProtocolError(
                f"The answer of {self._peer.name} cannot be used: {why}.", peer=self._peer.name
            )
            self._peer.fail(outbound, error)

    def _head_too_large(self) -> str:
        return f"its head is larger than {self._peer.limits.head_bytes} bytes"

    def _hop_by_hop(self, lowered: bytes, value: bytes) -> None:
        if lowered == b"transfer-encoding":
            if value.strip().lower() != b"chunked" or self._chunked:
                self._bad = f"its Transfer-Encoding is {value.decode('latin-1')!r}"
                raise _Stop
            self._chunked = True
        elif lowered == b"connection":
            named = connection_tokens(value) - {b"close", b"keep-alive"}
            if named:
                self._named = (self._named or set()) | named

    @staticmethod
    def _drop_named(outbound: Outbound, named: set[bytes]) -> None:
        outbound.lines[:] = [
            line for line in outbound.lines if line.partition(b":")[0].lower() not in named
        ]


class _Stop(Exception):
    """Unwinds the parser; what is wrong stands in the connection."""
