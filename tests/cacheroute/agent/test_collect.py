from pathlib import Path

import psutil
import pytest

from cacheroute.agent.collect import Collector, CpuMeter
from cacheroute.agent.watch import GpuReport
from cacheroute.core.clock import Instant

NO_GPU = GpuReport(error="none here")


def at(mono_s: float) -> Instant:
    return Instant(mono_s=mono_s, wall_s=1_800_000_000 + mono_s)


def times(**seconds: float) -> dict[str, float]:
    return {"user": 0.0, "system": 0.0, "idle": 0.0, **seconds}


def test_the_processors_share_needs_two_samples() -> None:
    meter = CpuMeter()

    assert meter.sample(times(user=10, idle=90), at(0)) is None
    assert meter.sample(times(user=10.5, system=0.25, idle=90.25), at(1)) == 75.0


def test_waiting_for_a_disk_is_idle_and_guests_are_not_counted_twice() -> None:
    meter = CpuMeter()
    meter.sample(times(iowait=0, guest=0, guest_nice=0), at(0))

    share = meter.sample(times(user=2, guest=1, guest_nice=1, idle=1, iowait=1), at(1))

    assert share == 50.0


def test_samples_too_close_together_repeat_the_last_share() -> None:
    meter = CpuMeter()
    meter.sample(times(), at(0))

    assert meter.sample(times(user=1), at(0.05)) is None
    assert meter.sample(times(user=1, idle=1), at(1)) == 50.0
    assert meter.sample(times(user=9, idle=1), at(1.05)) == 50.0


def test_an_idle_count_that_steps_back_does_not_go_over_100() -> None:
    meter = CpuMeter()
    meter.sample(times(idle=10), at(0))

    assert meter.sample(times(user=1, idle=9.99), at(1)) == 100.0


def test_a_kernel_that_counts_nothing_knows_nothing() -> None:
    meter = CpuMeter()
    meter.sample(times(idle=10), at(0))

    assert meter.sample(times(idle=10), at(1)) is None


def test_this_machine_can_be_read() -> None:
    collector = Collector()
    collector.collect(at(0), NO_GPU)

    reading = collector.collect(at(1), NO_GPU)

    assert reading.taken == at(1)
    assert reading.gpu is NO_GPU
    assert reading.load is not None
    assert reading.memory is not None
    assert reading.memory.total_mb == psutil.virtual_memory().total // 1024**2
    assert 0 < reading.memory.free_mb <= reading.memory.total_mb
    assert 0.0 < reading.memory.free_ratio <= 1.0
    assert "lo" not in [each.name for each in reading.network]


def test_the_first_reading_has_no_rates_yet(tmp_path: Path) -> None:
    reading = Collector(tmp_path).collect(at(0), NO_GPU)

    assert reading.cpu_pct is None
    assert {each.rx_mbps for each in reading.network} <= {None}


def test_a_machine_that_tells_nothing_is_all_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise FileNotFoundError("/proc is not here")

    for name in ("cpu_times", "virtual_memory", "net_io_counters", "getloadavg"):
        monkeypatch.setattr(psutil, name, fail)

    reading = Collector().collect(at(0), NO_GPU)

    assert (reading.cpu_pct, reading.load, reading.memory) == (None, None, None)
    assert reading.network == ()
