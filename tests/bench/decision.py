"""What choosing an Instance costs, in this process, over routing's own code and nothing else."""

import statistics
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from cacheroute.core.clock import Instant
from cacheroute.core.pool import Pool
from cacheroute.core.pool_member import Lease
from cacheroute.core.routing.plan import Router
from cacheroute.core.routing.registry import find
from cacheroute.core.routing.selection import Chosen
from cacheroute.core.routing.weights import Weights
from cacheroute.core.rules import PoolRules
from tests.bench.fleet import Fleet, State, a_request, alive, an_instance, is_resting

_INFLIGHT_PER_INSTANCE = 4
"""Requests that stay open, so that costs differ as they do in a busy pool."""
_REPEATS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCost:
    """CPU time of one decision."""

    strategy: str
    instances: int
    select_us: float
    """To choose one."""
    turnover_us: float
    """To choose one, lease it, give another lease back, and keep the index right."""
    rebuild_us: float
    """To choose one right after the pool has changed, when the list is made anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCost:
    """What `least_load` takes in one state of a fleet."""

    state: State
    instances: int
    decision_us: float
    """CPU time to choose one and to hear of every change of load until the next choice."""
    weighed: float
    """How many boards are weighed for it, on average; a count, the same on every machine."""


class _Bench:
    """A pool of one size under one strategy, with requests open on it."""

    def __init__(self, strategy: str, instances: int) -> None:
        row = find(strategy)
        assert row is not None
        self._strategy = row.build(Weights())
        self._router = Router(self._strategy)
        self._pool = Pool(PoolRules(max_instances=max(1, instances)))
        for number in range(instances):
            self._pool.register(an_instance(number), Instant(0.0, 0.0))
        self._asked = a_request()
        self._open: deque[Lease] = deque()
        for _ in range(instances * _INFLIGHT_PER_INSTANCE):
            self._lease()

    def select(self) -> Chosen:
        """Choose."""
        chosen = self._router.plan(
            self._asked, self._pool.members, self._pool.version, 0.0, alive, is_resting
        )
        assert isinstance(chosen, Chosen)
        return chosen

    def turn_over(self) -> None:
        """Choose and lease, and give back the oldest lease."""
        self._lease()
        lease = self._open.popleft()
        lease.release()
        self._strategy.on_change(lease.member)

    def rebuild(self) -> None:
        """Choose after a change."""
        self._pool.version += 1
        self.select()

    def _lease(self) -> None:
        lease = Lease(self.select().member)
        self._strategy.on_change(lease.member)
        self._open.append(lease)


def _cpu_us(act: Callable[[], object], times: int) -> float:
    """Return the median CPU time of an act over a few repeats, in microseconds."""
    taken = []
    for _ in range(_REPEATS):
        began_ns = time.process_time_ns()
        for _ in range(times):
            act()
        taken.append((time.process_time_ns() - began_ns) / times / 1000)
    return statistics.median(taken)


def cost(strategy: str, instances: int, times: int = 4_000) -> DecisionCost:
    """Measure one strategy over one pool."""
    bench = _Bench(strategy, instances)
    return DecisionCost(
        strategy=strategy,
        instances=instances,
        select_us=_cpu_us(bench.select, times),
        turnover_us=_cpu_us(bench.turn_over, times),
        rebuild_us=_cpu_us(bench.rebuild, max(1, times // 100)),
    )


def state_cost(state: State, instances: int, times: int = 4_000) -> StateCost:
    """Measure `least_load` over one fleet; the clock's own time is taken off."""
    taken = []
    for _ in range(_REPEATS):
        fleet = Fleet(instances, state)
        fleet.choose()  # the first one makes the list
        tick_us = _cpu_us(time.process_time_ns, 1_000)
        weighed = fleet.weighed
        spent_ns = 0
        for _ in range(times):
            began_ns = time.process_time_ns()
            chosen = fleet.choose()
            spent_ns += time.process_time_ns() - began_ns
            changed = fleet.go_on(chosen)
            began_ns = time.process_time_ns()
            fleet.tell(changed)
            spent_ns += time.process_time_ns() - began_ns
        taken.append(spent_ns / times / 1000 - 2 * tick_us)
    return StateCost(
        state=state,
        instances=instances,
        decision_us=max(0.0, statistics.median(taken)),
        weighed=(fleet.weighed - weighed) / times,
    )
