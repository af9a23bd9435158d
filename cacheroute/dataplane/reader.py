"""Bytes of one client connection to whole requests, or to the reason why not.

The parser is llhttp's; what it is lenient about is refused here: repeated or conflicting
framing headers, a missing Host, other versions of HTTP, and anything without an end.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import httptools

from cacheroute.dataplane.head import origin_form
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.memory import REQUEST_BYTES

if TYPE_CHECKING:
    from cacheroute.core.limits import Limits
    from cacheroute.dataplane.connection import ClientConnection
    from cacheroute.dataplane.memory import RequestMemory

Refusal = tuple[int, str]
"""A status, and a sentence that says what is wrong."""

_ONCE = frozenset({b"host", b"content-length", b"transfer-encoding"})
_UNKNOWN_BYTES = 1 << 40
"""Added to the size of a head that began in the middle of what was read."""
_LINE_BYTES = 256
"""What a header line takes in memory beside its text."""
_PIECE_BYTES = 512
"""Smaller pieces of a body are joined at once: kept apart, each takes many times its size."""
_JOINED_BYTES = 64 * 1024
_PLAIN_HEAD_BYTES = 4 * 1024
"""A head that is surely smaller than this, or than its body, is not counted on its own."""


class RequestReader:
    """Reads requests; `requests` holds those that are whole, in order."""

    __slots__ = (
        "_body", "_body_bytes", "_connection", "_fields", "_head_bytes", "_head_bytes_at_most",
        "_headers", "_is_http_10", "_limits", "_memory", "_parser", "_refusal",
        "_unfinished_bytes", "_url", "has_moved", "in_body", "in_message", "requests",
        "wants_continue",
    )  # fmt: skip

    def __init__(self, connection: ClientConnection, limits: Limits, memory: RequestMemory) -> None:
        self._connection = connection
        self._limits = limits
        self._memory = memory
        self._parser = httptools.HttpRequestParser(self)
        self.requests: deque[Inbound] = deque()
        self.in_message = False
        """Whether a request has begun that is not whole."""
        self.in_body = False
        """Whether its head is complete."""
        self.wants_continue = False
        """Whether its client waits for `100 Continue` before it sends the body."""
        self.has_moved = False
        """Whether a request has begun since somebody last set this to False."""
        self._refusal: Refusal | None = None
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._fields: dict[bytes, bytes] = {}
        self._body: list[bytes | bytearray] = []
        self._body_bytes = 0
        self._head_bytes = 0
        self._head_bytes_at_most = 0
        self._unfinished_bytes = 0
        self._is_http_10 = False

    def feed(self, data: bytes) -> Refusal | None:
        """Read a piece; returns why nothing behind `requests` can be read, if that is so.

        Status 0 is a CONNECT request, behind which nothing is HTTP.
        """
        if self.in_message:
            self._head_bytes += len(data)
            self._count_unfinished(0)  # it may be whole in a moment
        else:
            self._head_bytes = len(data)
        body_bytes = self._body_bytes
        try:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                if not self._decline(data[offer.args[0] :]):
                    return 0, "This server does not tunnel."
        except httptools.HttpParserError:
            return self._refusal or (400, "The request is not valid HTTP/1.1.")
        if not self.in_message:
            return None
        if self.in_body and self._body_bytes != body_bytes:
            self._head_bytes = 0
        elif self._head_bytes == _UNKNOWN_BYTES:
            # Its line that has only begun is all that is known of its size.
            self._head_bytes += len(data) - data.rfind(b"\n") - 1
        # Of a head, or of what may stand around the chunks of a body.
        loose_bytes = self._head_bytes % _UNKNOWN_BYTES
        if loose_bytes > self._limits.head_bytes:
            return 431, self._head_too_large()
        if len(self._headers) > self._limits.headers:
            return 431, self._too_many_headers()
        self._count_unfinished(
            self._measure_head() + (self._body_bytes if self.in_body else loose_bytes)
        )
        return None

    @property
    def held_bytes(self) -> int:
        """What is counted of the request that is not whole and of those in `requests`."""
        return self._unfinished_bytes + sum(inbound.held_bytes for inbound in self.requests)

    def drop_unfinished(self) -> None:
        """Forget the request that is not whole; nothing may be fed any more."""
        self._count_unfinished(0)
        self.in_message = self.in_body = self.wants_continue = False
        self._url = b""
        self._headers = []
        self._fields = {}
        self._body = []

    def drop(self) -> None:
        """Forget all that has come; nothing may be fed any more."""
        self.drop_unfinished()
        for inbound in self.requests:
            self._memory.held_bytes -= inbound.held_bytes
        self.requests.clear()

    # From the parser.

    def on_url(self, url: bytes) -> None:
        """The target, or a part of it."""
        self.in_message = self.has_moved = True
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header line, or a trailer, which nobody asked for."""
        if not self.in_body:
            self._fields.setdefault(name.lower(), value)
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Judge the head."""
        fields = self._fields
        limits = self._limits
        self.in_body = True
        if self._head_bytes > limits.head_bytes and self._text_bytes() > limits.head_bytes:
            self._fail(431, self._head_too_large())
        self._head_bytes_at_most = self._head_bytes
        self._head_bytes = 0
        if len(self._headers) > limits.headers:
            self._fail(431, self._too_many_headers())
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
            if length != b"0":
                self.wants_continue = True
                self._connection.may_continue()

    def on_body(self, data: bytes) -> None:
        """A piece of the body."""
        self._body_bytes += len(data)
        if self._body_bytes > self._limits.body_bytes:
            self._fail(413, self._body_too_large())
        body = self._body
        if not body or len(data) >= _PIECE_BYTES:
            body.append(data)
            return
        last = body[-1]
        if type(last) is bytearray and len(last) < _JOINED_BYTES:
            last += data
        else:
            body.append(bytearray(data))

    def on_message_complete(self) -> None:
        """Hand over the request, and be ready for one in the bytes that are being parsed."""
        body = self._body
        method = self._parser.get_method()
        size = REQUEST_BYTES + self._body_bytes
        if self._head_bytes_at_most - self._body_bytes > _PLAIN_HEAD_BYTES:
            size += self._measure_head()
        self._memory.held_bytes += size
        inbound = Inbound(
            self._connection,
            "POST" if method == b"POST" else method.decode("latin-1"),
            origin_form(self._url),
            self._headers,
            self._fields,
            body[0] if len(body) == 1 else b"".join(body),  # type: ignore[arg-type]  # as read
            self._is_http_10,
            self._parser.should_keep_alive(),
            size,
        )
        self.requests.append(inbound)
        self.in_message = self.in_body = self.wants_continue = False
        self._url = b""
        self._headers = []
        self._fields = {}
        self._body = []
        self._body_bytes = 0
        # How much of what is being parsed belongs to the next head is not known here.
        self._head_bytes = _UNKNOWN_BYTES

    # Within.

    def _decline(self, rest: bytes) -> bool:
        """Parse a request that offers to change the protocol as one that does not.

        The parser takes it for whole at the end of its head, and would read its body as the
        next request. False for CONNECT, which has no other meaning.
        """
        while self.requests[-1].method != "CONNECT":
            self._parser = httptools.HttpRequestParser(self)
            inbound = self.requests.pop()
            self._memory.held_bytes -= inbound.held_bytes
            data = inbound.head_without_offer() + rest
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                rest = data[offer.args[0] :]
            else:
                return True
        return False

    def _fail(self, status: int, message: str) -> None:
        """Stop the parser from within one of its callbacks."""
        self._refusal = (status, message)
        raise _Refused

    def _refuse_repetition(self) -> None:
        names = [name.lower() for name, _ in self._headers]
        for name in _ONCE:
            if names.count(name) > 1:
                self._fail(400, f"The header {name.decode()} may appear only once.")

    def _count_unfinished(self, size: int) -> None:
        self._memory.held_bytes += size - self._unfinished_bytes
        self._unfinished_bytes = size

    def _text_bytes(self) -> int:
        return len(self._url) + sum(len(name) + len(value) + 4 for name, value in self._headers)

    def _measure_head(self) -> int:
        return self._text_bytes() + _LINE_BYTES * len(self._headers)

    def _head_too_large(self) -> str:
        limit = self._limits.head_bytes
        return f"The request head is larger than {limit} bytes (limits.head_bytes)."

    def _too_many_headers(self) -> str:
        return f"The request has more than {self._limits.headers} headers (limits.headers)."

    def _body_too_large(self) -> str:
        limit = self._limits.body_bytes
        return f"The request body is larger than {limit} bytes (limits.body_bytes)."


class _Refused(Exception):
    """Unwinds the parser; what is refused stands in the reader."""
