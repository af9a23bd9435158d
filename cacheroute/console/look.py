"""One look at a Proxy: everything a console shows of the pool, from one document.

Each kind of row is made when it is first asked for, since a screen shows one of them. What a
row says is what the published endpoints say of the same instant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from cacheroute.console.alerts import Alert, alerts_of
from cacheroute.console.amounts import instant_of
from cacheroute.console.first_tokens import FirstToken
from cacheroute.console.look_rows import fleet_rows, load_rows, resource_rows, score_rows
from cacheroute.console.nodes import Node, nodes_of
from cacheroute.console.overview import Knowledge, Overview, SchedulerLook
from cacheroute.console.queueing import Queueing, queueing_in
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rows.loads import LoadRow
from cacheroute.console.rows.queues import by_wait
from cacheroute.console.rows.resources import ResourceRow
from cacheroute.console.rows.scheduler import SchedulerRow
from cacheroute.console.rows.scores import ScoreRow
from cacheroute.console.rules import RULES, Rules
from cacheroute.wire.console import ConsoleSnapshot, Totals, only


@dataclass(frozen=True, kw_only=True)
class Look:
    """The pool at one instant."""

    snapshot: ConsoleSnapshot
    url: str
    """Whose it is."""
    passed_s: float = 0.0
    """How long ago the document was made: nothing but the time has moved since."""

    @property
    def rev(self) -> int:
        """Moves when anything but the time does."""
        return self.snapshot.rev

    @property
    def run(self) -> str:
        """Another one after the Proxy has started anew: its counters began at 0."""
        return self.snapshot.run

    @property
    def at_s(self) -> float:
        """When, in seconds since the epoch, by the Proxy's clock."""
        return self.snapshot.generated_at + self.passed_s

    @cached_property
    def at(self) -> datetime | None:
        """When, by the Proxy's clock."""
        return instant_of(self.at_s)

    @property
    def totals(self) -> Totals | None:
        """What was counted since the Proxy started; two looks tell a rate."""
        return self.snapshot.totals

    @property
    def uptime_s(self) -> float | None:
        """How long the Proxy had been there; None where it does not tell."""
        return _later(self.snapshot.proxy.uptime_s, self.passed_s)

    def later(self, passed_s: float) -> "Look":
        """Return the same, seen so many seconds after it was made."""
        return replace(self, passed_s=max(0.0, passed_s))

    def only(self, *ids: str) -> "Look":
        """Return the look with these Instances alone, as far as they are in it."""
        return replace(self, snapshot=only(self.snapshot, ids))

    @cached_property
    def instances(self) -> Sequence[FleetRow]:
        """A row for each Instance; alive ones first, the least loaded on top."""
        return fleet_rows(self.snapshot, self.passed_s)

    @cached_property
    def loads(self) -> Sequence[LoadRow]:
        """What each has to do, in the same order."""
        return load_rows(self.snapshot)

    @cached_property
    def queues(self) -> Sequence[LoadRow]:
        """The same, the longest wait on top."""
        return by_wait(self.loads)

    @cached_property
    def queueing(self) -> Queueing:
        """The queues of all that are alive, summed up."""
        return queueing_in(self.snapshot)

    @cached_property
    def resources(self) -> Sequence[ResourceRow]:
        """What each host has left, by id."""
        return resource_rows(self.snapshot, self.passed_s)

    @cached_property
    def scores(self) -> Sequence[ScoreRow]:
        """What least_load makes of each, in the order that it prefers."""
        return score_rows(self.snapshot, self.passed_s)

    @cached_property
    def nodes(self) -> Mapping[str, Node] | None:
        """The knowledge nodes, by `node_name`; None where the Proxy does not tell."""
        return nodes_of(self.snapshot.kdn, self.passed_s)

    @cached_property
    def scheduler(self) -> SchedulerRow | None:
        """How the Proxy stands with its Scheduler; None where it does not tell."""
        side = self.snapshot.scheduler
        if side is None:
            return None
        return SchedulerRow(
            proxy_id=side.proxy_id,
            url=side.url,
            asked="proxy",
            state=side.state,
            state_age_s=_later(side.state_age_s, self.passed_s),
            heard_age_s=_later(side.heard_age_s, self.passed_s),
            registrations=side.registrations,
            heartbeats=side.heartbeats,
            failures=side.failures,
            last_error=side.last_error,
            heartbeat_interval_s=side.heartbeat_interval_s,
            address=None,
            instance_count=None,
            inflight=None,
            qps_1m=None,
        )

    def alerts(
        self, rules: Rules = RULES, first_tokens: Mapping[str, FirstToken] | None = None
    ) -> list[Alert]:
        """Judge the rows, the worst first."""
        return alerts_of(
            self.instances,
            rules=rules,
            ttl_s=self.snapshot.ttl_s,
            now=self.at,
            first_tokens=first_tokens or {},
            nodes=(self.nodes or {}).values(),
        )

    def overview(self, rules: Rules = RULES, alerts: Sequence[Alert] | None = None) -> Overview:
        """Sum it up; `alerts` are those that have been found already."""
        it, pool, rows = self.snapshot, self.snapshot.pool, self.instances
        states = [row.state for row in rows]
        backlogs = [(row.backlog_ms, row.id) for row in rows if row.backlog_ms is not None]
        longest, longest_id = max(backlogs, default=(None, None))
        return Overview(
            proxy_url=self.url,
            proxy_id=it.proxy.proxy_id,
            strategy=it.proxy.strategy,
            version=it.proxy.version,
            uptime_s=self.uptime_s,
            ttl_s=it.ttl_s,
            alive=states.count("alive"),
            stale=states.count("stale"),
            dead=states.count("dead"),
            accepting=pool.accepting,
            degraded=pool.degraded,
            rejecting=pool.rejecting,
            admission_state=pool.admission_state,
            admission_reason=pool.admission_reason,
            inflight=pool.inflight,
            qps_1m=pool.qps_1m,
            prepare_queue_depth=pool.prepare_queue_depth,
            ready_queue_depth=pool.ready_queue_depth,
            queueing=self.queueing,
            queue_rules=it.queue_rules,
            injection_strategy=it.proxy.injection_strategy,
            backlog_max_ms=longest,
            backlog_max_id=longest_id,
            knowledge=self._knowledge(),
            scheduler=self._scheduler_look(),
            draining=it.proxy.draining,
            alerts=tuple(self.alerts(rules) if alerts is None else alerts),
        )

    def _knowledge(self) -> Knowledge | None:
        counts, errors = self.snapshot.knowledge, self.snapshot.prediction_errors
        if counts is None:
            return None
        return Knowledge(
            kv_inject=counts.kv_inject,
            text_inject=counts.text_inject,
            fallback=counts.fallback,
            prediction_error_p50_ratio=None if errors is None else errors.p50_ratio,
            predictions=0 if errors is None else errors.window,
        )

    def _scheduler_look(self) -> SchedulerLook | None:
        row = self.scheduler
        if row is None or row.state == "off":
            return None
        return SchedulerLook(
            url=row.url,
            state=row.state,
            state_age_s=row.state_age_s,
            heard_age_s=row.heard_age_s,
            last_error=row.last_error,
        )


def _later(age_s: float | None, passed_s: float) -> float | None:
    return None if age_s is None else age_s + passed_s
