"""A reading in the published words (protocol, 5.1).

No GPU is an empty list: every reader then finds null, where a stand-in full of nulls is
summed to 0 by some. A value nobody knows is null; only `speed_mbps` says 0 for unknown,
as published.
"""

from cacheroute import __version__
from cacheroute.agent.collect import HostReading
from cacheroute.agent.gpu import GpuReading
from cacheroute.agent.network import InterfaceReading
from cacheroute.core.clock import Instant

SCHEMA_VERSION = "resource_snapshot_v1"
REJECT_BELOW_FREE_RATIO = 0.05
DEGRADED_ABOVE_CPU_PCT = 95.0


def snapshot(
    reading: HostReading,
    *,
    instance_id: str,
    gpu_util_window_ms: int,
    gpu_stale_after_s: float,
) -> dict[str, object]:
    """Word a reading; GPU values older than `gpu_stale_after_s` are withheld."""
    memory = reading.memory
    load1, load5, load15 = map(_rounded, reading.load or (None, None, None))
    return {
        "schema_version": SCHEMA_VERSION,
        "agent_version": __version__,
        "instance_id": instance_id,
        "timestamp_ms": reading.taken.wall_ms,
        "devices": {
            "cpu": {
                "utilization_pct": reading.cpu_pct,
                "load1": load1,
                "load5": load5,
                "load15": load15,
            },
            "memory": {
                "used_mb": None if memory is None else memory.total_mb - memory.free_mb,
                "total_mb": None if memory is None else memory.total_mb,
                "free_mb": None if memory is None else memory.free_mb,
            },
            "network": [_interface(each) for each in reading.network],
            "gpu": [
                _gpu(each, reading.taken, gpu_util_window_ms, gpu_stale_after_s)
                for each in reading.gpu.gpus
            ],
        },
        "runtime": {"gpu_error": reading.gpu.error},
        "capacity_hint": {
            "memory_free_ratio": None if memory is None else round(memory.free_ratio, 4),
            "admission_state": admission_state(
                None if memory is None else memory.free_ratio,
                reading.cpu_pct,
            ),
        },
    }


def admission_state(memory_free_ratio: float | None, cpu_pct: float | None) -> str | None:
    """Hint whether this host should get more work; None when nothing is known of it."""
    if memory_free_ratio is not None and memory_free_ratio < REJECT_BELOW_FREE_RATIO:
        return "rejecting"
    if cpu_pct is not None and cpu_pct > DEGRADED_ABOVE_CPU_PCT:
        return "degraded"
    return None if memory_free_ratio is None and cpu_pct is None else "accepting"


def _rounded(load: float | None) -> float | None:
    return None if load is None else round(load, 2)


def _interface(reading: InterfaceReading) -> dict[str, object]:
    return {
        "iface": reading.name,
        "rx_mbps": reading.rx_mbps,
        "tx_mbps": reading.tx_mbps,
        "speed_mbps": reading.speed_mbps or 0,
    }


def _gpu(
    gpu: GpuReading,
    taken: Instant,
    window_ms: int,
    stale_after_s: float,
) -> dict[str, object]:
    silent_s = taken.mono_s - gpu.sampled.mono_s
    if silent_s > stale_after_s:
        error = f"The driver has not answered for {silent_s:.0f} s."
        gpu = GpuReading(
            index=gpu.index,
            uuid=gpu.uuid,
            name=gpu.name,
            quality="command_error",
            error=error,
            sampled=gpu.sampled,
        )
    util = gpu.utilisation
    average = None if util.average_pct is None else round(util.average_pct, 1)
    return {
        "index": gpu.index,
        "uuid": gpu.uuid,
        "name": gpu.name,
        "utilization_pct": average,
        "utilization_pct_current": util.current_pct,
        "utilization_pct_avg": average,
        "utilization_pct_max": util.max_pct,
        "utilization_sample_count": util.count,
        "utilization_window_ms": window_ms,
        "utilization_sample_ok": gpu.is_usable,
        "utilization_source": "nvml",
        "utilization_sample_timestamp_ms": gpu.sampled.wall_ms,
        "utilization_raw_value": gpu.raw_value,
        "utilization_error": gpu.error,
        # One failed reading does not spoil a window that still holds good ones.
        "utilization_sample_quality": "ok" if gpu.is_usable else gpu.quality,
        "memory_used_mb": gpu.memory_used_mb,
        "memory_total_mb": gpu.memory_total_mb,
        "memory_free_mb": gpu.memory_free_mb,
        "temperature_c": gpu.temperature_c,
        "power_w": gpu.power_w,
        "health": "error" if gpu.quality == "command_error" else "ok",
    }
