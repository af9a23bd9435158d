"""HTTP/1.1 as the tests read it: by hand, so that no parser of the product judges itself.

Strict on purpose: a head with two framings, a bad chunk size or bytes after the end are
failures of whoever wrote them.
"""

from dataclasses import dataclass, field
from typing import Literal

Header = tuple[bytes, bytes]
Framing = Literal["none", "length", "chunked", "eof"]

NO_BODY_STATUSES = frozenset({204, 304})


class Malformed(AssertionError):
    """A peer wrote something that is not HTTP/1.1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A start line and its header lines, as they were on the wire."""

    start: bytes
    headers: tuple[Header, ...]
    """In order, names as written, values without the blanks around them."""
    raw: bytes
    """Everything up to and including the blank line."""

    def all(self, name: str) -> list[bytes]:
        """Return every value of one header; the name's case does not matter."""
        wanted = name.lower().encode()
        return [value for key, value in self.headers if key.lower() == wanted]

    def one(self, name: str) -> bytes | None:
        """Return the value of a header that may be there once; twice is a failure."""
        values = self.all(name)
        if len(values) > 1:
            raise Malformed(f"{name} is there {len(values)} times: {values}")
        return values[0] if values else None


def take_head(buffer: bytearray) -> Head | None:
    """Cut one head off the front of a buffer; None while it is not whole."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return None
    raw = bytes(buffer[: end + 4])
    del buffer[: end + 4]
    start, *lines = raw[:-4].split(b"\r\n")
    headers: list[Header] = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not name or name != name.strip():
            raise Malformed(f"not a header line: {line!r}")
        headers.append((name, value.strip(b" \t")))
    return Head(start=start, headers=tuple(headers), raw=raw)


@dataclass(slots=True)
class Body:
    """One message body on its way in; `take` eats what belongs to it from a buffer."""

    framing: Framing
    left: int = 0
    """Bytes still to come of the body, or of the chunk at hand."""
    done: bool = False
    chunks: int = 0
    """Data chunks seen so far; 0 unless chunked."""
    trailers: list[bytes] = field(default_factory=list)
    _state: Literal["size", "data", "end of chunk", "trailer"] = "size"

    def __post_init__(self) -> None:
        self.done = self.framing == "none" or (self.framing == "length" and self.left == 0)

    def take(self, buffer: bytearray) -> bytes:
        """Eat and return the next decoded bytes; `done` says when the body has ended."""
        if self.framing == "eof":
            return _cut(buffer, len(buffer))
        if self.framing == "chunked":
            return self._take_chunks(buffer)
        data = _cut(buffer, self.left)
        self.left -= len(data)
        self.done = self.left == 0
        return data

    def _take_chunks(self, buffer: bytearray) -> bytes:
        out = bytearray()
        while buffer and not self.done:
            if self._state == "data":
                data = _cut(buffer, self.left)
                out += data
                self.left -= len(data)
                if self.left == 0:
                    self._state = "end of chunk"
                continue
            line = _cut_line(buffer)
            if line is None:
                break
            self._read_line(line)
        return bytes(out)

    def _read_line(self, line: bytes) -> None:
        if self._state == "end of chunk":
            if line:
                raise Malformed(f"a chunk is followed by {line!r}")
            self._state = "size"
        elif self._state == "trailer":
            if line:
                self.trailers.append(line)
            else:
                self.done = True
        else:
            try:
                self.left = int(line.partition(b";")[0], 16)
            except ValueError:
                raise Malformed(f"not a chunk size: {line!r}") from None
            self.chunks += self.left > 0
            self._state = "data" if self.left else "trailer"


def request_body(head: Head) -> Body:
    """Return the body that a request head announces."""
    return _framed(head) or Body("none")


def response_body(head: Head, method: str) -> Body:
    """Return the body that a response head announces for a request of this method."""
    status = int(head.start.split(b" ")[1])
    if method == "HEAD" or status in NO_BODY_STATUSES:
        return Body("none")
    return _framed(head) or Body("eof")


def _framed(head: Head) -> Body | None:
    coding, length = head.one("transfer-encoding"), head.one("content-length")
    if coding is not None and length is not None:
        raise Malformed("both Transfer-Encoding and Content-Length")
    if coding is not None:
        if coding.lower() != b"chunked":
            raise Malformed(f"Transfer-Encoding: {coding!r}")
        return Body("chunked")
    if length is not None:
        if not length.isdigit():
            raise Malformed(f"Content-Length: {length!r}")
        return Body("length", int(length))
    return None


def _cut(buffer: bytearray, size: int) -> bytes:
    data = bytes(buffer[:size])
    del buffer[:size]
    return data


def _cut_line(buffer: bytearray) -> bytes | None:
    end = buffer.find(b"\r\n")
    if end < 0:
        return None
    line = _cut(buffer, end)
    del buffer[:2]
    return line
