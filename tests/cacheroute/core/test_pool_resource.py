import json
from collections.abc import Sequence
from typing import Any

import pytest

from cacheroute.core.clock import Instant
from cacheroute.core.pool_resource import InstanceReading, pool_resource, pool_resource_sources
from cacheroute.core.resources import Resource

RECEIVED = Instant(mono_s=100.0, wall_s=1_800_000_000.0)
NOW = Instant(mono_s=104.0, wall_s=1_800_000_004.5)


def resource(admission_state: str | None = "accepting", **known: Any) -> Resource:
    known.setdefault("received", RECEIVED)
    return Resource(admission_state=admission_state, raw_resource={"devices": {}}, **known)


def reading(**known: Any) -> InstanceReading:
    known.setdefault("is_alive", True)
    return InstanceReading(**known)


def summary(readings: Sequence[InstanceReading], capacity: int = 8) -> dict[str, Any]:
    return pool_resource(readings, proxy_id="p-1", ttl_s=30, capacity=capacity, now=NOW)


def test_an_empty_pool_has_every_key_and_rejects() -> None:
    assert summary([]) == {
        "schema_version": 1,
        "proxy_id": "p-1",
        "generated_at": 1_800_000_004.5,
        "ttl_s": 30,
        "resource_freshness_s": {"min": None, "avg": None, "max": None},
        "pool_admission_state": "rejecting",
        "pool_admission_reason": "No Instance is registered.",
        "instances": {
            "total": 0,
            "alive": 0,
            "stale": 0,
            "with_resource": 0,
            "missing_resource": 0,
            "accepting": 0,
            "degraded": 0,
            "rejecting": 0,
        },
        "load": {
            "inflight_total": None,
            "qps_1m_total": None,
            "load_ratio": None,
            "capacity": 8,
            "prepare_queue_depth": None,
            "ready_queue_depth": None,
            "queue_pressure": None,
        },
        "utilization": dict.fromkeys(
            [
                *("cpu_avg", "cpu_max", "memory_used_mb", "memory_total_mb", "memory_used_ratio"),
                *("memory_free_ratio_min", "gpu_util_avg", "gpu_util_max", "gpu_mem_used_mb"),
                *("gpu_mem_total_mb", "gpu_mem_used_ratio"),
                *("network_rx_mbps_total", "network_tx_mbps_total"),
            ],
        ),
        "metric_source": {
            "instances": "proxy_instance_pool_ttl",
            "resource": "unavailable",
            "inflight_total": "unavailable",
            "qps_1m_total": "unavailable",
            "load_ratio": "unavailable",
            "capacity": "proxy_config",
            "prepare_queue_depth": "unavailable",
            "ready_queue_depth": "unavailable",
            "queue_pressure": "unavailable",
            "utilization": "unavailable",
            "pool_admission_state": "derived_from_instance_resource_admission",
            "resource_freshness_s": "unavailable",
        },
        "metric_quality": {"resource": "missing", "load": "missing", "queue": "missing"},
    }


def test_two_busy_instances_add_up() -> None:
    first = resource(
        cpu_util=10.0,
        memory_used_mb=100.0,
        memory_total_mb=400.0,
        memory_free_ratio=0.75,
        gpu_util_avg=20.0,
        gpu_util_max=99.0,
        gpu_mem_used_mb=10.0,
        gpu_mem_total_mb=40.0,
        network_rx_mbps=1.5,
        network_tx_mbps=0.0,
    )
    second = resource(
        cpu_util=30.0,
        memory_used_mb=300.0,
        memory_total_mb=400.0,
        memory_free_ratio=0.25,
        gpu_util_avg=60.0,
        gpu_util_max=70.0,
        gpu_mem_used_mb=30.0,
        gpu_mem_total_mb=40.0,
        network_rx_mbps=2.5,
        network_tx_mbps=0.0,
        received=Instant(mono_s=102.0, wall_s=1_800_000_002.0),
    )

    got = summary(
        [
            reading(
                inflight=3, qps_1m=1.5, prepare_queue_depth=0, ready_queue_depth=2, resource=first
            ),
            reading(
                inflight=1, qps_1m=0.0, prepare_queue_depth=1, ready_queue_depth=1, resource=second
            ),
        ],
    )

    assert got["load"] == {
        "inflight_total": 4,
        "qps_1m_total": 1.5,
        "load_ratio": 0.5,
        "capacity": 8,
        "prepare_queue_depth": 1,
        "ready_queue_depth": 3,
        "queue_pressure": 0.5,
    }
    assert got["utilization"] == {
        "cpu_avg": 20.0,
        "cpu_max": 30.0,
        "memory_used_mb": 400.0,
        "memory_total_mb": 800.0,
        "memory_used_ratio": 0.5,
        "memory_free_ratio_min": 0.25,
        "gpu_util_avg": 40.0,
        "gpu_util_max": 60.0,
        "gpu_mem_used_mb": 40.0,
        "gpu_mem_total_mb": 80.0,
        "gpu_mem_used_ratio": 0.5,
        "network_rx_mbps_total": 4.0,
        "network_tx_mbps_total": 0.0,
    }
    assert got["resource_freshness_s"] == {"min": 2.0, "avg": 3.0, "max": 4.0}
    assert got["metric_quality"] == {
        "resource": "complete",
        "load": "complete",
        "queue": "complete",
    }
    assert "unavailable" not in got["metric_source"].values()


