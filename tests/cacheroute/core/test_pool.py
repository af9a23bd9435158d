"""Who is in the pool, who is alive, and how much each has on it."""

import pytest

from cacheroute.core.pool import MAX_MODELS, Pool
from cacheroute.core.pool_outcomes import Refusal, Registration
from cacheroute.core.resources import Resource
from cacheroute.core.routing.tiers import Tiers
from tests.cacheroute.core.pool_builders import (
    START,
    a_pool,
    an_instance,
    at,
    joined,
    refused,
)
from tests.cacheroute.core.test_fingerprint import capabilities


def ids(pool: Pool) -> list[str]:
    return list(pool.members)


# Coming and going


def test_a_new_instance_is_created_and_moves_the_version() -> None:
    pool = a_pool()
    outcome = pool.register(an_instance(), START)
    assert isinstance(outcome, Registration)
    assert (outcome.created, outcome.changed, outcome.gone) == (True, True, ())
    assert pool.version > 0


def test_equal_registrations_change_nothing_and_keep_what_runs() -> None:
    pool = a_pool(an_instance())
    member = pool.members["i-1"]
    pool.lease(member)
    version = pool.version
    for _ in range(5):
        outcome = pool.register(an_instance(), at(1.0))
        assert isinstance(outcome, Registration)
        assert (outcome.created, outcome.changed) == (False, False)
    assert pool.members == {"i-1": member}
    assert member.inflight == 1
    assert pool.version == version


def test_the_same_id_at_another_address_is_the_same_member() -> None:
    pool = a_pool(an_instance(port=1))
    member = pool.members["i-1"]
    lease = pool.lease(member)
    assert joined(pool, an_instance(port=2)) is member
    assert member.instance.port == 2
    lease.release()
    assert member.inflight == 0
    # The address it left is free for another.
    joined(pool, an_instance("i-2", port=1))
    assert ids(pool) == ["i-1", "i-2"]


def test_another_id_at_the_same_address_takes_its_place() -> None:
    pool = a_pool(an_instance("old"))
    earlier = pool.members["old"]
    lease = pool.lease(earlier)
    outcome = pool.register(an_instance("new"), at(1.0))
    assert isinstance(outcome, Registration)
    assert outcome.gone == (earlier,)
    assert ids(pool) == ["new"]
    lease.release()
    assert outcome.member.inflight == 0


def test_another_base_path_at_the_same_port_is_another_instance() -> None:
    pool = a_pool(an_instance("a", base_path="/a"), an_instance("b", base_path="/b"))
    assert ids(pool) == ["a", "b"]


def test_a_new_model_at_a_known_address_leaves_no_trace_of_the_old_one() -> None:
    pool = a_pool(an_instance(meta={"model": "m0", "role": "general"}))
    pool.set_models("i-1", ["m0"])
    member = joined(pool, an_instance(meta={"model": "m1", "role": "decode"}))
    assert member.models == frozenset({"m1"})
    assert len(pool) == 1


def test_a_lease_from_before_leaves_a_new_record_alone() -> None:
    pool = a_pool(an_instance())
    lease = pool.lease(pool.members["i-1"])
    pool.unregister("i-1")
    fresh = joined(pool, an_instance())
    held = pool.lease(fresh)
    lease.release()
    assert fresh.inflight == 1
    held.release()
    assert fresh.inflight == 0


def test_an_instance_unregisters_once() -> None:
    pool = a_pool(an_instance())
    member = pool.members["i-1"]
    Tiers([member]).follow()
    assert pool.unregister("i-1") is member
    assert pool.unregister("i-1") is None
    assert member.places == []
    assert pool.snapshot(START).views == ()
    joined(pool, an_instance("i-2"))


def test_a_full_pool_refuses_and_says_how_full_it_is() -> None:
    pool = a_pool(an_instance("a", port=1), an_instance("b", port=2), max_instances=2)
    refusal = refused(pool, an_instance("c", port=3))
    assert refusal.code == "pool_full"
    assert "holds 2" in refusal.detail
    assert ids(pool) == ["a", "b"]
    # Known ones are still brought up to date, and a new name for a known address fits.
    joined(pool, an_instance("a", port=1, weight=2.0))
    joined(pool, an_instance("d", port=2))


