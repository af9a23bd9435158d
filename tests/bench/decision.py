"""What choosing an Instance costs, in this process, over routing's own code and nothing else."""

import statistics
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from cacheroute.core.clock import Instant
from cacheroute.core.instance import Instance
from cacheroute.core.pool import Pool
from cacheroute.core.pool_member import Lease
from cacheroute.core.request import RouteRequest
from cacheroute.core.routing.plan import Router
from cacheroute.core.routing.registry import find
from cacheroute.core.routing.selection import Chosen
from cacheroute.core.routing.weights import Weights
from cacheroute.core.rules import PoolRules

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


def _request() -> RouteRequest:
    return RouteRequest(
        request_id="bench",
        endpoint="chat/completions",
        path="/v1/chat/completions",
        query=b"",
        method="POST",
        model="m",
        stream=False,
        caller="native",
        body=b"{}",
        arrived_mono_s=0.0,
        arrived_wall_s=0.0,
    )


def _instance(number: int) -> Instance:
    return Instance(
        instance_id=f"i-{number}",
        host=f"10.0.{number // 250}.{number % 250 + 1}",
        port=8000,
        capabilities={"model": {"identifier": "m"}},
        registered_wall_s=0.0,
    )


class _Bench:
    """A pool of one size under one strategy, with requests open on it."""

    def __init__(self, strategy: str, instances: int) -> None:
        row = find(strategy)
        assert row is not None
        self._strategy = row.build(Weights())
        self._router = Router(self._strategy)
        self._pool = Pool(PoolRules(max_instances=max(1, instances)))
        for number in range(instances):
            self._pool.register(_instance(number), Instant(0.0, 0.0))
        self._asked = _request()
        self._open: deque[Lease] = deque()
        for _ in range(instances * _INFLIGHT_PER_INSTANCE):
            self._lease()

    def select(self) -> Chosen:
        """Choose."""
        chosen = self._router.plan(
            self._asked, self._pool.members, self._pool.version, 0.0, _alive, _is_resting
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


def _alive(_: object) -> str:
    return "alive"


def _is_resting(_: object) -> bool:
    return False


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
