"""The owner of all state: each call is a whole step, at a time that is handed in."""

import logging

import pytest

from cacheroute.core.health.ejection import Ejections
from cacheroute.core.routing.selection import NoInstance
from cacheroute.runtime.proxy import Proxy
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.core.routing.routing_builders import a_request, instances
from tests.cacheroute.runtime.runtime_parts import a_proxy, member_of, placed


def served(proxy: Proxy, count: int) -> list[str]:
    """Serve some requests one after another; who got them."""
    ids = []
    for _ in range(count):
        placement = placed(proxy, a_request())
        ids.append(placement.member.instance.instance_id)
        proxy.release(placement)
    return ids


def test_a_place_is_a_lease_and_is_given_back_once() -> None:
    proxy, clock = a_proxy(*instances(1))
    first, second = placed(proxy, a_request()), placed(proxy, a_request())
    assert first.placed_mono_s == clock.mono_s
    assert first.member.inflight == 2
    proxy.release(first)
    proxy.release(first)
    assert first.member.inflight == 1
    proxy.release(second)
    assert first.member.inflight == 0


def test_every_selection_is_recorded_with_its_attempt() -> None:
    proxy, _ = a_proxy(*instances(2), strategy="least_load")
    first = placed(proxy, a_request())
    placed(proxy, a_request(), (first.member,), 2)
    newest, oldest = proxy.decisions.last(5)
    assert (oldest.attempt, oldest.instance_id, oldest.strategy) == (1, "i-1", "least_load")
    assert (newest.attempt, newest.instance_id) == (2, "i-2")


def test_that_nobody_could_be_chosen_is_recorded_with_the_reason() -> None:
    proxy, _ = a_proxy()
    nobody = proxy.place(a_request())
    assert isinstance(nobody, NoInstance)
    (decision,) = proxy.decisions.last(1)
    assert decision.instance_id is None
    assert decision.reason == nobody.reason == "No Instance is registered."


def test_silence_is_noticed_by_the_next_request(caplog: pytest.LogCaptureFixture) -> None:
    proxy, clock = a_proxy(*instances(2))
    clock.wait(20.0)
    proxy.pool.heartbeat("i-2", clock.now())
    served(proxy, 2)
    clock.wait(10.5)
    assert served(proxy, 3) == ["i-2"] * 3
    assert [r.getMessage() for r in caplog.records] == ["instance.expired instance_id=i-1"]


def test_a_wall_clock_that_jumps_changes_nothing() -> None:
    proxy, clock = a_proxy(*instances(1))
    clock.wall_s += 1e6
    assert served(proxy, 1) == ["i-1"]
    clock.wall_s -= 1e8
    assert served(proxy, 1) == ["i-1"]


def test_failures_bring_a_rest_and_its_end_a_trial(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "cacheroute.pool")
    proxy, clock = a_proxy(*instances(2))
    failing = member_of(proxy, "i-1")
    for _ in range(3):
        proxy.failed(failing, "boom")
    assert served(proxy, 4) == ["i-2"] * 4
    clock.wait(1.0)
    trial = placed(proxy, a_request())
    while trial.member is not failing:
        proxy.release(trial)
        trial = placed(proxy, a_request())
    assert served(proxy, 4) == ["i-2"] * 4
    proxy.succeeded(failing)
    proxy.release(trial)
    assert set(served(proxy, 2)) == {"i-1", "i-2"}
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "instance.rests instance_id=i-1 seconds=1 reason=boom",
        "instance.back instance_id=i-1",
    ]


def test_when_all_rest_the_fleet_is_tried_rather_than_refused() -> None:
    proxy, _ = a_proxy(*instances(2))
    for member in proxy.pool.members.values():
        for _ in range(3):
            proxy.failed(member, "boom")
    assert set(served(proxy, 4)) == {"i-1", "i-2"}


def test_a_pause_that_was_asked_for_is_kept_and_over_in_time() -> None:
    proxy, clock = a_proxy(*instances(2))
    proxy.pressed(member_of(proxy, "i-1"), 7.0)
    assert served(proxy, 4) == ["i-2"] * 4
    clock.wait(7.0)
    assert set(served(proxy, 2)) == {"i-1", "i-2"}


def test_a_trial_that_says_nothing_lets_another_one_try() -> None:
    proxy, clock = a_proxy(*instances(1))
    member = member_of(proxy, "i-1")
    for _ in range(3):
        proxy.failed(member, "boom")
    clock.wait(1.0)
    proxy.release(placed(proxy, a_request()))
    assert Ejections.is_resting(member)
    proxy.unjudged(member)
    assert not Ejections.is_resting(member)


def test_ordinary_outcomes_leave_the_lists_of_routing_alone() -> None:
    """A change of version makes every list anew: that must not happen with every request."""
    proxy, _ = a_proxy(*instances(2))
    member = member_of(proxy, "i-1")
    before = proxy.pool.version
    served(proxy, 4)
    proxy.succeeded(member)
    proxy.unjudged(member)
    proxy.failed(member, "once")
    assert proxy.pool.version == before


def test_counters_are_kept_by_instance_and_once_for_nobody() -> None:
    proxy, _ = a_proxy(*instances(2))
    one = proxy.tally(member_of(proxy, "i-1"))
    assert proxy.tally(member_of(proxy, "i-1")) is one
    assert proxy.tally(member_of(proxy, "i-2")) is not one
    assert proxy.tally(None) is proxy.nowhere
    proxy.forget(member_of(proxy, "i-1"))
    assert set(proxy.tallies) == {member_of(proxy, "i-2")}


def test_one_that_left_while_at_rest_is_waited_for_no_longer() -> None:
    proxy, clock = a_proxy(*instances(2))
    member = member_of(proxy, "i-1")
    proxy.pressed(member, 60.0)
    proxy.pool.unregister("i-1")
    proxy.forget(member)
    clock.wait(100.0)
    proxy.pool.heartbeat("i-2", clock.now())
    assert served(proxy, 2) == ["i-2"] * 2
    assert proxy.ejections.next_return_mono_s == float("inf")


@pytest.mark.parametrize("strategy", ["round_robin", "least_load"])
def test_an_operator_can_take_one_out_by_its_weight_while_requests_run(strategy: str) -> None:
    proxy, clock = a_proxy(*instances(2), strategy=strategy)
    placements = [placed(proxy, a_request()) for _ in range(4)]
    proxy.pool.register(an_instance("i-1", port=9001, weight=0.0), clock.now())
    for placement in placements:
        proxy.release(placement)
    assert served(proxy, 3) == ["i-2"] * 3
    assert member_of(proxy, "i-1").inflight == 0