def test_the_longest_dead_makes_room_in_a_full_pool() -> None:
    pool = a_pool(max_instances=2)
    joined(pool, an_instance("a", port=1), at(5.0))
    joined(pool, an_instance("b", port=2), at(0.0))
    outcome = pool.register(an_instance("c", port=3), at(99.0))
    assert isinstance(outcome, Registration)
    assert [gone.instance.instance_id for gone in outcome.gone] == ["b"]
    assert ids(pool) == ["a", "c"]


def test_a_static_instance_always_fits() -> None:
    pool = a_pool(an_instance("a", port=1), max_instances=1)
    joined(pool, an_instance("s", port=2, origin="static"))
    assert ids(pool) == ["a", "s"]


def test_static_instances_take_no_room_from_registered_ones() -> None:
    pool = a_pool(an_instance("s", port=1, origin="static"), max_instances=1)
    joined(pool, an_instance("a", port=2))
    assert "holds 1 registered" in refused(pool, an_instance("b", port=3)).detail


# Static Instances


def test_a_static_instance_never_expires_and_never_goes() -> None:
    pool = a_pool(an_instance(origin="static"))
    later = at(1e9)
    assert pool.expire(later) == []
    assert pool.reap(later) == []
    assert pool.unregister("i-1") is None
    assert pool.liveness(pool.members["i-1"], later) == "alive"


def test_a_static_instance_that_registers_itself_stays_static() -> None:
    pool = a_pool(an_instance(origin="static", weight=2.0))
    member = joined(pool, an_instance(meta={"model": "m0"}))
    assert member.instance.origin == "static"
    assert member.instance.weight == 2.0
    assert member.models == frozenset({"m0"})
    assert pool.expire(at(1e9)) == []


def test_a_static_instance_holds_its_address_and_its_id() -> None:
    pool = a_pool(an_instance("s", port=1, origin="static"))
    assert refused(pool, an_instance("other", port=1)).code == "address_taken"
    moved = refused(pool, an_instance("s", port=2))
    assert moved.code == "static_instance"
    assert "127.0.0.1:1" in moved.detail
    assert "127.0.0.1:2" in moved.detail


def test_a_server_that_is_configured_for_several_models_cannot_register_beside_them() -> None:
    pool = a_pool(
        an_instance("s-1", port=1, origin="static", model_override="m1"),
        an_instance("s-2", port=1, origin="static", model_override="m2"),
    )
    refusal = refused(pool, an_instance("other", port=1))
    assert refusal.code == "address_taken"
    assert "the static Instance s-1" in refusal.detail
    joined(pool, an_instance("other", port=1, base_path="/elsewhere"))
    joined(pool, an_instance("s-2", port=1))
    assert ids(pool) == ["s-1", "s-2", "other"]


def test_a_registered_instance_that_becomes_static_no_longer_expires() -> None:
    pool = a_pool(an_instance())
    joined(pool, an_instance(origin="static"))
    assert pool.expire(at(1e6)) == []
    assert pool.liveness(pool.members["i-1"], at(1e6)) == "alive"


def test_an_answered_probe_is_a_sign_of_life_of_a_static_instance_only() -> None:
    pool = a_pool(an_instance("s", port=1, origin="static"), an_instance("r", port=2))
    for member in pool.members.values():
        pool.note_probe(member, at(20.0))
    assert [view.age_s for view in pool.snapshot(at(25.0)).views] == [5.0, 25.0]


# Liveness


@pytest.mark.parametrize(
    ("silent_s", "expected"),
    [(0.0, "alive"), (30.0, "alive"), (30.1, "stale"), (90.0, "stale"), (90.1, "dead")],
)
def test_silence_makes_an_instance_stale_and_then_dead(silent_s: float, expected: str) -> None:
    pool = a_pool(an_instance())
    assert pool.liveness(pool.members["i-1"], at(silent_s)) == expected


