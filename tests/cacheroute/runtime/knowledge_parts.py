"""Requests with knowledge on their way to Instances that are never called, on a still clock."""

from dataclasses import replace
from typing import Any

from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.injection.rules import InjectionRules
from cacheroute.core.instance import Instance
from cacheroute.core.request import RouteRequest
from cacheroute.core.topology import Link, Topology
from cacheroute.dataplane.turns import Turns
from cacheroute.runtime.deciding import Decider
from cacheroute.runtime.passage import Passage
from cacheroute.runtime.proxy import Proxy
from cacheroute.runtime.story import Story
from tests.cacheroute.core.injection.injection_builders import a_task
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.core.routing.routing_builders import a_request
from tests.cacheroute.runtime.runtime_parts import HandClock, a_proxy, placed

KDN = "10.0.0.7:9101"


def a_forwarded_request(clock: HandClock, *, plain: bool = False, **task: Any) -> RouteRequest:
    """A request that a Scheduler has forwarded, or a plain client's."""
    wanted = a_task(**({"kdn_address": KDN} | task))
    return replace(
        a_request(),
        caller="native" if plain else "scheduler",
        stream=wanted.stream,
        task=None if plain else wanted,
        arrived_mono_s=clock.mono_s,
        arrived_wall_s=clock.wall_s,
    )


class Way:
    """A Proxy, and requests that are taken through its rooms by hand."""

    def __init__(
        self,
        *fleet: Instance,
        strategy: str = "iws",
        queue_rules: QueueRules | None = None,
        **rules: Any,
    ) -> None:
        self.proxy: Proxy
        self.clock: HandClock
        self.proxy, self.clock = a_proxy(*(fleet or (an_instance("i-1"),)), queue_rules=queue_rules)
        self.topology = Topology()
        self.decider = Decider(
            self.proxy, self.topology, InjectionRules(strategy=strategy, **rules)
        )

    def measured(self, bandwidth_mbps: float = 1000.0, latency_ms: float = 2.0) -> None:
        """Let the Instance have reported its way to the node."""
        link = Link(bandwidth_mbps=bandwidth_mbps, latency_ms=latency_ms)
        assert self.topology.report("i-1", {KDN: link}, self.clock.now()) is None

    def at_a_node_that_does_two_things_at_once(self) -> None:
        """Let lookups have been answered beside transfers, and never after them."""
        for _ in range(20):
            self.proxy.forecasts.saw_lookup(KDN, waited_ms=0, transfer_ms=1000)

    def passage(self, **task: Any) -> Passage:
        """Choose an Instance for a request; nothing is decided yet."""
        request = a_forwarded_request(self.clock, **task)
        placement = placed(self.proxy, request)
        return Passage(
            request=request,
            story=Story(request),
            member=placement.member,
            placed_mono_s=placement.placed_mono_s,
            turnstiles=self.proxy.turnstiles,
            forecasts=self.proxy.forecasts,
            mono_s=self.proxy.mono_s,
        )

    def decided(self, **task: Any) -> Passage:
        """Choose an Instance, and text or KV."""
        passage = self.passage(**task)
        assert passage.task is not None
        self.decider.decide(passage.task, passage)
        return passage

    def forecast(self, passage: Passage, tokens: int = 1024) -> None:
        """Say what a request costs, as if its knowledge had been brought in as text."""
        assert passage.task is not None
        passage.forecast = self.proxy.forecasts.service(
            passage.member, passage.task, mode="text", knowledge_tokens=tokens
        )

    @property
    def is_clean(self) -> bool:
        """Whether nothing at all is held anywhere."""
        turnstiles = self.proxy.turnstiles
        return not len(turnstiles.links) and not any(
            len(gate.upcoming) or any(gate.board.pressure(self.clock.mono_s).as_mapping().values())
            for gate in turnstiles._gates.values()
        )


class Waiter:
    """A wait of a passage, run by hand as a request is."""

    def __init__(self, wait: Any) -> None:
        self.error: BaseException | None = None
        self.turns = Turns(wait, self._ended)
        self.turns.resume()

    def _ended(self, error: BaseException) -> None:
        self.error = error

    @property
    def is_over(self) -> bool:
        """Whether it waits no longer."""
        return self.turns.done
