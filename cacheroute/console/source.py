"""Where a console looks: a Proxy, a recording or a simulation, all by the same few questions.

A screen never knows which it is. What a source cannot tell it says so, with the reason, and the
rest goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from cacheroute.console.look import Look
from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.rows.topology import LinkRow
from cacheroute.console.rows.traces import TraceRow

if TYPE_CHECKING:
    from cacheroute.wire.instances import InstanceRow

SourceKind = Literal["live", "replay", "demo"]
Panel = Literal[
    "snapshot", "decisions", "traces", "topology", "scheduler", "queues", "pool", "changes"
]
"""What may be missing, one by one."""


class SourceFault(Exception):
    """A question has no answer; the message is a sentence for people."""

    def __init__(self, message: str, *, code: str, url: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        """`unreachable`, `timeout`, `refused`, `unauthorised`, `not_understood`, `read_only`,
        `missing` or `broken`."""
        self.url = url
        """What was asked, where it was asked over a network."""


class NotTold(SourceFault):
    """The source is fine and does not have this; asking again changes nothing."""

    def __init__(self, panel: Panel, reason: str) -> None:
        super().__init__(reason, code="missing")
        self.panel = panel


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a source can tell."""

    missing: Mapping[Panel, str] = field(default_factory=dict)
    """Why not, for each panel that stays empty."""

    def reason(self, panel: Panel) -> str | None:
        """Say why a panel stays empty; None when it does not."""
        return self.missing.get(panel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a recording stands."""

    index: int
    """Of the look that is shown, from 0."""
    count: int
    at: datetime | None
    """When that look was taken."""
    first: datetime | None
    last: datetime | None
    is_playing: bool
    """Whether time goes on."""
    speed_ratio: float
    """Seconds of the recording for each second here."""


class Source(Protocol):
    """Whoever answers a console; each question raises SourceFault when it has no answer."""

    @property
    def kind(self) -> SourceKind:
        """What it is."""
        ...

    @property
    def name(self) -> str:
        """The URL, the file, or `demo`."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can tell, as far as that is known: the first look finds out."""
        ...

    async def look(self) -> Look:
        """Return the pool as it is now; of the same revision if only the time has passed."""
        ...

    async def decisions(self, *, last: int = 100) -> Sequence[DecisionRow]:
        """Return the newest decisions, newest first."""
        ...

    async def traces(self, *, last: int = 100) -> Sequence[TraceRow]:
        """Return the newest requests, newest first."""
        ...

    async def trace(self, request_id: str) -> TraceRow | None:
        """Return one request; None when it is not known, or no longer."""
        ...

    async def topology(self) -> Sequence[LinkRow]:
        """Return the links to knowledge nodes, by node, the best on top."""
        ...

    async def instance(self, instance_id: str) -> InstanceRow | None:
        """Return all that is known of one Instance, its last report as sent; None if it is gone."""
        ...

    async def raw(self, path: str) -> bytes:
        """Return any page of the control plane as it is."""
        ...

    def pages(self) -> Sequence[str]:
        """Return the paths that `raw` knows, for a list to choose from."""
        ...

    async def close(self) -> None:
        """Let go of connections and files."""
        ...


@runtime_checkable
class Playable(Protocol):
    """A source whose time is in our hands; a recording is one."""

    @property
    def position(self) -> Position:
        """Where it stands."""
        ...

    def play(self) -> None:
        """Let time go on from here; from the start, at the end."""
        ...

    def pause(self) -> None:
        """Stop time."""
        ...

    def step(self, looks: int) -> None:
        """Go so many looks forward or, negative, back; time stops."""
        ...

    def seek(self, index: int) -> None:
        """Go to a look; beyond either end is that end."""
        ...

    def set_speed(self, ratio: float) -> None:
        """Let so many seconds pass for each second here."""
        ...
