"""A recording, looked at as if it were a Proxy; its time is in our hands.

Playing, a look is the one that was taken when the recording was as old as it has been played
for. Two parts are kept unpacked, so a step back costs nothing and hours cost no memory.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Literal

import msgspec

from cacheroute.console.amounts import instant_of
from cacheroute.console.look import Look
from cacheroute.console.rows.decisions import DecisionRow, decision_rows
from cacheroute.console.rows.topology import LinkRow, link_rows
from cacheroute.console.rows.traces import TraceRow, trace_rows
from cacheroute.console.source import Capabilities, NotTold, Position, SourceFault
from cacheroute.sources.entries import Entry, read_entry, with_identities
from cacheroute.sources.rebuilt import instance_row
from cacheroute.sources.recording import Recording, RecordingProblem
from cacheroute.wire import paths
from cacheroute.wire.console import ConsoleSnapshot
from cacheroute.wire.decisions import DecisionsReply
from cacheroute.wire.instances import InstanceRow
from cacheroute.wire.links import TopologyReply
from cacheroute.wire.traces import TracesReply

_PARTS_KEPT = 4
_PARTS_BACK = 24
"""How far back decisions, requests and links are looked for: two minutes."""
SPEEDS = (0.1, 100.0)


class _Seen(msgspec.Struct, frozen=True):
    """One look of a part, and all that stands beside it."""

    at_s: float
    look: ConsoleSnapshot
    passed_s: float
    entry: Entry


class ReplaySource:
    """One recording; raises RecordingProblem when it is none, or holds no look."""

    def __init__(self, path: Path, *, mono_s: Callable[[], float] = monotonic) -> None:
        self._recording = Recording(path)
        if not self._recording.looks:
            self._recording.close()
            raise RecordingProblem(f"{path} holds no look yet")
        self._mono_s = mono_s
        self._unpacked: OrderedDict[int, list[_Seen]] = OrderedDict()
        self._index = 0
        self._speed_ratio = 1.0
        self._playing_since: tuple[float, float] | None = None
        try:
            self.play()
        except SourceFault as fault:
            self._recording.close()
            raise RecordingProblem(fault.message) from fault

    @classmethod
    def open(cls, path: str | Path) -> "ReplaySource":
        """Open a file; raises RecordingProblem, which is a ValueError."""
        return cls(Path(path).expanduser())

    @property
    def kind(self) -> Literal["replay"]:
        """A recording."""
        return "replay"

    @property
    def name(self) -> str:
        """What was recorded, or else the file."""
        return self._recording.header.name or str(self._recording.path)

    @property
    def recording(self) -> Recording:
        """The file."""
        return self._recording

    @property
    def capabilities(self) -> Capabilities:
        """What it can tell."""
        return Capabilities(missing={"changes": "this is a recording; nothing can be changed"})

    # Time

    @property
    def position(self) -> Position:
        """Where it stands."""
        self._advance()
        return Position(
            index=self._index,
            count=self._recording.looks,
            at=instant_of(self._seen(self._index).at_s),
            first=instant_of(self._recording.first_s),
            last=instant_of(self._recording.last_s),
            is_playing=self._playing_since is not None,
            speed_ratio=self._speed_ratio,
        )

    def play(self) -> None:
        """Let time go on from here; from the start, at the end."""
        if self._index >= self._recording.looks - 1:
            self._index = 0
        self._playing_since = (self._mono_s(), self._seen(self._index).at_s)

    def pause(self) -> None:
        """Stop time."""
        self._advance()
        self._playing_since = None

    def step(self, looks: int) -> None:
        """Go so many looks forward or, negative, back; time stops."""
        self.pause()
        self.seek(self._index + looks)

    def seek(self, index: int) -> None:
        """Go to a look; beyond either end is that end."""
        self._index = min(max(0, index), self._recording.looks - 1)
        if self._playing_since is not None:
            self._playing_since = (self._mono_s(), self._seen(self._index).at_s)

    def set_speed(self, ratio: float) -> None:
        """Let so many seconds pass for each second here, between a tenth and a hundred."""
        is_playing = self._playing_since is not None
        self.pause()
        self._speed_ratio = min(max(SPEEDS[0], ratio), SPEEDS[1])
        if is_playing:
            self._playing_since = (self._mono_s(), self._seen(self._index).at_s)

    # Questions

    async def look(self) -> Look:
        """Return the look that time has come to."""
        self._advance()
        return self.look_at(self._index)

    def look_at(self, index: int) -> Look:
        """Return a look by its number; raises SourceFault where the file is damaged."""
        seen = self._seen(index)
        return Look(snapshot=seen.look, url=self.name).later(seen.passed_s)

    async def decisions(self, *, last: int = 100) -> Sequence[DecisionRow]:
        """Return the newest decisions before now, newest first."""
        rows = self._before_now(lambda entry: entry.decisions, last)
        return decision_rows(msgspec.convert({"ok": True, "decisions": rows}, DecisionsReply))

    async def traces(self, *, last: int = 100) -> Sequence[TraceRow]:
        """Return the newest requests before now, newest first."""
        rows = self._before_now(lambda entry: entry.traces, last)
        return trace_rows(msgspec.convert({"ok": True, "traces": rows}, TracesReply))

    async def trace(self, request_id: str) -> TraceRow | None:
        """Return one request of the last minutes."""
        found = await self.traces(last=100_000)
        return next((row for row in found if row.request_id == request_id), None)

    async def topology(self) -> Sequence[LinkRow]:
        """Return the links as they were told last."""
        for seen in self._back():
            for page in seen.entry.topology:
                return link_rows(msgspec.json.decode(page, type=TopologyReply))
        raise NotTold("topology", "no links were recorded up to here")

    async def instance(self, instance_id: str) -> InstanceRow | None:
        """Return what the look tells of one Instance; its last report was not recorded."""
        look = await self.look()
        return instance_row(look.snapshot, instance_id)

    async def raw(self, path: str) -> bytes:
        """Return the look as it was recorded; of other pages there is nothing."""
        if path.partition("?")[0] != paths.CONSOLE_SNAPSHOT:
            raise SourceFault(f"{path} was not recorded", code="missing")
        return msgspec.json.encode((await self.look()).snapshot)

    def pages(self) -> Sequence[str]:
        """Return the one page there is."""
        return (paths.CONSOLE_SNAPSHOT,)

    async def close(self) -> None:
        """Close the file."""
        self._recording.close()

    # Within

    def _advance(self) -> None:
        if self._playing_since is None:
            return
        since_s, from_s = self._playing_since
        now_s = from_s + (self._mono_s() - since_s) * self._speed_ratio
        self._index = max(self._index, self._index_at(now_s))
        if self._index >= self._recording.looks - 1:
            self._playing_since = None

    def _index_at(self, wall_s: float) -> int:
        """Return the last look that was taken by then."""
        number = self._recording.part_at(wall_s)
        part = self._recording.parts[number]
        before = sum(1 for seen in self._part(number) if seen.at_s <= wall_s)
        return max(0, part.first_look + before - 1)

    def _seen(self, index: int) -> _Seen:
        number = self._recording.part_of(index)
        part = self._recording.parts[number]
        place = index - part.first_look
        looks = self._part(number)
        if not 0 <= place < len(looks):
            raise SourceFault(f"look {index + 1} of the recording is damaged", code="broken")
        return looks[place]

    def _part(self, number: int) -> list[_Seen]:
        found = self._unpacked.get(number)
        if found is None:
            found = self._unpacked[number] = self._unpack(number)
            while len(self._unpacked) > _PARTS_KEPT:
                self._unpacked.popitem(last=False)
        else:
            self._unpacked.move_to_end(number)
        return found

    def _unpack(self, number: int) -> list[_Seen]:
        try:
            lines = self._recording.lines(number)
        except RecordingProblem as problem:
            raise SourceFault(str(problem), code="broken") from problem
        found: list[_Seen] = []
        before: ConsoleSnapshot | None = None
        for entry in filter(None, map(read_entry, lines)):
            if entry.kind == "look" and entry.look is not None:
                before = with_identities(entry.look, before)
            if entry.kind != "gap" and before is not None:
                found.append(
                    _Seen(at_s=entry.at, look=before, passed_s=entry.passed_s, entry=entry)
                )
        return found

    def _back(self) -> Iterator[_Seen]:
        """Iterate over the looks up to this one, newest first, as far as is worth while."""
        self._advance()
        number = self._recording.part_of(self._index)
        place = self._index - self._recording.parts[number].first_look
        for part in range(number, max(-1, number - _PARTS_BACK), -1):
            looks = self._part(part)
            yield from reversed(looks[: place + 1] if part == number else looks)

    def _before_now(self, rows_of: Callable[[Entry], list[msgspec.Raw]], last: int) -> list[Any]:
        found: list[Any] = []
        for seen in self._back():
            found += [msgspec.json.decode(row) for row in rows_of(seen.entry)]
            if len(found) >= last:
                break
        return found[:last]
