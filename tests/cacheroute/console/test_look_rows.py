"""Columns become rows: unknown stays unknown, and of who is silent nothing is known but that.

That the rows are those of the published pages is shown with real pools, at the planes.
"""

from typing import Any

from cacheroute.console.look_rows import (
    SIGNALS,
    fleet_rows,
    load_rows,
    resource_rows,
    score_rows,
)
from cacheroute.core.routing.weights import Weights
from cacheroute.wire.console import Columns, ConsoleSnapshot, Identities, Lists


def one(state: str | None = "alive", **columns: Any) -> ConsoleSnapshot:
    return ConsoleSnapshot(
        rev=1,
        generated_at=0.0,
        ttl_s=30,
        weights={"inflight": 1.0, "active_ready": 0.0},
        sources={"inflight": "proxy"},
        identities=Identities(ids=["a"], host="::1", port=9, models=Lists(values=[["m"]])),
        instances=Columns(state=state, **columns),
    )


def test_every_signal_that_may_weigh_is_a_column() -> None:
    assert set(SIGNALS) == set(Weights().as_mapping())
    assert set(SIGNALS) <= set(Columns.__struct_fields__)


def test_what_nobody_has_told_is_none_and_zero_is_zero() -> None:
    [row] = fleet_rows(one(inflight=0, cpu_util=0.0))

    assert (row.inflight, row.cpu_util, row.gpu_util, row.score) == (0, 0.0, None, None)
    assert (row.address, row.models, row.endpoints) == ("[::1]:9", ["m"], [])
    [load] = load_rows(one(ready_queue_depth=0))
    assert (load.ready_queue_depth, load.active_ready) == (0, None)
    [host] = resource_rows(one(memory_used_mb=1.0))
    assert (host.memory_util, host.cpu_util) == (None, None)


def test_of_one_that_is_silent_no_measure_is_known_but_its_resources_stay_to_be_seen() -> None:
    silent = one(state="dead", age_s=99.0, cpu_util=50.0, score=1.0, inflight=2)

    [row] = fleet_rows(silent)
    [host] = resource_rows(silent)

    assert (row.state, row.inflight, row.cpu_util, row.score) == ("dead", 2, None, None)
    assert (host.is_alive, host.cpu_util) == (False, 50.0)


def test_a_heartbeats_gpu_use_stands_in_for_a_report() -> None:
    assert fleet_rows(one(gpu_util=30.0))[0].gpu_util == 30.0
    assert fleet_rows(one(gpu_util=30.0, gpu_util_avg=40.0))[0].gpu_util == 40.0


def test_a_proxy_that_only_tells_alive_from_not_leaves_the_rest_to_the_age() -> None:
    assert fleet_rows(one(state=None, age_s=40.0))[0].state == "stale"
    assert fleet_rows(one(state=None, age_s=40.0), passed_s=60.0)[0].state == "dead"
    assert score_rows(one(state=None, age_s=40.0))[0].state == "stale"


def test_a_score_has_a_part_for_each_signal_that_is_known() -> None:
    [row] = score_rows(one(inflight=4, score=4.0, active_ready=2))

    assert (row.score, row.rank, row.excluded) == (4.0, 1, None)
    assert [(t.signal, t.value, t.weighted, t.source) for t in row.terms] == [
        ("inflight", 4.0, 4.0, "proxy"),
        ("active_ready", 2.0, None, None),
    ]


def test_the_reasons_against_an_instance_are_those_of_the_list_of_scores() -> None:
    def why(**columns: Any) -> str | None:
        return score_rows(one(score=1.0, inflight=2, **columns))[0].excluded

    assert why(draining=True) == "draining (2 left)"
    assert why(ejected_for_s=3.0) == "failed lately, rests for 3.0s"
    assert why(weight=0.0) == "its weight is 0"
    assert why(state="stale") == "last seen more than its time to live ago"
    assert score_rows(one())[0].excluded == "no signal is known"


def test_no_instances_are_no_rows() -> None:
    empty = ConsoleSnapshot(rev=1, generated_at=0.0)

    assert [fleet_rows(empty), load_rows(empty), resource_rows(empty), score_rows(empty)] == [
        [], [], [], [],
    ]  # fmt: skip
