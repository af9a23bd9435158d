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

if TYPE_CHECKING:
    from cacheroute.core.limits import Limits
    from cacheroute.dataplane.connection import ClientConnection

Refusal = tuple[int, str]
"""A status, and a sentence that says what is wrong."""

_ONCE = frozenset({b"host", b"content-length", b"transfer-encoding"})
_UNKNOWN_BYTES = 1 << 40
"""Added to the size of a head that began in the middle of what was read."""


class RequestReader:
    """Reads requests; `requests` holds those that are whole, in order."""

    __slots__ = (
        "_body", "_body_bytes", "_connection", "_fields", "_head_bytes", "_headers",
        "_is_http_10", "_limits", "_parser", "_refusal", "_url", "has_moved", "in_body",
        "in_message", "requests", "wants_continue",
    )  # fmt: skip

    def __init__(self, connection: ClientConnection, limits: Limits) -> None:
        self._connection = connection
        self._limits = limits
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
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._head_bytes = 0
        self._is_http_10 = False

    def feed(self, data: bytes) -> Refusal | None:
        """Read a piece; returns why nothing behind `requests` can be read, if that is so.

        Status 0 is a CONNECT request, behind which nothing is HTTP.
        """
        self._head_bytes = len(data) + (self._head_bytes if self.in_message else 0)
        body_bytes = self._body_bytes
        try:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                if not self._decline(data[offer.args[0] :]):
                    return 0, "This server does not tunnel."
        except httptools.HttpParserError:
            return self._refusal or (400, "The request is not valid HTTP/1.1.")
        if self.in_message:
            if self.in_body and self._body_bytes != body_bytes:
                self._head_bytes = 0
            elif self._head_bytes % _UNKNOWN_BYTES > self._limits.head_bytes:
                # Of a head, or of what may stand around the chunks of a body.
                return 431, self._head_too_large()
        return None

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
            if length != b"0":
                self.wants_continue = True
                self._connection.may_continue()

    def on_body(self, data: bytes) -> None:
        """A piece of the body."""
        self._body_bytes += len(data)
        if self._body_bytes > self._limits.body_bytes:
            self._fail(413, self._body_too_large())
        self._body.append(data)

    def on_message_complete(self) -> None:
        """Hand over the request, and be ready for one in the bytes that are being parsed."""
        body = self._body
        method = self._parser.get_method()
        inbound = Inbound(
            self._connection,
            "POST" if method == b"POST" else method.decode("latin-1"),
            origin_form(self._url),
            self._headers,
            self._fields,
            body[0] if len(body) == 1 else b"".join(body),
            self._is_http_10,
            self._parser.should_keep_alive(),
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
            data = self.requests.pop().head_without_offer() + rest
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

    def _head_too_large(self) -> str:
        limit = self._limits.head_bytes
        return f"The request head is larger than {limit} bytes (limits.head_bytes)."

    def _body_too_large(self) -> str:
        limit = self._limits.body_bytes
        return f"The request body is larger than {limit} bytes (limits.body_bytes)."


class _Refused(Exception):
    """Unwinds the parser; what is refused stands in the reader."""
