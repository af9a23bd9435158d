"""The logs of several processes as one, line by line in the order of time.

A line's time is when the supervisor saw it arrive, to about half a second; what no supervisor
saw has the time at which its file was last written.
"""

import bisect
import heapq
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cacheroute_cli.supervisor.log_files import files_of, older, read_times

MAX_LINE_BYTES = 16 * 1024
"""A longer line is read as several."""
_MAX_READ_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line that a process wrote."""

    at_s: float
    """Wall clock, seconds since the epoch."""
    name: str
    text: str
    log: Path | None = None
    """Where it was read, which tells processes of one name apart."""


def merged(
    logs: Mapping[str, Path], *, since_s: float | None = None, last: int | None = None
) -> Iterator[LogLine]:
    """Return the lines of several logs, oldest first; `last` is how many of each."""
    each: list[Iterable[LogLine]] = []
    for name, log in logs.items():
        lines = lines_of(name, log, since_s=since_s)
        each.append(lines if last is None else deque(lines, maxlen=min(last, sys.maxsize)))
    # Lines of the same time stay in the order of the names, and never overtake their own log.
    return heapq.merge(*each, key=lambda line: line.at_s)


def lines_of(name: str, log: Path, *, since_s: float | None = None) -> Iterator[LogLine]:
    """Return the lines of one log with its older files, oldest first."""
    for path in files_of(log):
        try:
            file = path.open("rb")
        except OSError:
            continue
        times = read_times(path)
        sizes = [size for _, size in times]
        with file:
            written_s = os.fstat(file.fileno()).st_mtime
            end = 0
            while raw := file.readline(MAX_LINE_BYTES):
                end += len(raw)
                at = bisect.bisect_left(sizes, end)
                at_s = times[at][0] if at < len(times) else written_s
                if since_s is None or at_s >= since_s:
                    yield LogLine(at_s=at_s, name=name, text=_text(raw))


class Tail:
    """One log that is followed: gives what was added since the last look."""

    def __init__(self, name: str, log: Path, *, from_start: bool = False) -> None:
        self.name = name
        self._log = log
        self._begun = b""
        self._at = 0 if from_start else _size(log)
        self._aside = _inode(older(log, 1))

    def look(self, now_s: float) -> list[LogLine]:
        """Return the whole lines that have come since."""
        raw = b""
        aside = _inode(older(self._log, 1))
        if aside != self._aside or _size(self._log) < self._at:
            # It was cut; what we had not read of it lies beside.
            raw = _read(older(self._log, 1), self._at)
            self._at, self._aside = 0, aside
        more = _read(self._log, self._at)
        self._at += len(more)
        *lines, self._begun = (self._begun + raw + more).split(b"\n")
        if len(self._begun) > MAX_LINE_BYTES:
            lines.append(self._begun)
            self._begun = b""
        return [
            LogLine(at_s=now_s, name=self.name, text=_text(line), log=self._log) for line in lines
        ]


def last_lines(log: Path, count: int) -> list[str]:
    """Return the last lines of a log that are not blank."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - 64 * 1024))
            raw = file.read(64 * 1024)
    except OSError:
        return []
    lines = [_text(line) for line in raw.splitlines()]
    return [line for line in lines if line.strip()][-count:]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _read(path: Path, start: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(_MAX_READ_BYTES)
    except OSError:
        return b""


def _text(raw: bytes) -> str:
    return raw.rstrip(b"\r\n").decode("utf-8", "replace")