def test_an_expiry_is_told_once_and_moves_the_version() -> None:
    pool = a_pool(an_instance())
    version = pool.version
    assert pool.next_expiry_mono_s == 30.0
    assert pool.expire(at(30.0)) == []
    assert pool.version == version
    assert pool.expire(at(31.0)) == [pool.members["i-1"]]
    assert pool.version == version + 1
    assert pool.expire(at(32.0)) == []
    assert list(pool.alive(at(32.0))) == []


def test_a_heartbeat_brings_an_expired_instance_back() -> None:
    pool = a_pool(an_instance())
    pool.expire(at(31.0))
    version = pool.version
    pool.heartbeat("i-1", at(40.0))
    assert pool.version > version
    assert pool.liveness(pool.members["i-1"], at(40.0)) == "alive"
    assert pool.expire(at(71.0)) == [pool.members["i-1"]]


def test_ordinary_heartbeats_leave_the_version_alone() -> None:
    pool = a_pool(an_instance())
    version = pool.version
    for second in range(1, 100, 10):
        pool.heartbeat("i-1", at(second), qps_1m=1.0)
        pool.expire(at(second))
    assert pool.version == version


def test_a_jump_of_the_wall_clock_expires_nobody() -> None:
    pool = a_pool(*(an_instance(f"i-{n}", port=n) for n in range(1, 4)), ttl_s=5.0)
    for second, wall_s in ((1, 0.0), (2, 3600.0), (3, -7200.0), (4, 1e12)):
        for instance_id in ids(pool):
            pool.heartbeat(instance_id, at(second, wall_s=wall_s))
        assert pool.expire(at(second, wall_s=wall_s)) == []
    taken = pool.snapshot(at(5, wall_s=-1e6))
    assert [view.age_s for view in taken.views] == [1.0, 1.0, 1.0]
    assert all(view.is_alive for view in taken.views)


def test_the_long_silent_are_reaped_and_leave_nothing_behind() -> None:
    pool = a_pool(an_instance("old", port=1))
    joined(pool, an_instance("new", port=2), at(500.0))
    version = pool.version
    assert pool.reap(at(600.0)) == []
    gone = pool.reap(at(601.0))
    assert [member.instance.instance_id for member in gone] == ["old"]
    assert ids(pool) == ["new"]
    assert pool.version > version
    joined(pool, an_instance("other", port=1), at(601.0))


# What Instances say


def test_an_unknown_heartbeat_is_news_once() -> None:
    pool = a_pool()
    first, second = (pool.heartbeat("ghost", START) for _ in range(2))
    assert (first.status, first.first_sight) == ("unknown_instance", True)
    assert (second.member, second.first_sight) == (None, False)
    joined(pool, an_instance("ghost"))
    pool.unregister("ghost")
    assert pool.heartbeat("ghost", START).first_sight


def test_loads_are_kept_until_others_come() -> None:
    pool = a_pool(an_instance())
    member = pool.members["i-1"]
    assert (member.qps_1m, member.gpu_util) == (None, None)
    pool.heartbeat("i-1", START, qps_1m=0.0, gpu_util=55.0)
    pool.heartbeat("i-1", START)
    assert (member.qps_1m, member.gpu_util) == (0.0, 55.0)


def test_a_matching_fingerprint_is_a_sign_of_life() -> None:
    pool = a_pool(an_instance(capabilities=capabilities()))
    member = pool.members["i-1"]
    known = member.instance.capability_fingerprint
    beat = pool.heartbeat("i-1", at(20.0), reported_fingerprint=known)
    assert beat.status == "ok"
    assert member.last_seen_mono_s == 20.0


def test_a_fingerprint_that_does_not_match_is_no_sign_of_life() -> None:
    pool = a_pool(an_instance(capabilities=capabilities()))
    member = pool.members["i-1"]
    beat = pool.heartbeat("i-1", at(20.0), qps_1m=9.0, reported_fingerprint="sha256:00")
    assert beat.status == "capability_fingerprint_mismatch"
    assert beat.expected_fingerprint == member.instance.capability_fingerprint
    assert (member.last_seen_mono_s, member.qps_1m) == (0.0, None)


