import json
from typing import Any

import pytest

from cacheroute import __version__
from cacheroute.agent.collect import HostReading, MemoryReading
from cacheroute.agent.gpu import GpuReading
from cacheroute.agent.network import InterfaceReading
from cacheroute.agent.snapshot import admission_state, snapshot
from cacheroute.agent.watch import GpuReport
from cacheroute.agent.window import Utilisation
from cacheroute.core.clock import Instant
from cacheroute.core.resources import Resource, normalise

NOW = Instant(mono_s=100.0, wall_s=1_800_000_000.25)
SAMPLED = Instant(mono_s=99.5, wall_s=1_799_999_999.75)


def gpu(**known: Any) -> GpuReading:
    known.setdefault("sampled", SAMPLED)
    return GpuReading(index=0, uuid="GPU-1", name="H100", **known)


def busy_gpu() -> GpuReading:
    return gpu(
        utilisation=Utilisation(current_pct=10, average_pct=100 / 3, max_pct=80, count=5),
        raw_value="10",
        memory_used_mb=10_000,
        memory_total_mb=80_000,
        memory_free_mb=70_000,
        temperature_c=55,
        power_w=123.5,
    )


def host(*gpus: GpuReading, **known: Any) -> HostReading:
    values: dict[str, Any] = {
        "taken": NOW,
        "cpu_pct": 12.5,
        "load": (0.123456, 1.0, 2.0),
        "memory": MemoryReading(total_mb=1000, free_mb=600, free_ratio=0.60009),
        "network": (
            InterfaceReading(name="eth1", rx_mbps=8.0, tx_mbps=0.0, speed_mbps=25_000),
            InterfaceReading(name="eth0", rx_mbps=None, tx_mbps=None, speed_mbps=None),
        ),
        "gpu": GpuReport(gpus=gpus),
    }
    return HostReading(**values | known)


def word(reading: HostReading) -> dict[str, Any]:
    return snapshot(reading, instance_id="i-1", gpu_util_window_ms=5000, gpu_stale_after_s=5.0)


def read_back(reading: HostReading) -> Resource:
    """What a Proxy makes of it, over the wire and back."""
    sent = json.loads(json.dumps(word(reading), allow_nan=False))
    return normalise(sent, {}, NOW)


def test_a_snapshot_has_the_published_shape() -> None:
    assert word(host(busy_gpu())) == {
        "schema_version": "resource_snapshot_v1",
        "agent_version": __version__,
        "instance_id": "i-1",
        "timestamp_ms": 1_800_000_000_250,
        "devices": {
            "cpu": {"utilization_pct": 12.5, "load1": 0.12, "load5": 1.0, "load15": 2.0},
            "memory": {"used_mb": 400, "total_mb": 1000, "free_mb": 600},
            "network": [
                {"iface": "eth1", "rx_mbps": 8.0, "tx_mbps": 0.0, "speed_mbps": 25_000},
                {"iface": "eth0", "rx_mbps": None, "tx_mbps": None, "speed_mbps": 0},
            ],
            "gpu": [
                {
                    "index": 0,
                    "uuid": "GPU-1",
                    "name": "H100",
                    "utilization_pct": 33.3,
                    "utilization_pct_current": 10,
                    "utilization_pct_avg": 33.3,
                    "utilization_pct_max": 80,
                    "utilization_sample_count": 5,
                    "utilization_window_ms": 5000,
                    "utilization_sample_ok": True,
                    "utilization_source": "nvml",
                    "utilization_sample_timestamp_ms": 1_799_999_999_750,
                    "utilization_raw_value": "10",
                    "utilization_error": None,
                    "utilization_sample_quality": "ok",
                    "memory_used_mb": 10_000,
                    "memory_total_mb": 80_000,
                    "memory_free_mb": 70_000,
                    "temperature_c": 55,
                    "power_w": 123.5,
                    "health": "ok",
                },
            ],
        },
        "runtime": {"gpu_error": None},
        "capacity_hint": {"memory_free_ratio": 0.6001, "admission_state": "accepting"},
    }