def test_an_idle_pool_says_zero_and_not_null() -> None:
    load = summary([reading(inflight=0, qps_1m=0.0, ready_queue_depth=0)])["load"]

    assert (load["inflight_total"], load["load_ratio"], load["queue_pressure"]) == (0, 0.0, 0.0)


def test_a_capacity_of_zero_leaves_the_ratios_unknown() -> None:
    load = summary([reading(inflight=3, prepare_queue_depth=1)], capacity=0)["load"]

    assert (load["load_ratio"], load["queue_pressure"], load["capacity"]) == (None, None, 0)


def test_a_silent_instance_counts_as_stale_and_for_nothing_else() -> None:
    dead = reading(is_alive=False, inflight=5, qps_1m=5.0, resource=resource(cpu_util=99.0))

    got = summary([reading(inflight=1, resource=resource(cpu_util=1.0)), dead])

    assert got["instances"]["total"] == 2
    assert got["instances"]["stale"] == 1
    assert got["load"]["inflight_total"] == 1
    assert got["utilization"]["cpu_max"] == 1.0


def test_a_ratio_counts_only_instances_that_know_both_sides() -> None:
    got = summary(
        [
            reading(resource=resource(memory_used_mb=100.0, memory_total_mb=200.0)),
            reading(resource=resource(memory_used_mb=900.0)),
            reading(resource=resource(memory_total_mb=10_000.0)),
        ],
    )

    assert got["utilization"]["memory_used_ratio"] == 0.5


@pytest.mark.parametrize(
    ("resources", "state", "reason"),
    [
        ([resource(), resource()], "accepting", "Of 2 alive: 2 accepting."),
        ([resource("rejecting")], "rejecting", "Of 1 alive: 1 rejecting."),
        (
            [resource("rejecting"), resource()],
            "degraded",
            "Of 2 alive: 1 accepting, 1 rejecting.",
        ),
        (
            [resource("rejecting"), None],
            "degraded",
            "Of 2 alive: 1 rejecting, 1 without a snapshot.",
        ),
        ([resource(" Degraded ")], "degraded", "Of 1 alive: 1 degraded."),
        ([None], "degraded", "Of 1 alive: 1 without a snapshot."),
        ([Resource(received=RECEIVED)], "degraded", "Of 1 alive: 1 without a snapshot."),
        ([resource(None)], "accepting", "Of 1 alive: 1 without an admission state."),
    ],
)
def test_the_admission_state_follows_from_the_alive_instances(
    resources: list[Resource | None],
    state: str,
    reason: str,
) -> None:
    got = summary([reading(resource=each) for each in resources])

    assert (got["pool_admission_state"], got["pool_admission_reason"]) == (state, reason)


def test_a_pool_of_silent_instances_says_so() -> None:
    got = summary([reading(is_alive=False)])

    assert got["pool_admission_state"] == "rejecting"
    assert got["pool_admission_reason"] == "No Instance is alive; silent past the time-to-live: 1."


def test_half_known_numbers_are_of_partial_quality() -> None:
    got = summary(
        [reading(inflight=1, ready_queue_depth=0, resource=resource()), reading(inflight=0)],
    )

    assert got["metric_quality"] == {"resource": "partial", "load": "partial", "queue": "partial"}
    assert got["metric_source"]["qps_1m_total"] == "unavailable"
    assert got["metric_source"]["inflight_total"] == "proxy_lifecycle_counter"


def test_hostile_numbers_stay_servable() -> None:
    got = summary(
        [
            reading(qps_1m=float("nan"), resource=resource(network_rx_mbps=1.7e308)),
            reading(qps_1m=float("inf"), resource=resource(network_rx_mbps=1.7e308)),
        ],
    )

    assert got["load"]["qps_1m_total"] is None
    assert got["utilization"]["network_rx_mbps_total"] is None
    assert json.dumps(got, allow_nan=False)


def test_the_sources_of_a_summary_can_be_had_alone() -> None:
    got = summary([reading(inflight=1)])

    assert pool_resource_sources(got) == {
        "metric_source": got["metric_source"],
        "metric_quality": got["metric_quality"],
        "null_semantics": "null means unavailable, 0 means a measured zero",
    }
