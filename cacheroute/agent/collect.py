"""Reads the machine once: processors, memory, network. Rates need two readings.

What the kernel does not tell is None; a missing /proc file never stops the agent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil

from cacheroute.agent.network import SYS_CLASS_NET, ByteCounters, InterfaceReading, NetworkMeter
from cacheroute.agent.watch import GpuReport
from cacheroute.core.clock import Instant

_BYTES_PER_MIB = 1024 * 1024
_SHORTEST_CPU_INTERVAL_S = 0.1
"""The kernel counts in hundredths of a second: below this a percentage is noise."""
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReading:
    """Host memory, in MiB."""

    total_mb: int
    """Installed."""
    free_mb: int
    """Available without swapping: the page cache counts as free."""
    free_ratio: float
    """Free over total, 0 to 1, from the bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReading:
    """Everything one snapshot is made from."""

    taken: Instant
    """When it was read."""
    cpu_pct: float | None
    """Percent of all processors since the reading before."""
    load: tuple[float, float, float] | None
    """Runnable processes, averaged over 1, 5 and 15 minutes."""
    memory: MemoryReading | None
    """Host memory."""
    network: tuple[InterfaceReading, ...]
    """Real interfaces, busiest first."""
    gpu: GpuReport
    """The newest word of the GPU watch."""


class CpuMeter:
    """Turns the kernel's processor times into a percentage of all processors."""

    def __init__(self) -> None:
        self._before: tuple[float, float] | None = None
        self._before_s = 0.0
        self._pct: float | None = None

    def sample(self, times: Mapping[str, float], now: Instant) -> float | None:
        """Return the share that was not idle since the sample before; None at first."""
        idle = times["idle"] + times.get("iowait", 0.0)
        # Time of guests is part of `user` and `nice` already.
        total = sum(times.values()) - times.get("guest", 0.0) - times.get("guest_nice", 0.0)
        if self._before is None:
            self._before, self._before_s = (idle, total), now.mono_s
            return None
        if now.mono_s - self._before_s < _SHORTEST_CPU_INTERVAL_S:
            return self._pct
        idle_before, total_before = self._before
        spent = total - total_before
        # The kernel's idle count may step back a little; a share stays a share.
        share = 1 - (idle - idle_before) / spent if spent > 0 else None
        self._pct = None if share is None else round(100 * min(1.0, max(0.0, share)), 1)
        self._before, self._before_s = (idle, total), now.mono_s
        return self._pct


class Collector:
    """Reads the machine, and remembers just enough to tell rates."""

    def __init__(self, sys_class_net: Path = SYS_CLASS_NET) -> None:
        self._cpu = CpuMeter()
        self._network = NetworkMeter(sys_class_net)

    def collect(self, now: Instant, gpu: GpuReport) -> HostReading:
        """Read everything but the GPUs, whose report is handed in."""
        times = _or_none(lambda: psutil.cpu_times()._asdict())
        return HostReading(
            taken=now,
            cpu_pct=None if times is None else self._cpu.sample(times, now),
            load=_or_none(psutil.getloadavg),
            memory=_or_none(_read_memory),
            network=self._network.sample(_or_none(_read_counters) or {}, now),
            gpu=gpu,
        )


def _read_memory() -> MemoryReading | None:
    memory = psutil.virtual_memory()
    if memory.total <= 0:
        return None
    return MemoryReading(
        total_mb=memory.total // _BYTES_PER_MIB,
        free_mb=memory.available // _BYTES_PER_MIB,
        free_ratio=memory.available / memory.total,
    )


def _read_counters() -> dict[str, ByteCounters]:
    # `nowrap` would keep a second history, and hide the restarts that the meter must see.
    counted = psutil.net_io_counters(pernic=True, nowrap=False)
    return {
        name: ByteCounters(rx_bytes=each.bytes_recv, tx_bytes=each.bytes_sent)
        for name, each in counted.items()
    }


def _or_none(read: Callable[[], _Answer]) -> _Answer | None:
    try:
        return read()
    except (OSError, psutil.Error, RuntimeError, NotImplementedError):
        return None
