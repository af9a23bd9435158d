"""What the control plane needs from whoever owns the state, and from the settings.

Every change goes through a method of the owner, so that saving, logging and routing's
index hear of it; reading goes straight to the pool and the topology. All of it is
synchronous.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from cacheroute.core.clock import Clock, Instant
from cacheroute.core.dispatch.links import Links
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.health.nodes import Nodes
from cacheroute.core.instance import Instance
from cacheroute.core.pool import Pool
from cacheroute.core.pool_member import Member
from cacheroute.core.pool_outcomes import Heartbeat, Refusal, Registration, Report
from cacheroute.core.predict.coefficients import Coefficients
from cacheroute.core.predict.correction import Corrections
from cacheroute.core.predict.errors import PredictionErrors
from cacheroute.core.resources import Resource
from cacheroute.core.routing.decision import Decisions
from cacheroute.core.routing.weights import Weights
from cacheroute.core.scheduler_state import SchedulerState
from cacheroute.core.tally import Tally
from cacheroute.core.topology import Link, Topology
from cacheroute.planes.traces import Traces


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRules:
    """What the settings say about the control plane."""

    token: str | None = field(default=None, repr=False)
    """The bearer token that every call but health must carry; None asks nobody."""
    body_bytes: int = 1024 * 1024
    """Largest body; more is 413."""
    snapshot_bytes: int = 64 * 1024
    """Largest body with a resource snapshot; more is 413."""
    max_links: int = 1_000
    """Most links in one topology report; more is 422."""
    body_timeout_s: float = 30.0
    """Longest time for a body to arrive; longer is 408."""
    connections: int = 4096
    """Most clients at once; one more is 503."""
    own_hosts: frozenset[str] = frozenset()
    """Hosts of this Proxy besides loopback: what it binds and what it advertises."""
    own_ports: frozenset[int] = frozenset()
    """Bound ports of this Proxy; an Instance there would send requests round in circles."""


class Named(Protocol):
    """Whatever has a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


class Learned(Protocol):
    """What was learned about one Instance."""

    @property
    def errors(self) -> PredictionErrors:
        """How wrong the predicted times to first token were."""
        ...

    @property
    def corrections(self) -> Corrections:
        """Observed over predicted."""
        ...

    @property
    def answer_tokens(self) -> float:
        """How long its answers are taken to be."""
        ...


class Predictions(Protocol):
    """What is predicted of the Instances, and how well; to be read only."""

    @property
    def coefficients(self) -> Coefficients:
        """The speed of the fleet."""
        ...

    @property
    def errors(self) -> PredictionErrors:
        """How wrong the predicted times to first token were, over all Instances."""
        ...

    def known(self) -> Iterator[tuple[Member, Learned]]:
        """Iterate over the Instances that something was predicted of."""
        ...


class ControlOwner(Protocol):
    """The owner of the state, as far as the control plane knows it."""

    @property
    def proxy_id(self) -> str:
        """This Proxy's name."""
        ...

    @property
    def clock(self) -> Clock:
        """Who tells the time."""
        ...

    @property
    def started(self) -> Instant:
        """When it started."""
        ...

    @property
    def draining(self) -> bool:
        """Whether it is shutting down and takes no new work."""
        ...

    @property
    def pool(self) -> Pool:
        """The Instances; to be read only."""
        ...

    @property
    def topology(self) -> Topology:
        """The links; to be read only."""
        ...

    @property
    def strategy(self) -> Named:
        """The strategy that routes."""
        ...

    @property
    def weights(self) -> Weights:
        """What least_load weighs with."""
        ...

    @property
    def capacity(self) -> int:
        """Requests at once that count as a full pool; 0 is not known."""
        ...

    @property
    def decisions(self) -> Decisions:
        """The last decisions."""
        ...

    @property
    def scheduler_state(self) -> SchedulerState:
        """How this Proxy stands with its Scheduler."""
        ...

    @property
    def predictions(self) -> Predictions:
        """What is predicted of the Instances, and how well; to be read only."""
        ...

    @property
    def queue_rules(self) -> QueueRules:
        """How many requests wait, are prepared and run before one Instance, and who goes first."""
        ...

    @property
    def injection_strategy(self) -> str:
        """Who chooses between text and KV."""
        ...

    @property
    def links(self) -> Links:
        """The transfers of KV that are under way; to be read only."""
        ...

    @property
    def nodes(self) -> Nodes:
        """How knowledge nodes answered; to be read only."""
        ...

    @property
    def traces(self) -> Traces:
        """The last requests and how they went."""
        ...

    @property
    def tallies(self) -> Mapping[Member, Tally]:
        """The counters of each Instance that was used; to be read only."""
        ...

    @property
    def elsewhere(self) -> tuple[Tally, ...]:
        """Counters of requests that reached nobody, or somebody who has left."""
        ...

    @property
    def knowledge_paths(self) -> Mapping[str, int]:
        """How knowledge reached the Instances, or why it did not: requests by path."""
        ...

    def register(self, instance: Instance) -> Registration | Refusal:
        """Take an Instance into the pool and remember it across restarts."""
        ...

    def unregister(self, instance_id: str) -> bool:
        """Let a registered Instance and its links go; False for an unknown or a static id."""
        ...

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
        ...

    def report_resource(self, instance_id: str, resource: Resource) -> Report:
        """Keep a resource snapshot."""
        ...

    def report_topology(self, instance_id: str, links: Mapping[str, Link]) -> str | None:
        """Replace the links of a registered Instance; None, or why that was refused."""
        ...
