"""What a screen shows: the last good look, how the connection is, and what was before.

The store owns all of it and hands it out as frozen snapshots; whoever draws keeps nothing but
where the cursor is. Rows of a kind are made when somebody reads them, once a look.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from cacheroute.console.alert_log import AlertLog, Noted
from cacheroute.console.alerts import Alert, AlertKey
from cacheroute.console.amounts import instant_of
from cacheroute.console.first_tokens import FirstToken, FirstTokens
from cacheroute.console.history import History
from cacheroute.console.injections import Injections, RecentInjections
from cacheroute.console.look import Look
from cacheroute.console.overview import Overview
from cacheroute.console.rates import Rates, rates_of
from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rows.loads import LoadRow
from cacheroute.console.rows.resources import ResourceRow
from cacheroute.console.rows.scores import ScoreRow
from cacheroute.console.rows.topology import LinkRow
from cacheroute.console.rows.traces import TraceRow
from cacheroute.console.rules import RULES, Rules
from cacheroute.console.standing import Standing, points_of, standing_of
from cacheroute.core.clock import Instant

Phase = Literal["connecting", "live", "lagging", "lost"]

FAILURES_UNTIL_LOST = 3
"""Looks that must fail one after the other before the Proxy counts as lost."""
_LATE_LOOKS = 2
_UNSEEN_LOOKS = 2.5
"""Time without a look, in paces, from which on it is a gap in the history."""
SAME_FOR_S = 5.0
"""While only the time moves, alerts are judged again after this long; until then only the ages in
them would change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What was asked for beside the pool; what was not, is empty."""

    decisions: Sequence[DecisionRow] = ()
    """Who got what lately, the newest first."""
    traces: Sequence[TraceRow] = ()
    """The newest requests, the newest first."""
    topology: Sequence[LinkRow] = ()
    """The links to knowledge nodes, by node, the best on top."""
    more: Mapping[str, object] = field(default_factory=dict)
    """Answers to what only the visible screen asks, by its own names."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """What was asked for in vain, each with the reason in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How the connection to the Proxy is; ages are counted by the reader's clock."""

    name: str
    """The address, or the file that is replayed."""
    interval_s: float
    """As asked for."""
    pace_s: float
    """As it is: longer when the Proxy takes longer to answer."""
    looked_at_s: float | None = None
    """When the last good look came, in monotonic seconds."""
    rtt_ms: float | None = None
    """How long it took."""
    failures: int = 0
    """Looks that failed since."""
    trouble: str | None = None
    """Why, in a sentence."""
    lost_at_s: float | None = None
    """When the first of them failed."""
    retry_at_s: float | None = None
    """When the next is due, in monotonic seconds; None where nobody waits."""

    def phase(self, now_s: float) -> Phase:
        """Return how it is at a monotonic second."""
        if self.failures >= FAILURES_UNTIL_LOST:
            return "lost"
        if self.looked_at_s is None:
            return "connecting"
        late_s = _LATE_LOOKS * max(self.interval_s, 0.5)
        is_slow = self.pace_s > self.interval_s
        return "lagging" if is_slow or now_s - self.looked_at_s > late_s else "live"

    def age_s(self, now_s: float) -> float | None:
        """Return how old what is shown is."""
        return None if self.looked_at_s is None else max(0.0, now_s - self.looked_at_s)

    def retry_in_s(self, now_s: float) -> float | None:
        """Return how long until the next attempt."""
        return None if self.retry_at_s is None else max(0.0, self.retry_at_s - now_s)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A good look, with all that was asked for beside it, kind by kind."""

    look: Look
    """The pool as the source told it."""
    taken: Instant
    """When, by the reader's clock."""
    beside: Beside = Beside()
    rules: Rules = RULES
    before: Look | None = None
    """The good look before it."""
    noted: Sequence[Noted] = ()
    """What is or was out of order: active, then silenced, then past."""
    judged_ago_s: float = 0.0
    """Since `noted` was found: only the ages in it have moved."""
    first_tokens: Mapping[str, FirstToken] = field(default_factory=dict)
    """The time to first token at each Instance, where requests have told it."""
    injections: Injections | None = None
    """What became of knowledge in the last minutes; None where the Proxy does not tell."""
    told: object = field(default_factory=object)
    """A token for what the rows say: the same object as in the look before while only ages have
    moved, so that a table need not read its rows again. It is renewed after some seconds."""
    standings: dict[str, Standing | None] = field(default_factory=dict)
    """Kept by id once worked out, since each goes through the whole pool."""

    def later(self, passed_s: float) -> "Seen":
        """Return the same so many seconds later, when nothing but the time has moved."""
        if passed_s <= 0.0:
            return self
        links = tuple(link.later(passed_s) for link in self.links)
        look = self.look.later(self.look.passed_s + passed_s)
        return replace(self, look=look, beside=replace(self.beside, topology=links))

    @property
    def rows(self) -> Sequence[FleetRow]:
        """The Instances, the least loaded on top."""
        return self.look.instances

    @cached_property
    def row_of(self) -> Mapping[str, FleetRow]:
        """The same, by id."""
        return {row.id: row for row in self.rows}

    @cached_property
    def most_inflight(self) -> int:
        """The most requests that one Instance works on; trends are drawn up to it."""
        return max((row.inflight or 0 for row in self.rows), default=0)

    @property
    def loads(self) -> Sequence[LoadRow]:
        """The load of each Instance."""
        return self.look.loads

    @property
    def queues(self) -> Sequence[LoadRow]:
        """The same, the longest wait on top."""
        return self.look.queues

    @property
    def resources(self) -> Sequence[ResourceRow]:
        """The hosts."""
        return self.look.resources

    @property
    def scores(self) -> Sequence[ScoreRow]:
        """The scores, in the order that least_load prefers."""
        return self.look.scores

    @property
    def decisions(self) -> Sequence[DecisionRow]:
        """Who got what lately, the newest first."""
        return self.beside.decisions

    @property
    def traces(self) -> Sequence[TraceRow]:
        """The newest requests, the newest first."""
        return self.beside.traces

    @property
    def links(self) -> Sequence[LinkRow]:
        """The links to knowledge nodes."""
        return self.beside.topology

    @cached_property
    def alerts(self) -> Sequence[Alert]:
        """What is out of order now and was not silenced, the worst first."""
        return tuple(one.alert for one in self.noted if one.state == "active")

    @cached_property
    def troubled(self) -> frozenset[str]:
        """The Instances that an alert is about, silenced or not."""
        going_on = (one.alert.instance_id for one in self.noted if one.state != "past")
        return frozenset(instance_id for instance_id in going_on if instance_id is not None)

    @cached_property
    def overview(self) -> Overview:
        """The Proxy and its pool at a glance."""
        return self.look.overview(self.rules, self.alerts)

    @cached_property
    def rates(self) -> Rates:
        """What happened since the look before, a second."""
        return rates_of(self.before, self.look)

    def standing(self, instance_id: str) -> Standing | None:
        """Return how one Instance stands in the choice; None where the Proxy does not tell."""
        known = self.standings
        if instance_id not in known:
            known[instance_id] = standing_of(instance_id, self.look)
        return known[instance_id]

    def points(self, instance_id: str) -> Mapping[str, float]:
        """Return the weighted parts of one Instance's score, by signal."""
        return points_of(instance_id, self.look)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All there is to draw, at one revision."""

    rev: int
    """Grows with every look, good or bad."""
    connection: Connection
    look: Seen | None
    """The last good one; None before there was one."""

    @property
    def missing(self) -> Mapping[str, str]:
        """Why a part is not there, by its name; a sentence each."""
        return {} if self.look is None else self.look.beside.missing


class Store:
    """Keeps the last good look, the history and the alerts, and counts looks that failed."""

    def __init__(self, name: str, *, interval_s: float, rules: Rules = RULES) -> None:
        self._rules = rules
        self.history = History()
        self._alerts = AlertLog()
        self._first_tokens = FirstTokens()
        self._injections = RecentInjections()
        self._told: tuple[Look, Mapping[str, FirstToken], object] | None = None
        connection = Connection(name=name, interval_s=interval_s, pace_s=interval_s)
        self._snapshot = Snapshot(rev=0, connection=connection, look=None)

    @property
    def snapshot(self) -> Snapshot:
        """What there is to draw now."""
        return self._snapshot

    def apply(self, look: Look, at: Instant, *, took_s: float, beside: Beside) -> Snapshot:
        """Take a good look."""
        shown = self._snapshot.look
        before = None if shown is None else shown.look
        if before is not None and before.run != look.run:
            self._first_tokens.forget()
        self._first_tokens.hear(beside.traces, now_s=look.at_s)
        self._injections.hear(look)
        told = self._same_as_told(look)
        is_new = told is None
        if told is None:
            told = object()
        seen = Seen(
            look=look,
            told=told,
            taken=at,
            beside=beside,
            rules=self._rules,
            before=before,
            noted=self._noted(look, at) if is_new else self._alerts.noted,
            judged_ago_s=0.0 if is_new or not self._told else look.at_s - self._told[0].at_s,
            first_tokens=self._first_tokens.told,
            injections=self._injections.told,
            standings={} if is_new or shown is None else shown.standings,
        )
        if is_new:
            self._told = (look, self._first_tokens.told, told)
        rates = seen.rates
        connection = self._snapshot.connection
        before_s, pace_s = connection.looked_at_s, connection.pace_s
        if before_s is not None and at.mono_s - before_s > _UNSEEN_LOOKS * pace_s:
            # Nobody looked: it was held, or the console itself stood still.
            self.history.gap(before_s + pace_s)
        self.history.add(
            at.mono_s,
            seen.rows,
            {
                "requests_s": rates.requests_s,
                "failures_s": rates.failures_s,
                "ttft_p50_ms": rates.ttft_p50_ms,
                "ttft_p95_ms": rates.ttft_p95_ms,
                "tokens_s": rates.completion_tokens_s,
            },
            is_same=not is_new,
        )
        connection = replace(
            connection,
            looked_at_s=at.mono_s,
            rtt_ms=took_s * 1000,
            failures=0,
            trouble=None,
            lost_at_s=None,
            retry_at_s=None,
        )
        return self._next(seen, connection)

    def _noted(self, look: Look, at: Instant) -> Sequence[Noted]:
        """Judge a look, and remember what was found before."""
        found = look.alerts(self._rules, self._first_tokens.told)
        when = look.at or instant_of(at.wall_s)
        return self._alerts.noted if when is None else self._alerts.note(found, when)

    def _same_as_told(self, look: Look) -> object | None:
        """Return what stands for the look before if only the time has moved since."""
        if self._told is None:
            return None
        before, first_tokens, told = self._told
        is_same = (
            look.snapshot is before.snapshot
            and first_tokens is self._first_tokens.told
            and 0.0 <= look.at_s - before.at_s < SAME_FOR_S
            and not _anyone_rests(look)
        )
        return told if is_same else None

    def silence(self, key: AlertKey) -> bool:
        """Stop counting an alert until it ends; returns whether it was active."""
        return self._alerts.silence(key) and self._renote()

    def unsilence(self, key: AlertKey) -> bool:
        """Count an alert again; returns whether it was silenced."""
        return self._alerts.unsilence(key) and self._renote()

    def _renote(self) -> bool:
        seen = self._snapshot.look
        if seen is not None:
            self._next(replace(seen, noted=self._alerts.noted), self._snapshot.connection)
        return True

    def failed(self, why: str, at: Instant, *, retry_at_s: float) -> Snapshot:
        """Take that a look has failed; what was seen before stays."""
        connection = self._snapshot.connection
        self.history.gap(at.mono_s)
        return self._next(
            self._snapshot.look,
            replace(
                connection,
                failures=connection.failures + 1,
                trouble=why,
                lost_at_s=at.mono_s if connection.lost_at_s is None else connection.lost_at_s,
                retry_at_s=retry_at_s,
            ),
        )

    def reached(self) -> Snapshot:
        """Take that the Proxy is there again, although nobody has looked at its pool."""
        connection = self._snapshot.connection
        return self._next(
            self._snapshot.look,
            replace(connection, failures=0, trouble=None, lost_at_s=None, retry_at_s=None),
        )

    def paced(self, *, interval_s: float, pace_s: float) -> Snapshot:
        """Take how often is looked from now on."""
        connection = replace(self._snapshot.connection, interval_s=interval_s, pace_s=pace_s)
        return self._next(self._snapshot.look, connection)

    def _next(self, look: Seen | None, connection: Connection) -> Snapshot:
        rev = self._snapshot.rev + 1
        self._snapshot = Snapshot(rev=rev, connection=connection, look=look)
        return self._snapshot


def _anyone_rests(look: Look) -> bool:
    """Whether an ejected Instance will be back in the choice by the passing of time alone."""
    rests_s = look.snapshot.instances.ejected_for_s
    return any(rests_s) if isinstance(rests_s, list) else bool(rests_s)
