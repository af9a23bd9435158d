"""The simulated fleet, as a source for a console."""

from collections.abc import Callable, Sequence
from time import monotonic, time
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import msgspec

from cacheroute.console.look import Look
from cacheroute.console.rows.decisions import DecisionRow, decision_rows
from cacheroute.console.rows.topology import LinkRow, link_rows
from cacheroute.console.rows.traces import TraceRow, trace_rows
from cacheroute.console.source import Capabilities, SourceFault
from cacheroute.core.clock import Instant
from cacheroute.sources.rebuilt import instance_row
from cacheroute.sources.simulated.document import document
from cacheroute.sources.simulated.fleet import TTL_S, Fleet
from cacheroute.wire import paths
from cacheroute.wire.decisions import DecisionsReply
from cacheroute.wire.instances import InstanceRow
from cacheroute.wire.links import LinkReportRow, TopologyReply
from cacheroute.wire.traces import TracesReply

NAME = "demo"
WARM_UP_S = 45.0
"""How long the fleet has been at work when it is first looked at."""
_MOST = 1_024


def _now() -> Instant:
    return Instant(mono_s=monotonic(), wall_s=time())


class SimulatedSource:
    """A fleet of so many Instances."""

    def __init__(
        self, *, instances: int = 12, seed: int = 7, now: Callable[[], Instant] = _now
    ) -> None:
        self._now = now
        self._began = now()
        self._fleet = Fleet(instances=instances, seed=seed)
        self._fleet.advance(WARM_UP_S)
        self._fleet.begin()
        self._run = f"demo-{seed}"

    @property
    def kind(self) -> Literal["demo"]:
        """A simulation."""
        return "demo"

    @property
    def name(self) -> str:
        """`demo`."""
        return NAME

    @property
    def capabilities(self) -> Capabilities:
        """What it can tell."""
        return Capabilities(missing={"changes": "this is a simulation; nothing can be changed"})

    async def look(self) -> Look:
        """Return the pool as of the last half second."""
        now = self._advance()
        wall_s = self._wall_s(self._fleet.now_s)
        passed_s = WARM_UP_S + (now.mono_s - self._began.mono_s) - self._fleet.now_s
        snapshot = document(self._fleet, wall_s=wall_s, run=self._run)
        return Look(snapshot=snapshot, url=NAME).later(passed_s)

    async def decisions(self, *, last: int = 100) -> Sequence[DecisionRow]:
        """Return the newest decisions, newest first."""
        return decision_rows(self._decisions(last, None))

    async def traces(self, *, last: int = 100) -> Sequence[TraceRow]:
        """Return the newest requests, newest first."""
        return trace_rows(self._traces(last, None))

    async def trace(self, request_id: str) -> TraceRow | None:
        """Return one request; None when it is not known, or no longer."""
        found = await self.traces(last=_MOST)
        return next((row for row in found if row.request_id == request_id), None)

    async def topology(self) -> Sequence[LinkRow]:
        """Return the links to knowledge nodes."""
        return link_rows(self._topology())

    async def instance(self, instance_id: str) -> InstanceRow | None:
        """Return what there is of one Instance, with the report of its host."""
        entry = instance_row((await self.look()).snapshot, instance_id)
        simulated = next((each for each in self._fleet.instances if each.id == instance_id), None)
        if entry is None or simulated is None or simulated.reported_s is None:
            return entry
        resource = entry.resource.model_copy(update={"raw_resource": simulated.as_reported()})
        return entry.model_copy(update={"resource": resource})

    async def raw(self, path: str) -> bytes:
        """Return a page as a Proxy would; raises SourceFault for one that there is not."""
        parts = urlsplit(path)
        asked = parse_qs(parts.query)
        last, since = _whole(asked, "last") or 50, _whole(asked, "since")
        match parts.path:
            case paths.CONSOLE_SNAPSHOT:
                return msgspec.json.encode((await self.look()).snapshot)
            case paths.DEBUG_DECISIONS:
                return msgspec.json.encode(self._decisions(last, since))
            case paths.DEBUG_TRACES:
                return msgspec.json.encode(self._traces(last, since))
            case paths.DEBUG_TOPOLOGY:
                return msgspec.json.encode(self._topology())
        raise SourceFault(f"a simulated Proxy has no {parts.path}", code="missing")

    def pages(self) -> Sequence[str]:
        """Return the paths that it has."""
        return (
            paths.CONSOLE_SNAPSHOT,
            f"{paths.DEBUG_DECISIONS}?last=50",
            f"{paths.DEBUG_TRACES}?last=50",
            paths.DEBUG_TOPOLOGY,
        )

    async def close(self) -> None:
        """Have nothing to let go of."""

    # Within

    def _advance(self) -> Instant:
        now = self._now()
        self._fleet.advance(WARM_UP_S + now.mono_s - self._began.mono_s)
        return now

    def _wall_s(self, at_s: float) -> float:
        return self._began.wall_s + at_s - WARM_UP_S

    def _decisions(self, last: int, since: int | None) -> DecisionsReply:
        self._advance()
        told = self._fleet.stories
        rows = [
            msgspec.structs.replace(row, at=self._wall_s(row.at))
            for row in reversed(told.decisions)
            if since is None or row.seq > since
        ]
        return DecisionsReply(ok=True, total=told.decided, decisions=rows[:last])

    def _traces(self, last: int, since: int | None) -> TracesReply:
        self._advance()
        told = self._fleet.stories
        rows = [
            msgspec.structs.replace(row, at=self._wall_s(row.at))
            for row in reversed(told.traces)
            if since is None or row.seq > since
        ]
        return TracesReply(ok=True, total=told.ended, traces=rows[:last])

    def _topology(self) -> TopologyReply:
        now = self._advance()
        fleet = self._fleet
        reports: dict[str, dict[str, dict[str, object]]] = {}
        best: dict[str, dict[str, object]] = {}
        for (instance_id, kdn), (bandwidth_mbps, latency_ms) in fleet.links.items():
            link: dict[str, object] = {
                "bandwidth_mbps": bandwidth_mbps,
                "latency_ms": latency_ms,
            }
            reports.setdefault(instance_id, {})[kdn] = link
            known = best.get(kdn)
            if known is None or bandwidth_mbps > float(str(known["bandwidth_mbps"])):
                best[kdn] = {**link, "reported_by": instance_id}
        states = {each.id: each for each in fleet.instances}
        return TopologyReply(
            ok=True,
            generated_at=now.wall_s,
            instances=[
                LinkReportRow(
                    instance_id=instance_id,
                    state=states[instance_id].state(fleet.now_s, TTL_S),
                    is_alive=states[instance_id].state(fleet.now_s, TTL_S) == "alive",
                    age_s=fleet.now_s - states[instance_id].seen_s,
                    report_age_s=fleet.now_s % 30.0,
                    links=links,
                )
                for instance_id, links in reports.items()
            ],
            kdn_links=best,
        )


def _whole(asked: dict[str, list[str]], name: str) -> int | None:
    words = asked.get(name, [""])
    return int(words[0]) if words[0].isascii() and words[0].isdigit() else None
