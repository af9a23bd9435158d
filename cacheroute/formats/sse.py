"""Server-sent events, read piece by piece beside a relay that leaves them alone.

Any line end counts (LF, CRLF, bare CR), wherever the network cuts; nothing is decoded, so
no character can be torn. The stream itself is never changed here: this only looks.
"""

import sys
from typing import NamedTuple


class Event(NamedTuple):
    """One dispatched event."""

    name: bytes
    """The `event:` field, or empty."""
    data: bytes
    """Its `data:` lines, joined by LF."""
    is_cut: bool = False
    """Whether it was too long to be kept, so that `data` is only its beginning."""


class SseScanner:
    """Splits a stream into events, counting each once."""

    __slots__ = (
        "_data", "_has_field", "_is_first", "_kept_bytes", "_line", "_name", "_skip_lf",
        "comments", "event_bytes", "events", "is_cut",
    )  # fmt: skip

    def __init__(self, kept_bytes: int = sys.maxsize) -> None:
        """Keep of an event what comes until `kept_bytes` are passed."""
        self._kept_bytes = kept_bytes
        self.events = 0
        """Events that were complete, comments aside."""
        self.comments = 0
        """Comment lines."""
        self.event_bytes = 0
        """Bytes of the event that has begun and is not complete."""
        self.is_cut = False
        """Whether not all of them were kept."""
        self._line: list[bytes] = []
        self._is_first = True
        self._skip_lf = False
        self._name = b""
        self._data: list[bytes] = []
        self._has_field = False

    def count(self, data: bytes) -> bool:
        """Count the events of a piece that holds nothing but whole plain ones.

        Returns False, having done nothing, when the piece is of another shape and must
        be scanned. In the common stream every piece is such, and this costs a few searches.
        """
        if (
            self.event_bytes
            or self._skip_lf
            or not data.startswith(b"data:")
            or not data.endswith(b"\n\n")
            or b"\r" in data
        ):
            return False
        ends = data.count(b"\n\n")
        if ends != 1 and data.count(b"\n\ndata:") != ends - 1:
            return False
        self.events += ends
        return True

    def scan(self, data: bytes) -> list[Event]:
        """Read a piece; return the events that it completes."""
        if self._skip_lf and data:
            self._skip_lf = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            self._skip_lf = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        first, *rest = data.split(b"\n")
        self._keep(first)
        if not rest:
            return []
        found: list[Event] = []
        line = b"".join(self._line)
        self._line.clear()
        last = rest.pop()
        for following in (*rest, None):
            self.event_bytes += 1
            event = self._end_line(line)
            if event is not None:
                found.append(event)
            if not self._has_field:
                self.event_bytes = 0
                self.is_cut = False
            if following is not None:
                line = following
                self.event_bytes += len(line)
        self._keep(last)
        return found

    @property
    def is_amid_event(self) -> bool:
        """Whether a line or an event has begun that is not complete."""
        return self.event_bytes > 0 or self._has_field

    @property
    def name(self) -> bytes:
        """The name of the event that has begun, if it has come already."""
        return self._name

    def peek(self) -> bytes:
        """Return the data of the event that has begun, as far as it has come."""
        line = self._unmarked(b"".join(self._line))
        parts = list(self._data)
        if line.startswith(b"data:"):
            parts.append(_value(line, 5))
        elif line and not parts and not self._has_field:
            return b""
        return b"\n".join(parts)

    def _keep(self, part: bytes) -> None:
        if self.event_bytes > self._kept_bytes and self._line:
            self.is_cut = True  # the line has begun, or it would be taken for a blank one
        elif part:
            self._line.append(part)
        self.event_bytes += len(part)

    def _unmarked(self, line: bytes) -> bytes:
        return line.removeprefix(b"\xef\xbb\xbf") if self._is_first else line

    def _end_line(self, line: bytes) -> Event | None:
        line = self._unmarked(line)
        self._is_first = False
        if not line:
            return self._dispatch()
        if line.startswith(b":"):
            self.comments += 1
            return None
        field, colon, _ = line.partition(b":")
        self._has_field = True
        value = _value(line, len(field) + 1) if colon else b""
        if field == b"data":
            if not self.is_cut:
                self._data.append(value)
            self.is_cut = self.event_bytes > self._kept_bytes
        elif field == b"event":
            self._name = value
        return None

    def _dispatch(self) -> Event | None:
        if not self._has_field:
            return None
        event = Event(self._name, b"\n".join(self._data), self.is_cut)
        self._name = b""
        self._data = []
        self._has_field = False
        self.events += 1
        return event


def _value(line: bytes, start: int) -> bytes:
    return line[start + 1 :] if line[start : start + 1] == b" " else line[start:]
