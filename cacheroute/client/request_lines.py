"""The request log of a Proxy, read back: a line of JSON per request that is over.

A log that is being written ends in half a line, one that was rotated begins anywhere, and other
programs write lines too: what is no request is counted and skipped.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from cacheroute.core.predict.lessons import LoggedRequest

MAX_LINE_BYTES = 64 * 1024
MAX_REQUESTS = 100_000
"""Requests that are kept, the last ones read; they take about 100 MB."""

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_decode = msgspec.json.Decoder(LoggedRequest).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLines:
    """What some logs hold."""

    requests: tuple[LoggedRequest, ...]
    skipped: int
    """Lines that are no request."""
    forgotten: int
    """Requests that were read before the last `MAX_REQUESTS`."""


def read_request_logs(logs: Iterable[Path], *, keep: int = MAX_REQUESTS) -> RequestLines:
    """Read logs one after the other; raises OSError for one that cannot be read."""
    kept: deque[LoggedRequest] = deque(maxlen=keep)
    read = skipped = 0
    for path in logs:
        with path.open("rb") as file:
            for line in _lines(file):
                request = read_request_line(line)
                if request is None:
                    skipped += bool(line.strip())
                else:
                    read += 1
                    kept.append(request)
    return RequestLines(requests=tuple(kept), skipped=skipped, forgotten=read - len(kept))


def read_request_line(line: bytes) -> LoggedRequest | None:
    """Read one line; None when it is no request."""
    try:
        request = _decode(line)
    except _UNREADABLE:
        return None
    # What lasted less than nothing would turn every order upside down.
    return request if request.e2e_ms >= 0 and (request.ttft_ms or 0) >= 0 else None


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines; of one that is too long only a beginning, which is no JSON."""
    while line := file.readline(MAX_LINE_BYTES):
        yield line
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES)
