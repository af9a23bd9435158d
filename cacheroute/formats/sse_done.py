"""Takes `data: [DONE]` out of a stream of events, so that something can be said before it.

Everything else goes on byte for byte, whatever ends its lines and wherever the network cuts
them. Only the beginning of a line that could still become the mark is held back, and in the
common stream no piece ends inside a line.
"""

import re

_FIELD = b"data:"
_MARK = b"[DONE]"
_LONGEST = 32
"""Longest line that is taken for the mark: room for blanks that nobody writes."""
_LINE = re.compile(rb"[^\r\n]*+(?:\r\n|\n|\r)")


class DoneFilter:
    """Lets a stream through without its end mark."""

    __slots__ = ("_amid_line", "_drops_blank", "_drops_lf", "_held", "found")

    def __init__(self) -> None:
        self._held = b""
        self._amid_line = False
        self._drops_blank = False
        self._drops_lf = False
        self.found = False
        """Whether the mark has come."""

    def feed(self, data: bytes) -> bytes:
        """Return what of this piece, and of what was held back, goes on."""
        if not data:
            return data
        if self._held:
            data = self._held + data
            self._held = b""
        if _MARK not in data and not self._drops_blank and not self._drops_lf:
            start = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
            if start == len(data):
                self._amid_line = False
                return data
            if (self._amid_line and not start) or not _could_be_mark(data[start:]):
                self._amid_line = True
                return data
        return self._by_line(data)

    def close(self) -> bytes:
        """Return what was held back, unless it is the mark itself."""
        rest, self._held = self._held, b""
        if _is_mark(rest):
            self.found = True
            return b""
        return rest

    def _by_line(self, data: bytes) -> bytes:
        kept: list[bytes] = []
        # The carriage return of a line that was dropped may have been the half of its end.
        at = 1 if self._drops_lf and data.startswith(b"\n") else 0
        self._drops_lf = False
        for found in _LINE.finditer(data, at):
            line, at = found.group(), found.end()
            is_whole, self._amid_line = not self._amid_line, False
            if is_whole and _is_mark(line.rstrip(b"\r\n")):
                self.found = self._drops_blank = True
            elif is_whole and self._drops_blank and line in (b"\n", b"\r\n", b"\r"):
                self._drops_blank = False
            else:
                self._drops_blank = False
                kept.append(line)
                continue
            self._drops_lf = at == len(data) and line.endswith(b"\r")
        rest = data[at:]
        if rest and not self._amid_line and _could_be_mark(rest):
            self._held = rest
        elif rest:
            self._amid_line = True
            self._drops_blank = False
            kept.append(rest)
        return b"".join(kept)


def _is_mark(line: bytes) -> bool:
    return (
        len(line) <= _LONGEST and line.startswith(_FIELD) and line[len(_FIELD) :].strip() == _MARK
    )


def _could_be_mark(line: bytes) -> bool:
    if len(line) > _LONGEST:
        return False
    if len(line) < len(_FIELD):
        return _FIELD.startswith(line)
    return line.startswith(_FIELD) and _MARK.startswith(line[len(_FIELD) :].strip())
