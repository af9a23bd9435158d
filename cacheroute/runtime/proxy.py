"""The one owner of state: pool, routing, queues, predictions, rests, counters.

Every method is synchronous, and on one event loop a method without `await` is a
transaction: there are no locks, and two service workers would break that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from cacheroute.core.clock import Clock
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.health.ejection import Ejections
from cacheroute.core.health.nodes import Nodes
from cacheroute.core.pool import Pool
from cacheroute.core.pool_member import Lease, Member
from cacheroute.core.predict.coefficients import PUBLISHED, Coefficients
from cacheroute.core.routing.decision import Decisions
from cacheroute.core.routing.filters import sift
from cacheroute.core.routing.plan import Router
from cacheroute.core.routing.selection import Chosen, Hold, NoInstance
from cacheroute.core.tally import Tally
from cacheroute.runtime.forecasts import Forecasts
from cacheroute.runtime.traces import Traces
from cacheroute.runtime.turnstiles import Turnstiles

if TYPE_CHECKING:
    from cacheroute.core.request import RouteRequest
    from cacheroute.core.routing.strategies import Strategy

log = logging.getLogger("cacheroute.pool")

_QUEUES = QueueRules()


class Placement(Lease):
    """A request's place on an Instance: a lease, and when it was taken."""

    __slots__ = ("placed_mono_s",)

    def __init__(self, member: Member, placed_mono_s: float) -> None:
        Lease.__init__(self, member)
        self.placed_mono_s = placed_mono_s