def test_a_proxy_reads_back_what_the_agent_meant() -> None:
    resource = read_back(host(busy_gpu(), busy_gpu()))

    assert resource.cpu_util == 12.5
    assert resource.memory_used_mb == 400.0
    assert resource.gpu_util_avg == 33.3
    assert resource.gpu_util_current == 10.0
    assert resource.gpu_util_max == 80.0
    assert resource.gpu_sample_count == 10
    assert resource.gpu_sample_age_ms == 500
    assert resource.gpu_sample_source == "nvml"
    assert resource.gpu_sample_quality == "ok"
    assert resource.gpu_sample_window_ms == 5000
    assert resource.gpu_mem_used_mb == 20_000.0
    assert resource.network_rx_mbps == 8.0
    assert resource.admission_state == "accepting"


def test_no_gpu_is_an_empty_list_that_everyone_reads_as_null() -> None:
    reading = host(gpu=GpuReport(error="NVML Shared Library Not Found"))

    assert word(reading)["devices"]["gpu"] == []
    assert word(reading)["runtime"] == {"gpu_error": "NVML Shared Library Not Found"}
    wire = read_back(reading).as_wire(raw=False)
    assert {value for name, value in wire.items() if name.startswith("gpu_")} == {None}


@pytest.mark.parametrize("quality", ["invalid", "unsupported", "command_error"])
def test_a_gpu_without_utilisation_is_not_idle(quality: str) -> None:
    reading = host(gpu(quality=quality, error="no", memory_total_mb=80_000, memory_used_mb=1))

    resource = read_back(reading)

    assert resource.gpu_util_avg is None
    assert resource.gpu_sample_quality == quality
    assert resource.gpu_mem_used_mb == 1.0


def test_one_failed_sample_does_not_hide_a_busy_gpu() -> None:
    failing = gpu(
        utilisation=Utilisation(average_pct=70.0, max_pct=90, count=4),
        quality="command_error",
        error="Unknown Error",
    )

    (worded,) = word(host(failing))["devices"]["gpu"]
    resource = read_back(host(failing))

    assert (worded["health"], worded["utilization_error"]) == ("error", "Unknown Error")
    assert (resource.gpu_util_avg, resource.gpu_util_current) == (70.0, None)
    assert resource.gpu_sample_quality == "ok"


def test_a_driver_that_no_longer_answers_is_told_and_its_old_numbers_are_withheld() -> None:
    later = Instant(mono_s=112.0, wall_s=1_800_000_012.25)

    (worded,) = word(host(busy_gpu(), taken=later))["devices"]["gpu"]

    assert worded["uuid"] == "GPU-1"
    assert worded["utilization_pct"] is None
    assert worded["memory_used_mb"] is None
    assert worded["utilization_sample_ok"] is False
    assert worded["utilization_error"] == "The driver has not answered for 12 s."
    assert worded["health"] == "error"
    assert worded["utilization_sample_timestamp_ms"] == 1_799_999_999_750


def test_a_machine_that_tells_nothing_is_null_throughout() -> None:
    reading = host(cpu_pct=None, load=None, memory=None, network=())

    assert word(reading)["capacity_hint"] == {"memory_free_ratio": None, "admission_state": None}
    resource = read_back(reading)
    assert (resource.cpu_util, resource.memory_used_mb, resource.network_rx_mbps) == (None,) * 3


@pytest.mark.parametrize(
    ("memory_free_ratio", "cpu_pct", "state"),
    [
        (0.5, 10.0, "accepting"),
        (0.05, 95.0, "accepting"),
        (0.0499, 10.0, "rejecting"),
        (0.0499, 99.0, "rejecting"),
        (0.5, 95.1, "degraded"),
        (None, 99.0, "degraded"),
        (None, 1.0, "accepting"),
        (0.5, None, "accepting"),
        (None, None, None),
    ],
)
def test_memory_decides_before_the_processors_do(
    memory_free_ratio: float | None,
    cpu_pct: float | None,
    state: str | None,
) -> None:
    assert admission_state(memory_free_ratio, cpu_pct) == state
