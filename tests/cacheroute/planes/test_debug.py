"""Pages built from a snapshot."""

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


def test_links_keep_what_was_reported() -> None:
    topology = Topology()
    topology.report("i-1", {"k": Link(latency_ms=0.0, metrics={"rtt_ms": 0.0})})
    assert debug.kdn_links(topology) == {
        "kdn_links": {"k": {"rtt_ms": 0.0, "reported_by": "i-1"}},
    }


def test_a_skewed_clock_is_shown_and_not_judged() -> None:
    pool = a_pool(an_instance())
    moment = at(1.0)
    ahead = normalise({"timestamp_ms": moment.wall_ms + 600_000, "devices": {}}, {}, moment)
    pool.report_resource("i-1", ahead, moment)
    (row,) = debug.instance_rows(pool.snapshot(at(2.0)), include_dead=True, raw=False)
    assert (row["clock_skew_ms"], row["age_s"]) == (600_000, 1.0)