class Proxy:
    """What the Proxy knows and decides."""

    def __init__(
        self,
        *,
        proxy_id: str,
        clock: Clock,
        pool: Pool,
        strategy: Strategy,
        ejections: Ejections,
        mono_s: Callable[[], float],
        queues: QueueRules = _QUEUES,
        coefficients: Coefficients = PUBLISHED,
        header_tokens: int = 0,
    ) -> None:
        self.proxy_id = proxy_id
        self.clock = clock
        self.mono_s = mono_s
        """The clock's monotonic half alone, which is all that a request needs."""
        self.pool = pool
        self.strategy = strategy
        self.ejections = ejections
        self.nodes = Nodes()
        """How knowledge nodes answered."""
        self.decisions = Decisions()
        self.traces = Traces()
        """The last requests and how they went."""
        self.nowhere = Tally()
        """Counters of requests that reached no Instance."""
        self.departed = Tally()
        """Counters of Instances that have left, and of what ends on them after that."""
        self.leaving = False
        """Whether this Proxy is about to shut down: not ready, though it still takes work."""
        self.draining = False
        """Whether this Proxy is shutting down and takes no new work."""
        self._max_queue = queues.max_queue
        self._router = Router(strategy, waits_at_caps=queues.wait_at_cap)
        self.turnstiles = Turnstiles(queues, strategy.on_change, self.has_another)
        """Who waits before which Instance."""
        self.forecasts = Forecasts(coefficients, header_tokens)
        """What is predicted of each Instance."""
        self.tallies: dict[Member, Tally] = {}

    # Room 2: Place

    def place(
        self,
        request: RouteRequest,
        excluded: Collection[Member] = (),
        attempt: int = 1,
    ) -> Placement | NoInstance:
        """Select an Instance and lease it: one step, so that a burst spreads."""
        now_mono_s = self.mono_s()
        pool = self.pool
        if now_mono_s > pool.next_expiry_mono_s:
            self.expire()
        if now_mono_s >= self.ejections.next_return_mono_s and self.ejections.due(now_mono_s):
            pool.version += 1
        selection = self._router.plan(
            request,
            pool.members,
            pool.version,
            now_mono_s,
            self._liveness,
            Ejections.is_resting,
            excluded,
        )
        if type(selection) is Chosen:
            member = selection.member
            placement = Placement(member, now_mono_s)
            self.strategy.on_change(member)
            if member.rest is not None and self.ejections.on_dispatch(member):
                pool.version += 1
            self.decisions.add(request, attempt, self.strategy.name, selection, None)
            return placement
        nobody = _as_nobody(selection)
        self.decisions.add(request, attempt, self.strategy.name, None, nobody.reason)
        return nobody

    def release(self, placement: Placement) -> None:
        """Give a place back; a second call does nothing."""
        if placement.held:
            placement.release()
            self.strategy.on_change(placement.member)

    def has_another(self, request: RouteRequest, excluded: Collection[Member]) -> bool:
        """Whether a request that waits would surely be taken elsewhere than at these.

        Whoever might be chosen has to have room to wait in: nobody is moved to be refused.
        """
        sifted = sift(
            self.pool.members.values(),
            endpoint=request.endpoint,
            model=request.model,
            liveness=self._liveness,
            is_resting=Ejections.is_resting,
        )
        others = [member for member in sifted.kept if member not in excluded]
        return bool(others) and not sifted.rested and all(map(self._takes_one_more, others))

    def _takes_one_more(self, member: Member) -> bool:
        queues = member.queues
        if queues is None:
            return True
        return not queues.is_full and queues.prepare_queue_depth < self._max_queue

    # What the operator wants

    def use(self, strategy: Strategy) -> None:
        """Route by another strategy from the next request on; what runs stays where it is."""
        self.strategy = strategy
        self._router.use(strategy, self.pool.members)
        self.turnstiles.on_change = strategy.on_change

    # What requests saw of an Instance

    def succeeded(self, member: Member) -> None:
        """A good, whole answer."""
        if member.rest is not None and self.ejections.on_success(member):
            self.pool.version += 1
            log.info("instance.back instance_id=%s", member.instance.instance_id)

    def failed(self, member: Member, why: str) -> None:
        """A failure that speaks against the Instance."""
        if self.ejections.on_failure(member, self.mono_s()):
            self.pool.version += 1
            log.warning(
                "instance.rests instance_id=%s seconds=%.3g reason=%s",
                member.instance.instance_id,
                member.ejected_until_mono_s - self.mono_s(),
                why,
            )

    def pressed(self, member: Member, wait_s: float | None) -> None:
        """It asked for a pause."""
        if self.ejections.on_hint(member, wait_s, self.mono_s()):
            self.pool.version += 1

    def unjudged(self, member: Member) -> None:
        """A request ended and says nothing about the Instance."""
        if member.rest is not None and self.ejections.on_neutral(member):
            self.pool.version += 1

    def tally(self, member: Member | None) -> Tally:
        """Return the counters of an Instance, of all that have left, or of who reached none."""
        if member is None:
            return self.nowhere
        tally = self.tallies.get(member)
        if tally is None:
            if self._has_left(member):
                return self.departed  # one of its own would be kept for ever
            tally = self.tallies[member] = Tally()
        return tally

    def through_with(self, member: Member) -> None:
        """A request has no more to do with an Instance: what one taught that has left is dropped.

        What runs on it when it leaves is still learned from, and nobody else would forget that.
        """
        if self._has_left(member):
            self.forecasts.forget(member)

    def is_gone(self, member: Member) -> bool:
        """Whether an Instance has left, or has fallen silent, since it was chosen."""
        return self._has_left(member) or self._liveness(member) != "alive"

    # The passing of time

    def expire(self) -> None:
        """Take note of Instances that have fallen silent."""
        for member in self.pool.expire(self.clock.now()):
            log.warning("instance.expired instance_id=%s", member.instance.instance_id)
            self.turnstiles.silent(member)

    def forget(self, member: Member) -> None:
        """An Instance has left the pool."""
        self.ejections.forget(member)
        tally = self.tallies.pop(member, None)
        if tally is not None:
            self.departed.absorb(tally)
        self.turnstiles.forget(member)
        self.forecasts.forget(member)

    def _has_left(self, member: Member) -> bool:
        return self.pool.members.get(member.instance.instance_id) is not member

    def _liveness(self, member: Member) -> str:
        return self.pool.liveness(member, self.clock.now())


def _as_nobody(selection: NoInstance | Hold | Chosen) -> NoInstance:
    if isinstance(selection, NoInstance):
        return selection
    if isinstance(selection, Hold):
        return NoInstance(reason=selection.reason)
    raise AssertionError(selection)
