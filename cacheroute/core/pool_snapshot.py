"""The pool at one instant, frozen: what consoles, debug pages and strategies may keep.

Costs about 1.8 us per Instance with its queues, so it is for cold paths; a request reads Members.
"""

from dataclasses import dataclass

import msgspec

from cacheroute.core.clock import Instant
from cacheroute.core.instance import Instance
from cacheroute.core.orders import Orders
from cacheroute.core.pool_outcomes import Liveness
from cacheroute.core.pressure import Pressure
from cacheroute.core.resources import Resource


# One for each of a thousand Instances, every second; a frozen dataclass takes five times as long.
class InstanceView(msgspec.Struct, frozen=True, kw_only=True):
    """One Member at the instant of its snapshot."""

    instance: Instance
    liveness: Liveness
    inflight: int
    """Requests on it."""
    age_s: float
    """How long it has been silent, on the monotonic clock; never negative."""
    qps_1m: float | None
    """Requests a second it reported; None when it never did."""
    gpu_util: float | None
    """GPU use it reported in a heartbeat, in percent; None when it never did."""
    resource: Resource | None
    """Its last resource snapshot; None when it never sent one."""
    models: frozenset[str] | None
    """Models it declared or listed; None when unknown."""
    draining: bool
    """Whether it takes no new requests."""
    weight: float
    """Its share against others: its own, or what the operator has ordered."""
    orders: Orders
    """What the operator has ordered of it."""
    ejected_for_s: float
    """How much longer health keeps it out; 0 when it does not."""
    unanswered_s: float | None = None
    """How long nothing was answered while requests wait; None while none waits for long."""
    pressure: Pressure | None = None
    """What waits and runs for it at that instant; None where nothing is queued."""

    @property
    def is_alive(self) -> bool:
        """Whether it spoke within the time-to-live, or is static."""
        return self.liveness == "alive"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSnapshot:
    """Every Member at one instant, in order of arrival."""

    version: int
    """The pool's version then; equal versions mean equal sets of routable Instances."""
    taken_at: Instant
    views: tuple[InstanceView, ...]

    @property
    def alive(self) -> tuple[InstanceView, ...]:
        """The views that are alive."""
        return tuple(view for view in self.views if view.is_alive)

    def seen_wall_s(self, view: InstanceView) -> float:
        """When an Instance last spoke, on today's wall clock.

        Counted back from now by its age: the stamp taken at the time would lie in the
        future after the clock was set back.
        """
        return self.taken_at.wall_s - view.age_s