def test_a_fingerprint_of_capabilities_never_given_is_unknown() -> None:
    pool = a_pool(an_instance())
    beat = pool.heartbeat("i-1", at(20.0), reported_fingerprint="sha256:00")
    assert (beat.status, beat.expected_fingerprint) == ("capability_fingerprint_unknown", None)


def test_a_snapshot_is_no_sign_of_life_while_the_fingerprint_is_in_doubt() -> None:
    pool = a_pool(an_instance())
    member = pool.members["i-1"]
    pool.heartbeat("i-1", at(1.0), reported_fingerprint="sha256:00")
    pool.report_resource("i-1", Resource(cpu_util=1.0), at(25.0))
    assert member.last_seen_mono_s == 0.0
    assert member.resource is not None
    assert pool.heartbeat("i-1", at(26.0), capabilities=capabilities()).changed
    pool.report_resource("i-1", Resource(cpu_util=2.0), at(27.0))
    assert member.last_seen_mono_s == 27.0


def test_full_capabilities_in_a_heartbeat_replace_the_known_ones() -> None:
    pool = a_pool(an_instance())
    pool.set_models("i-1", ["listed"])
    version = pool.version
    beat = pool.heartbeat("i-1", START, capabilities=capabilities(model={"identifier": "m1"}))
    assert (beat.status, beat.changed) == ("ok", True)
    assert pool.members["i-1"].models == frozenset({"m1"})
    assert pool.version > version
    again = pool.heartbeat("i-1", START, capabilities=capabilities(model={"identifier": "m1"}))
    assert not again.changed


def test_the_first_snapshot_is_told_from_the_later_ones() -> None:
    pool = a_pool(an_instance())
    first = pool.report_resource("i-1", Resource(), at(1.0))
    second = pool.report_resource("i-1", Resource(), at(2.0))
    assert (first.first_report, second.first_report) == (True, False)
    unknown = pool.report_resource("ghost", Resource(), at(2.0))
    assert (unknown.member, unknown.first_sight) == (None, True)


def test_a_list_of_models_is_news_when_it_differs() -> None:
    pool = a_pool(an_instance())
    assert pool.set_models("i-1", ["a", "b"])
    version = pool.version
    assert not pool.set_models("i-1", ["b", "a"])
    assert pool.version == version
    assert pool.set_models("i-1", None)
    assert not pool.set_models("ghost", ["a"])


def test_a_list_of_models_is_bounded() -> None:
    pool = a_pool(an_instance())
    pool.set_models("i-1", (f"m-{n}" for n in range(10 * MAX_MODELS)))
    models = pool.members["i-1"].models
    assert models is not None
    assert len(models) == MAX_MODELS


# After a restart


def test_a_restored_instance_counts_as_seen_now() -> None:
    pool = a_pool()
    outcome = pool.restore(an_instance(registered_wall_s=5.0), at(1_000.0))
    assert isinstance(outcome, Registration)
    assert outcome.member.instance.registered_wall_s == 5.0
    assert pool.liveness(outcome.member, at(1_030.0)) == "alive"


def test_what_the_configuration_names_is_not_restored_over() -> None:
    pool = a_pool(an_instance("s", port=1, origin="static", weight=2.0))
    same_id = pool.restore(an_instance("s", port=9), START)
    assert isinstance(same_id, Registration)
    assert same_id.member.instance.port == 1
    same_address = pool.restore(an_instance("i-1", port=1), START)
    assert isinstance(same_address, Refusal)
    assert "held by s" in same_address.detail


def test_the_willing_are_those_alive_that_take_new_requests() -> None:
    pool = a_pool(
        an_instance("i-1", port=1), an_instance("i-2", port=2), an_instance("i-3", port=3, weight=0)
    )
    pool.members["i-2"].draining = True
    assert [m.instance.instance_id for m in pool.willing(at(1.0))] == ["i-1"]
    assert list(pool.willing(at(1000.0))) == []
