"""One request from a client, and the way back to it.

Whoever is handed an `Inbound` answers it exactly once: whole with `respond`, or piece by
piece with `begin`, `write` and `finish`. `cut` ends an answer so that the client can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cacheroute.dataplane.head import has_no_body, render_lines, status_line

if TYPE_CHECKING:
    from cacheroute.dataplane.connection import ClientConnection

_CHUNKED = b"Transfer-Encoding: chunked\r\n"
_CLOSE = b"Connection: close\r\n"
_SETTLED = frozenset({b"upgrade", b"expect"})
_LAST_CHUNK = b"0\r\n\r\n"
_JOIN_BELOW_BYTES = 16 * 1024


class Inbound:
    """A whole request; the body is in memory, since it may have to be sent twice."""

    __slots__ = (
        "_chunked", "_connection", "_ends_by_close", "_head", "bodiless", "body", "bytes_out",
        "fields", "headers", "held_bytes", "is_http_10", "keep_alive", "method", "on_gone",
        "on_pause", "on_resume", "path", "query", "status",
    )  # fmt: skip

    def __init__(
        self,
        connection: ClientConnection,
        method: str,
        target: bytes,
        headers: list[tuple[bytes, bytes]],
        fields: dict[bytes, bytes],
        body: bytes,
        is_http_10: bool,
        keep_alive: bool,
        held_bytes: int = 0,
    ) -> None:
        self._connection = connection
        self.method = method
        """Upper-case, for example `POST`."""
        path, _, self.query = target.partition(b"?")
        self.path = path.decode("latin-1")
        """The path as sent, without the query."""
        self.headers = headers
        """Every header line in order, names as the client wrote them."""
        self.fields = fields
        """The first value of each header, by lower-case name."""
        self.body = body
        self.held_bytes = held_bytes
        """The memory that is counted for it until it is answered."""
        self.is_http_10 = is_http_10
        self.keep_alive = keep_alive
        self.bodiless = method == "HEAD"
        """Whether the answer must not carry a body."""
        self.status: int | None = None
        """Status of the answer, once it has begun."""
        self.bytes_out = 0
        """Body bytes handed to the transport."""
        self.on_gone: Callable[[], None] | None = None
        """Called once if the client leaves before the answer has ended."""
        self.on_pause: Callable[[], None] | None = None
        """Called when the client reads more slowly than the answer comes."""
        self.on_resume: Callable[[], None] | None = None
        """Called when the client has caught up."""
        self._chunked = False
        self._ends_by_close = False
        self._head = b""

    def header(self, name: bytes) -> bytes | None:
        """Return the first value of a header, by its lower-case name."""
        return self.fields.get(name)

    def head_without_offer(self) -> bytes:
        """Render its head again, without the upgrade it offers and what was answered already."""
        target = self.path.encode("latin-1") + (b"?" + self.query if self.query else b"")
        version = b"1.0" if self.is_http_10 else b"1.1"
        kept = [line for line in self.headers if line[0].lower() not in _SETTLED]
        return b"%b %b HTTP/%b\r\n%b\r\n" % (
            self.method.encode(), target, version, render_lines(kept)
        )  # fmt: skip

    @property
    def begun(self) -> bool:
        """Whether the client has been sent the beginning of an answer."""
        return self.status is not None

    @property
    def write_paused(self) -> bool:
        """Whether the client is behind in reading."""
        return self._connection.write_paused

    def respond(
        self,
        status: int,
        headers: Sequence[tuple[bytes, bytes]] = (),
        body: bytes = b"",
    ) -> None:
        """Send a whole answer; its Content-Length is added."""
        self.begin(status, render_lines(headers), len(body))
        self.finish(body)

    def start(self, status: int, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        """Begin an answer whose length is not known yet."""
        self.begin(status, render_lines(headers), None)

    def begin(self, status: int, lines: bytes, length: int | None) -> None:
        """Make the head: rendered header lines, and the framing that fits `length` and client.

        Without a length the body is chunked, or ended by closing for an HTTP/1.0 client. The
        head leaves with the first piece of the body, since a write costs a system call.
        """
        self.status = status
        if has_no_body(status):
            framing = b""
            self.bodiless = True
        elif length is not None:
            framing = b"Content-Length: %d\r\n" % length
        elif self.is_http_10:
            framing = b""
            self.keep_alive = False
            self._ends_by_close = not self.bodiless
        else:
            framing = _CHUNKED
            self._chunked = not self.bodiless
        if self._connection.closing:
            self.keep_alive = False
        if not self.keep_alive:
            framing += _CLOSE
        elif self.is_http_10:
            framing += b"Connection: keep-alive\r\n"
        self._head = status_line(status) + lines + framing + b"\r\n"

    def write(self, data: bytes) -> None:
        """Send a piece of the body; an empty one sends the head, if that is still to be sent."""
        head = self._head
        self._head = b""
        if self.bodiless or not data:
            if head:
                self._connection.send(head)
            return
        self.bytes_out += len(data)
        if len(data) < _JOIN_BELOW_BYTES:
            if self._chunked:
                self._connection.send(b"%b%x\r\n%b\r\n" % (head, len(data), data))
            else:
                self._connection.send(head + data)
        elif self._chunked:
            self._connection.send_all([b"%b%x\r\n" % (head, len(data)), data, b"\r\n"])
        else:
            self._connection.send_all([head, data])

    def finish(self, data: bytes = b"") -> None:
        """Send the last piece and end the answer; the connection goes on or closes."""
        if not self._chunked or len(data) >= _JOIN_BELOW_BYTES:
            self.write(data)
            if self._chunked:
                self._connection.send(_LAST_CHUNK)
        else:
            self.bytes_out += len(data)
            head = self._head
            self._head = b""
            if data:
                tail = b"%b%x\r\n%b\r\n%b" % (head, len(data), data, _LAST_CHUNK)
            else:
                tail = head + _LAST_CHUNK
            self._connection.send(tail)
        self._connection.answered(self)

    def cut(self) -> None:
        """End the answer without its end: what was written arrives, and is seen to be cut."""
        if self._head:
            self.write(b"")
        self.on_gone = None
        # Where closing is the only end there is, an ordinary close would make it a whole answer.
        self._connection.hang_up(with_reset=self._ends_by_close)

    def abort(self) -> None:
        """Reset the connection at once; what was not yet sent is lost."""
        self.on_gone = None
        self._connection.reset()
