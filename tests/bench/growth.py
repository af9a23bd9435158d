"""How the costs grow: with Instances, with streams at once, and with requests served."""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from tests.bench import decision, processes, readings, routers
from tests.bench.fleet import STATES
from tests.bench.rounds import Load, sample

EVENTS_PER_S = 3_200
"""Of all streams together, however many: then only their number differs."""
FLAT_MB = 2.0
FLAT_RATIO = 0.01
_SLICES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How far each thing grows."""

    instances: tuple[int, int] = (2, 1_000)
    streams: tuple[int, int] = (10, 2_000)
    requests: int = 1_000_000
    rounds: int = 5
    warm_s: float = 0.5
    window_s: float = 1.5
    compare: bool = True
    """Whether streams are measured on others than the Proxy too."""
    decisions: int = 4_000
    flush_s: float = 0.8
    """Time to write out what waits for the request log, which is not what is looked for."""
    settle_s: float = 6.0
    """Longest wait for idle connections to run out before descriptors are counted."""


QUICK = Sizes(
    instances=(2, 8),
    streams=(4, 32),
    requests=1_600,
    rounds=1,
    decisions=50,
    warm_s=0.1,
    window_s=0.1,
    compare=False,
    settle_s=0.0,
    flush_s=0.0,
)


def last_quarter_mb(memory_mb: Sequence[float]) -> float:
    """Return what the last quarter of equally long slices added, in MB."""
    return memory_mb[-1] - memory_mb[-1 - len(memory_mb) // 4]


def is_flat(memory_mb: Sequence[float]) -> bool:
    """Tell whether memory stood still over the last quarter of equally long slices."""
    return last_quarter_mb(memory_mb) <= max(FLAT_MB, memory_mb[-1] * FLAT_RATIO)


class Growth:
    """The three measurements, over one set of processes that are ended together."""

    def __init__(
        self, sizes: Sizes, home: Path, log: IO[bytes], load: processes.Load, ports: list[int]
    ) -> None:
        self._sizes = sizes
        self._home = home
        self._log = log
        self._load = load
        self._ports = ports
        self._cpus = processes.cpus()

    def instances(self, router: routers.Router) -> dict[str, Any]:
        """Compare the CPU time per request over few and over many Instances."""
        what = Load(
            name="growth", title="", size="2k", connections=32, every_us=None,
            warm_s=self._sizes.warm_s, window_s=self._sizes.window_s,
        )  # fmt: skip
        few, many = self._sizes.instances
        with ExitStack() as stack:
            small = self._running(stack, router, few)
            large = self._running(stack, router, many)
            # The first request to each Instance makes a connection; that is not growth.
            sample(self._load, what, large.port, large.pids, 1.0)
            taken = self._paired(
                lambda: sample(self._load, what, small.port, small.pids, 1.0).cpu_us,
                lambda: sample(self._load, what, large.port, large.pids, 1.0).cpu_us,
            )
            time.sleep(self._sizes.window_s / 5)
            before_s, began_s = readings.cpu_s(large.pids), time.monotonic()
            time.sleep(self._sizes.window_s)
            idle_s = (readings.cpu_s(large.pids) - before_s) / (time.monotonic() - began_s)
            memory_mb = round(readings.memory_mb(large.pids), 1)
        return {
            "few": few,
            "many": many,
            "idle_ratio": round(idle_s, 4),
            "memory_mb": memory_mb,
        } | taken

    def streams(self, router: routers.Router) -> dict[str, Any]:
        """Compare the CPU time per event over few and over many streams at once."""
        few, many = self._sizes.streams

        def of(streams: int) -> Load:
            every_us = streams * 1_000_000 // EVENTS_PER_S
            # A stream's first token is looked at more closely than the others: warm up until
            # each has had it.
            warm_s = self._sizes.warm_s + 1.5 * every_us / 1e6
            return Load(
                name="growth", title="", size="2k", connections=streams, every_us=every_us,
                warm_s=warm_s, window_s=self._sizes.window_s,
            )  # fmt: skip

        with ExitStack() as stack:
            one = self._running(stack, router, 2)
            taken = self._paired(
                lambda: sample(self._load, of(few), one.port, one.pids, 1.0).cpu_us,
                lambda: sample(self._load, of(many), one.port, one.pids, 1.0).cpu_us,
            )
            memory_mb = round(readings.memory_mb(one.pids), 1)
        return {"few": few, "many": many, "memory_mb": memory_mb} | taken

    def requests(self, router: routers.Router, say: Callable[[str], None]) -> dict[str, Any]:
        """Serve many requests in equal slices, and look at memory and CPU time after each."""
        memory_mb, cpu_us = [], []
        with ExitStack() as stack:
            one = self._running(stack, router, 2)
            descriptors = readings.descriptors(one.pid)
            for number in range(_SLICES):
                order = {
                    "port": one.port, "connections": 32, "size": "2k", "every_us": None,
                    "warm_s": 0.1, "window_s": 0.0, "pids": one.pids,
                    "max_requests": self._sizes.requests // _SLICES,
                }  # fmt: skip
                taken = self._load.measure(order)
                cpu_us.append(round(taken["cpu_s"] * 1e6 / taken["answers"], 2))
                time.sleep(self._sizes.flush_s)
                memory_mb.append(round(readings.memory_mb(one.pids), 2))
                say(f"requests, slice {number + 1} of {_SLICES}: {memory_mb[-1]} MB")
            still_open = self._settled_descriptors(one, descriptors)
        return {
            "requests": self._sizes.requests,
            "memory_mb": memory_mb,
            "cpu_us": cpu_us,
            "is_flat": is_flat(memory_mb),
            "descriptors_more": still_open - descriptors,
        }

    def _running(self, stack: ExitStack, router: routers.Router, instances: int) -> routers.Running:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=self._home)))
        home.chmod(0o755)
        return stack.enter_context(
            routers.running(router, self._ports[:instances], self._cpus.router, home, self._log)
        )

    def _paired(self, few: Callable[[], float], many: Callable[[], float]) -> dict[str, Any]:
        pairs = []
        for number in range(self._sizes.rounds):
            if number % 2:
                more = many()
                pairs.append((few(), more))
            else:
                pairs.append((few(), many()))
        ratios = [more / less for less, more in pairs]
        return {
            "few_us": round(statistics.median(less for less, _ in pairs), 2),
            "many_us": round(statistics.median(more for _, more in pairs), 2),
            "ratio": round(statistics.median(ratios), 3),
            "ratio_min": round(min(ratios), 3),
            "ratio_max": round(max(ratios), 3),
        }

    def _settled_descriptors(self, one: routers.Running, before: int) -> int:
        """Wait until idle connections have run out, and count what is open then."""
        deadline_s = time.monotonic() + self._sizes.settle_s
        while (now := readings.descriptors(one.pid)) > before and time.monotonic() < deadline_s:
            time.sleep(0.1)
        return now


def run(sizes: Sizes, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure all of it."""
    decisions = [
        asdict(decision.cost(row.name, count, sizes.decisions))
        for row in (routers.ROUND_ROBIN, routers.LEAST_LOAD)
        for count in sorted({2, 10, 100, sizes.instances[1]})
    ]
    states = [
        asdict(decision.state_cost(state, count, max(1, sizes.decisions // 8)))
        for state in STATES
        for count in sorted({2, 100, sizes.instances[1]})
    ]
    cpus = processes.cpus()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        home.chmod(0o755)
        log = stack.enter_context((home / "log").open("wb"))
        ports = stack.enter_context(processes.backends(max(sizes.instances), cpus.load, log))
        load = stack.enter_context(processes.load(cpus.load, log))
        growth = Growth(sizes, home, log, load, ports)
        result: dict[str, Any] = {
            "decisions": decisions, "states": states, "instances": {}, "streams": {},
        }  # fmt: skip
        for router in routers.here():
            if router.is_ours:
                say(f"instances, {router.name}")
                result["instances"][router.name] = growth.instances(router)
            # How streams flow does not depend on the strategy.
            if router is routers.ROUND_ROBIN or (sizes.compare and not router.is_ours):
                say(f"streams, {router.name}")
                result["streams"][router.name] = growth.streams(router)
        result["requests"] = growth.requests(routers.ROUND_ROBIN, say)
    return result
