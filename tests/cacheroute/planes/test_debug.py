"""Pages built from a snapshot."""

import pytest

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.pool import Pool
from cacheroute.core.pressure import FIGURES
from cacheroute.core.resources import normalise
from cacheroute.core.routing.weights import Weights
from cacheroute.core.topology import Link, Topology
from cacheroute.planes import debug
from cacheroute.wire.debug import InstanceLoadsReply
from tests.cacheroute.core.pool_builders import a_pool, an_instance, at

WEIGHTS = Weights().as_mapping()


def test_an_instance_of_weight_zero_has_no_total() -> None:
    pool = a_pool(an_instance(weight=0.0))
    page = debug.instance_loads(
        pool.snapshot(at(1.0)), include_dead=True, ttl_s=30, weights=WEIGHTS
    )
    score = InstanceLoadsReply.model_validate(page).instances[0].least_load_score
    assert score.total is None
    assert score.components == {"inflight": 0.0}


def a_pool_with_queues_before_one() -> Pool:
    pool = a_pool(an_instance("queued", port=1), an_instance("plain", port=2))
    board = pool.members["queued"].queues = Board(QueueRules(prepare_concurrency=1), slots=1)
    for _ in range(3):
        assert board.enqueue(Ticket())
    assert board.enter(Ticket())
    assert board.enter(Ticket())
    board.timeline.reserve(1.0, 800.0, 200.0)
    return pool


def test_queue_figures_are_shown_where_there_are_queues_and_null_elsewhere() -> None:
    snapshot = a_pool_with_queues_before_one().snapshot(at(1.5))
    page = debug.instance_loads(snapshot, include_dead=True, ttl_s=30, weights=WEIGHTS)
    reply = InstanceLoadsReply.model_validate(page)
    queued, plain = reply.instances
    assert reply.metric_source["queue_depth"] == "proxy_queue_manager"
    assert {name: getattr(queued, name) for name in FIGURES} == {
        "prepare_queue_depth": 2,
        "ready_queue_depth": 1,
        "active_prepare": 1,
        "active_ready": 1,
        "pending_prefill_count": 1,
        "active_decode_count": 0,
        "next_slot_ready_in_ms": 500.0,
        "prefill_free_in_ms": pytest.approx(300.0),
        "predicted_total_backlog_ms": 500.0,
    }
    assert {getattr(plain, name) for name in FIGURES} == {None}


def test_the_queues_count_in_the_score_and_it_is_told_where_they_come_from() -> None:
    snapshot = a_pool_with_queues_before_one().snapshot(at(1.5))
    page = debug.instance_loads(snapshot, include_dead=True, ttl_s=30, weights=WEIGHTS)
    queued, plain = (
        row.least_load_score for row in InstanceLoadsReply.model_validate(page).instances
    )
    # 1 preparing + 1 released + 2/4 + 1/4 waiting + 1 pending + 500/1000 of backlog
    assert queued.total == pytest.approx(4.25)
    assert queued.queue_source == "proxy_queue_manager"
    assert queued.source == {
        "inflight": "proxy_lifecycle_counter",
        **dict.fromkeys(queued.components.keys() - {"inflight"}, "proxy_queue_manager"),
    }
    assert queued.components.keys() == WEIGHTS.keys() - {"qps_1m"}
    assert (plain.queue_source, plain.source) == (
        "unavailable",
        {"inflight": "proxy_lifecycle_counter"},
    )


def test_a_pool_without_queues_says_that_their_figures_are_unavailable() -> None:
    snapshot = a_pool(an_instance()).snapshot(at(1.0))
    page = debug.instance_loads(snapshot, include_dead=True, ttl_s=30, weights=WEIGHTS)
    assert InstanceLoadsReply.model_validate(page).metric_source["queue_depth"] == "unavailable"


def test_the_limits_stand_beside_the_figures_and_the_published_keys_stay() -> None:
    pool = a_pool(an_instance("own", port=1, max_concurrent=3), an_instance("b", port=2))
    topology = Topology(static={"kdn:1": Link.of({"bandwidth_mbps": 1000.0})})
    limits = debug.Limits(rules=QueueRules(max_queue=7), topology=topology, kv_in_use={"own": 1})
    snapshot = pool.snapshot(at(1.0))
    page = debug.instance_loads(
        snapshot, include_dead=True, ttl_s=30, weights=WEIGHTS, limits=limits
    )
    plain = debug.instance_loads(snapshot, include_dead=True, ttl_s=30, weights=WEIGHTS)

    reply = InstanceLoadsReply.model_validate(page)
    assert reply.queue_rules is not None
    assert (reply.queue_rules.max_queue, reply.queue_rules.release_policy) == (7, "ordered")
    assert [(row.max_concurrent, row.kv_links, row.kv_links_busy) for row in reply.instances] == [
        (3, 1, 1),
        (None, 1, 0),
    ]
    assert list(page)[: len(plain)] == list(plain)


def test_only_the_alive_are_shown_when_the_dead_are_not_wanted() -> None:
    snapshot = a_pool(an_instance()).snapshot(at(31.0))
    assert debug.shown(snapshot, include_dead=False) == ()
    assert len(debug.shown(snapshot, include_dead=True)) == 1


def test_the_key_of_an_instance_is_on_no_page() -> None:
    pool = a_pool(an_instance(origin="static", api_key="sk-secret"))
    snapshot = pool.snapshot(at(1.0))
    pages = [
        debug.instance_rows(snapshot, include_dead=True, raw=True),
        debug.instance_resources(snapshot, include_dead=True),
        debug.instance_loads(snapshot, include_dead=True, ttl_s=30, weights=WEIGHTS),
    ]
    assert "sk-secret" not in repr(pages)


def test_a_list_of_a_clock_set_back_holds_no_future() -> None:
    pool = a_pool(an_instance())
    (row,) = debug.instance_rows(pool.snapshot(at(10.0, wall_s=100.0)), include_dead=True, raw=True)
    assert row["last_seen_at"] == 90
    assert row["age_s"] == 10.0


def test_known_models_are_sorted_and_unknown_ones_are_null() -> None:
    pool = a_pool(an_instance("a", port=1, meta={"models": ["z", "b"]}), an_instance("b", port=2))
    rows = debug.instance_rows(pool.snapshot(at(1.0)), include_dead=True, raw=False)
    assert [row["models"] for row in rows] == [["b", "z"], None]


def test_readings_carry_what_the_summary_needs() -> None:
    pool = a_pool(an_instance())
    pool.lease(pool.members["i-1"])
    (reading,) = debug.readings(pool.snapshot(at(1.0)).views)
    assert (reading.is_alive, reading.inflight, reading.qps_1m) == (True, 1, None)


def test_a_skewed_clock_is_shown_and_not_judged() -> None:
    pool = a_pool(an_instance())
    moment = at(1.0)
    ahead = normalise({"timestamp_ms": moment.wall_ms + 600_000, "devices": {}}, {}, moment)
    pool.report_resource("i-1", ahead, moment)
    (row,) = debug.instance_rows(pool.snapshot(at(2.0)), include_dead=True, raw=False)
    assert (row["clock_skew_ms"], row["age_s"]) == (600_000, 1.0)
