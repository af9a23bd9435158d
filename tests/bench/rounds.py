"""Paired rounds: in each round every router gets every load in turn, so drift hits all alike."""

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench import payloads, processes, readings, routers

DIRECT = "direct"
"""The row of clients that ask the backend itself: what the harness can do at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One column of the table."""

    name: str
    title: str
    size: payloads.Size
    connections: int
    every_us: int | None
    window_s: float
    warm_s: float
    counts_delivery: bool = False

    @property
    def unit(self) -> str:
        """What the CPU time is divided by."""
        return "request" if self.every_us is None else "event"

    @property
    def offered_per_s(self) -> float | None:
        """Events a second that the backend is to send; None where clients set the pace."""
        return None if self.every_us is None else self.connections * 1e6 / self.every_us


LOADS = (
    Load(name="json2k", title="2 KB JSON", size="2k", connections=32, every_us=None,
         warm_s=0.15, window_s=0.6),
    Load(name="json30k", title="30 KB JSON", size="30k", connections=32, every_us=None,
         warm_s=0.15, window_s=0.6),
    Load(name="spaced", title="SSE spaced", size="2k", connections=64, every_us=20_000,
         warm_s=0.25, window_s=0.9),
    Load(name="saturated", title="SSE saturated", size="2k", connections=64, every_us=1_000,
         warm_s=0.25, window_s=0.7, counts_delivery=True),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement."""

    cpu_us: float
    """Per request or per event."""
    per_s: float
    """Requests or events a second."""
    delivered_ratio: float | None
    """Events that came, of those that were offered; None where nothing is offered."""


@dataclass(slots=True)
class Row:
    """What was measured of one router."""

    name: str
    is_ours: bool
    start_s: float
    memory_mb: float = 0.0
    """After all loads."""
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    """By load, one per round; the rounds of all rows go together."""


def sample(load: processes.Load, what: Load, port: int, pids: list[int], scale: float) -> Sample:
    """Make one measurement."""
    taken = load.measure(
        {
            "port": port,
            "connections": what.connections,
            "size": what.size,
            "every_us": what.every_us,
            "warm_s": what.warm_s * scale,
            "window_s": what.window_s * scale,
            "pids": pids,
        }
    )
    count = taken["answers"] if what.every_us is None else taken["events"]
    if not count:
        raise processes.LoadFailed(f"nothing came back in {taken['window_s']:.2g} s")
    per_s = count / taken["window_s"]
    offered = what.offered_per_s if what.counts_delivery else None
    return Sample(taken["cpu_s"] * 1e6 / count, per_s, None if offered is None else per_s / offered)


def run(
    *, rounds: int, scale: float, only: list[str] | None, say: Callable[[str], None]
) -> list[Row]:
    """Start every router, and measure all of them `rounds` times over."""
    cpus = processes.cpus()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        home.chmod(0o755)  # nginx works as another user than the one who starts it
        log = stack.enter_context((home / "log").open("wb"))
        ports = stack.enter_context(processes.backends(2, cpus.load, log))
        load = stack.enter_context(processes.load(cpus.load, log))
        running, rows = [], []
        for router in routers.here():
            if only is None or router.name in only:
                one = stack.enter_context(routers.running(router, ports, cpus.router, home, log))
                say(f"{router.name}: first 200 after {one.start_s:.2f} s")
                running.append(one)
                rows.append(Row(router.name, router.is_ours, one.start_s))
        direct = Row(DIRECT, False, 0.0)
        for number in range(rounds):
            for what in LOADS:
                # Back and forth, so that nobody always comes right after the same neighbour.
                pairs = list(zip(running, rows, strict=True))
                for one, row in pairs if number % 2 == 0 else reversed(pairs):
                    taken = sample(load, what, one.port, one.pids, scale)
                    row.samples.setdefault(what.name, []).append(taken)
                if what.counts_delivery:
                    taken = sample(load, what, ports[0], [], scale)
                    direct.samples.setdefault(what.name, []).append(taken)
            say(f"round {number + 1} of {rounds}")
        for one, row in zip(running, rows, strict=True):
            row.memory_mb = readings.memory_mb(one.pids)
        return [*rows, direct]
