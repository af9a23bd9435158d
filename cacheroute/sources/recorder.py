"""Records what a source says, look by look, into a file that can be read while it grows.

Looks are kept for a few seconds and then written in one piece, so a crash costs those seconds
and nothing before them. A source that does not answer becomes a gap.
"""

from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from cacheroute.console.look import Look
from cacheroute.console.source import SourceFault
from cacheroute.sources.entries import Entry
from cacheroute.sources.recording import Header, packed
from cacheroute.wire import paths
from cacheroute.wire.console import ConsoleSnapshot

PART_S = 5.0
"""Time in one part."""
PART_LOOKS = 64
TOPOLOGY_EVERY_S = 30.0
_AT_ONCE = 512


class Recorded(Protocol):
    """As much of a source as is recorded."""

    @property
    def name(self) -> str: ...
    async def look(self) -> Look: ...
    async def raw(self, path: str) -> bytes: ...


class _Pages(msgspec.Struct, frozen=True):
    total: int | None = None
    decisions: list[msgspec.Raw] = []
    traces: list[msgspec.Raw] = []


class Recorder:
    """Writes one recording; raises FileExistsError or another OSError when it cannot."""

    def __init__(self, path: Path, source: Recorded, *, now_s: float, interval_s: float) -> None:
        self._file: BinaryIO = path.open("xb")
        self._source = source
        self._lines: list[bytes] = []
        self._times: list[float] = []
        self._before: ConsoleSnapshot | None = None
        self._seen = {"decisions": 0, "traces": 0}
        self._part_since_s = now_s
        self._topology_at_s: float | None = None
        self._encoder = msgspec.json.Encoder()
        self.looks = 0
        """Looks that were recorded."""
        self.gaps = 0
        """Looks that failed."""
        self.written_bytes = 0
        header = Header(name=source.name, started_at=now_s, interval_s=interval_s)
        try:
            self._write(packed([self._encoder.encode(header)], looks=0, from_s=now_s, to_s=now_s))
        except BaseException:
            # Nothing is recorded; an empty file would only be in the way of the next attempt.
            path.unlink(missing_ok=True)
            with suppress(OSError):
                self._file.close()
            raise

    async def look(self, now_s: float) -> SourceFault | None:
        """Look once and keep it; returns what went wrong."""
        fault = None
        try:
            look = await self._source.look()
        except SourceFault as problem:
            fault = problem
            self.gaps += 1
            self._lines.append(
                self._encoder.encode(Entry(at=now_s, kind="gap", why=problem.message))
            )
        else:
            self._keep(await self._entry(look, now_s), now_s)
        is_long = now_s - self._part_since_s >= PART_S or len(self._times) >= PART_LOOKS
        if is_long and self._lines:
            self.flush(now_s)
        return fault

    def flush(self, now_s: float) -> None:
        """Write what is kept."""
        lines, times = self._lines, self._times
        self._lines, self._times, self._before = [], [], None
        self._part_since_s = now_s
        if lines:
            from_s, to_s = (times[0], times[-1]) if times else (now_s, now_s)
            self._write(packed(lines, looks=len(times), from_s=from_s, to_s=to_s))

    def close(self, now_s: float) -> None:
        """Write what is kept and close the file."""
        try:
            self.flush(now_s)
        finally:
            self._file.close()

    async def _entry(self, look: Look, now_s: float) -> Entry:
        snapshot, before = look.snapshot, self._before
        decisions = await self._news("decisions", paths.DEBUG_DECISIONS)
        traces = await self._news("traces", paths.DEBUG_TRACES)
        topology = await self._topology(now_s)
        if before is not None and before.rev == snapshot.rev and before.run == snapshot.run:
            return Entry(
                at=now_s, kind="same", passed_s=look.passed_s, decisions=decisions, traces=traces,
                topology=topology,
            )  # fmt: skip
        self._before = snapshot
        if before is not None and before.who == snapshot.who:
            snapshot = msgspec.structs.replace(snapshot, identities=None)
        return Entry(
            at=now_s, kind="look", look=snapshot, passed_s=look.passed_s, decisions=decisions,
            traces=traces, topology=topology,
        )  # fmt: skip

    def _keep(self, entry: Entry, now_s: float) -> None:
        self._lines.append(self._encoder.encode(entry))
        self._times.append(now_s)
        self.looks += 1

    async def _news(self, what: str, path: str) -> list[msgspec.Raw]:
        """Return what has come since the last time; nothing where it is not told."""
        try:
            page = await self._source.raw(f"{path}?last={_AT_ONCE}&since={self._seen[what]}")
            told = msgspec.json.decode(page, type=_Pages)
        except (SourceFault, msgspec.MsgspecError):
            return []
        if told.total is None:  # it cannot tell what is new
            return []
        self._seen[what] = told.total
        return told.decisions if what == "decisions" else told.traces

    async def _topology(self, now_s: float) -> list[msgspec.Raw]:
        at_s = self._topology_at_s
        if at_s is not None and now_s - at_s < TOPOLOGY_EVERY_S:
            return []
        self._topology_at_s = now_s
        try:
            page = await self._source.raw(paths.DEBUG_TOPOLOGY)
            msgspec.json.decode(page)
        except (SourceFault, msgspec.MsgspecError):
            return []
        return [msgspec.Raw(page)]

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        self.written_bytes += len(data)
