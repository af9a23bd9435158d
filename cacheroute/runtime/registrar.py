"""What Instances tell the Proxy, and everybody who has to hear of it.

The control plane calls these methods, each a whole transaction. Saving, logging, probing
and the way to an Instance follow from here, so no caller can forget one of them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cacheroute.core.clock import Instant
from cacheroute.core.pool_outcomes import Heartbeat, Refusal, Registration, Report
from cacheroute.core.scheduler_state import SchedulerState
from cacheroute.runtime.keeping import Keeping
from cacheroute.runtime.sparing import SparingLog
from cacheroute.stores.base import SavedLinks

if TYPE_CHECKING:
    from cacheroute.core.clock import Clock
    from cacheroute.core.dispatch.links import Links
    from cacheroute.core.dispatch.rules import QueueRules
    from cacheroute.core.health.nodes import Nodes
    from cacheroute.core.instance import Instance
    from cacheroute.core.pool import Pool
    from cacheroute.core.pool_member import Member
    from cacheroute.core.resources import Resource
    from cacheroute.core.routing.decision import Decisions
    from cacheroute.core.routing.strategies import Strategy
    from cacheroute.core.routing.weights import Weights
    from cacheroute.core.tally import Tally
    from cacheroute.core.topology import Link, Topology
    from cacheroute.runtime.forecasts import Forecasts
    from cacheroute.runtime.probing import Prober
    from cacheroute.runtime.proxy import Proxy
    from cacheroute.runtime.scheduling import Scheduling
    from cacheroute.runtime.traces import Traces
    from cacheroute.stores.base import RegistryStore
    from cacheroute.upstream.instance import Instances

log = logging.getLogger("cacheroute.pool")


class Registrar:
    """The half of the owner that hears from Instances."""

    def __init__(
        self,
        *,
        proxy: Proxy,
        topology: Topology,
        store: RegistryStore,
        prober: Prober,
        instances: Instances,
        weights: Weights,
        capacity: int,
        started: Instant,
        scheduling: Scheduling | None = None,
        injection_strategy: str = "default",
    ) -> None:
        self._proxy = proxy
        self._keeping = Keeping(store)
        self._strangers = SparingLog(log, proxy.mono_s)
        self._prober = prober
        self._instances = instances
        self._scheduling = scheduling
        self.capacity = capacity
        """Requests at once that count as a full pool; 0 is not known."""
        self.started = started
        """When this Proxy started."""
        self.weights = weights
        """What least_load weighs with."""
        self.injection_strategy = injection_strategy
        """Who chooses between text and KV."""
        self.topology = topology
        """The links."""

    # To be read

    @property
    def pool(self) -> Pool:
        """The Instances."""
        return self._proxy.pool

    @property
    def proxy_id(self) -> str:
        """This Proxy's name."""
        return self._proxy.proxy_id

    @property
    def clock(self) -> Clock:
        """Who tells the time."""
        return self._proxy.clock

    @property
    def strategy(self) -> Strategy:
        """The strategy that routes."""
        return self._proxy.strategy

    @property
    def draining(self) -> bool:
        """Whether this Proxy is shutting down, or about to."""
        return self._proxy.draining or self._proxy.leaving

    @property
    def decisions(self) -> Decisions:
        """The last decisions."""
        return self._proxy.decisions

    @property
    def scheduler_state(self) -> SchedulerState:
        """How this Proxy stands with its Scheduler."""
        if self._scheduling is None:
            return SchedulerState(since=self.started)
        return self._scheduling.state

    @property
    def predictions(self) -> Forecasts:
        """What is predicted of each Instance, and how well."""
        return self._proxy.forecasts

    @property
    def queue_rules(self) -> QueueRules:
        """How many requests wait, are prepared and run before one Instance, and who goes first."""
        return self._proxy.turnstiles.rules

    @property
    def links(self) -> Links:
        """The transfers of KV that are under way."""
        return self._proxy.turnstiles.links

    @property
    def nodes(self) -> Nodes:
        """How knowledge nodes answered."""
        return self._proxy.nodes

    @property
    def traces(self) -> Traces:
        """The last requests and how they went."""
        return self._proxy.traces

    @property
    def tallies(self) -> Mapping[Member, Tally]:
        """The counters of each Instance that was used."""
        return self._proxy.tallies

    @property
    def elsewhere(self) -> tuple[Tally, ...]:
        """Counters of requests that reached nobody, or somebody who has left."""
        return (self._proxy.nowhere, self._proxy.departed)

    @property
    def knowledge_paths(self) -> dict[str, int]:
        """How knowledge reached those that are here, or why it did not: requests by path."""
        paths: Counter[str] = Counter()
        for tally in self._proxy.tallies.values():
            paths.update(tally.paths)
        return dict(paths)

    # Coming and going

    def add_static(self, instance: Instance) -> None:
        """Take in an Instance that the settings name."""
        outcome = self.pool.register(instance, self.clock.now())
        if isinstance(outcome, Registration):
            self._prober.ask_soon(outcome.member)

    def restore(self) -> None:
        """Take back the Instances of before a restart, and the links that they measured."""
        loaded = self._keeping.load()
        restored = 0
        for instance in loaded.instances:
            outcome = self.pool.restore(instance, self.clock.now())
            if isinstance(outcome, Registration):
                restored += outcome.created
                self._prober.ask_soon(outcome.member)
                report = loaded.links.get(instance.instance_id)
                if report is not None and outcome.created:
                    self._restore_links(instance.instance_id, report)
            else:
                self._keeping.remove(instance.instance_id)
        if restored:
            log.info("registry.restored instances=%d", restored)

    def register(self, instance: Instance) -> Registration | Refusal:
        """Take an Instance into the pool and remember it across restarts."""
        known = self.pool.members.get(instance.instance_id)
        before = None if known is None else known.instance.address
        outcome = self.pool.register(instance, self.clock.now())
        if isinstance(outcome, Refusal):
            self._strangers.warning(
                "instance.refused instance_id=%s code=%s", instance.instance_id, outcome.code
            )
            return outcome
        for gone in outcome.gone:
            self._forget(gone, "replaced")
        member = outcome.member
        if before not in (None, member.instance.address):
            self.topology.drop(instance.instance_id)  # measured from where it no longer is
            self._keeping.save_links(member.instance, {}, 0.0)
        if outcome.created or outcome.changed:
            self._keeping.save(member.instance)
            self._prober.ask_soon(member)
            self._proxy.strategy.on_change(member)
        if outcome.created:
            log.info(
                "instance.registered instance_id=%s address=%s",
                member.instance.instance_id,
                member.instance.authority,
            )
        return outcome

    def unregister(self, instance_id: str) -> bool:
        """Let a registered Instance and its links go."""
        member = self.pool.unregister(instance_id)
        if member is None:
            return False
        self._forget(member, "unregistered")
        return True

    def reap(self) -> None:
        """Forget Instances that have been silent for too long, and see that the rest is kept."""
        self._proxy.expire()
        for member in self.pool.reap(self.clock.now()):
            self._forget(member, "reaped")
        self.keep_owed()

    def keep_owed(self) -> None:
        """Write what the store could not take when it happened."""
        self._keeping.catch_up(self._as_kept)

    # Signs of life

    def heartbeat(
        self,
        instance_id: str,
        *,
        qps_1m: float | None,
        gpu_util: float | None,
        capabilities: Mapping[str, object] | None,
        reported_fingerprint: str | None,
    ) -> Heartbeat:
        """Note a heartbeat."""
        outcome = self.pool.heartbeat(
            instance_id,
            self.clock.now(),
            qps_1m=qps_1m,
            gpu_util=gpu_util,
            capabilities=capabilities,
            reported_fingerprint=reported_fingerprint,
        )
        if outcome.member is not None:
            self._proxy.strategy.on_change(outcome.member)
            if outcome.changed:
                self._keeping.save(outcome.member.instance)
                self._prober.ask_soon(outcome.member)
        elif outcome.first_sight:
            self._strangers.warning("instance.unknown instance_id=%r call=heartbeat", instance_id)
        return outcome

    def report_resource(self, instance_id: str, resource: Resource) -> Report:
        """Keep a resource snapshot."""
        report = self.pool.report_resource(instance_id, resource, self.clock.now())
        if report.first_report:
            log.info("instance.first_snapshot instance_id=%s", instance_id)
        elif report.first_sight:
            self._strangers.warning(
                "instance.unknown instance_id=%r call=resource_snapshot", instance_id
            )
        else:
            log.debug("instance.snapshot instance_id=%r", instance_id)
        return report

    def report_topology(self, instance_id: str, links: Mapping[str, Link]) -> str | None:
        """Replace the links of a registered Instance; None, or why that was refused."""
        member = self.pool.members.get(instance_id)
        if member is None:
            if self.pool.unknown.saw(instance_id):
                self._strangers.warning(
                    "instance.unknown instance_id=%r call=topology", instance_id
                )
            return f"{instance_id!r} is not registered; register it before it reports links."
        now = self.clock.now()
        is_news = links != self.topology.links_of(instance_id)
        refused = self.topology.report(instance_id, links, now)
        if refused is None and is_news:
            self._keeping.save_links(member.instance, links, now.wall_s)
        return refused

    # Within

    def _as_kept(self, instance_id: str) -> tuple[Instance, SavedLinks | None] | None:
        member = self.pool.members.get(instance_id)
        if member is None or member.instance.origin == "static":
            return None
        report = self.topology.reports.get(instance_id)
        if report is None:
            return member.instance, None
        return member.instance, SavedLinks(links=report.links, reported_wall_s=report.at.wall_s)

    def _restore_links(self, instance_id: str, report: SavedLinks) -> None:
        now = self.clock.now()
        age_s = max(0.0, now.wall_s - report.reported_wall_s)
        came = Instant(mono_s=now.mono_s - age_s, wall_s=report.reported_wall_s)
        refused = self.topology.report(instance_id, report.links, came)
        if refused is not None:
            log.warning("registry.links_left_out instance_id=%s reason=%s", instance_id, refused)

    def _forget(self, member: Member, why: str) -> None:
        instance_id = member.instance.instance_id
        log.info("instance.gone instance_id=%s reason=%s", instance_id, why)
        if instance_id not in self.pool.members:
            self._keeping.remove(instance_id)
            self.topology.drop(instance_id)
        self._prober.forget(member)
        if instance_id not in self.pool.members:
            self._instances.forget(member.instance)
        self._proxy.forget(member)
