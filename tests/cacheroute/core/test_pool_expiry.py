"""Who falls silent next."""

import math

from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.pool_expiry import ExpiryQueue
from cacheroute.core.pool_member import Member
from tests.cacheroute.core.pool_builders import an_instance, at

TTL_S = 30.0


def a_member(instance_id: str = "i-1", *, seen_s: float = 0.0) -> Member:
    member = Member(an_instance(instance_id))
    member.last_seen_mono_s = seen_s
    return member


def test_an_empty_queue_is_never_due() -> None:
    assert ExpiryQueue(TTL_S).next_mono_s == math.inf


def test_a_member_is_due_just_after_its_ttl() -> None:
    queue, member = ExpiryQueue(TTL_S), a_member()
    assert queue.watch(member)
    assert queue.due(at(30.0)) == []
    assert queue.due(at(30.001)) == [member]
    assert not member.watched
    assert queue.next_mono_s == math.inf


def test_a_member_is_scheduled_once() -> None:
    queue, member = ExpiryQueue(TTL_S), a_member()
    assert queue.watch(member)
    assert not queue.watch(member)
    assert len(queue) == 1
    assert queue.due(at(31.0)) == [member]
    assert queue.due(at(99.0)) == []


def test_a_member_that_spoke_since_is_put_back() -> None:
    queue, member = ExpiryQueue(TTL_S), a_member()
    queue.watch(member)
    member.last_seen_mono_s = 20.0
    assert queue.due(at(31.0)) == []
    assert queue.next_mono_s == 50.0
    assert queue.due(at(51.0)) == [member]


def test_a_member_that_left_is_never_due() -> None:
    queue, member = ExpiryQueue(TTL_S), a_member()
    queue.watch(member)
    queue.unwatch(member)
    queue.unwatch(member)
    assert len(queue) == 0
    assert queue.due(at(99.0)) == []


def test_members_that_come_and_go_leave_no_trace() -> None:
    queue, staying = ExpiryQueue(TTL_S), a_member("stays")
    queue.watch(staying)
    for n in range(1_000):
        member = a_member(f"i-{n}")
        queue.watch(member)
        queue.unwatch(member)
    assert len(queue) == 1
    assert len(queue._heap) < 100
    assert queue.due(at(31.0)) == [staying]


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 40)), max_size=60))
def test_nobody_expires_early_and_nobody_is_missed(steps: list[tuple[int, float]]) -> None:
    queue = ExpiryQueue(TTL_S)
    members = [a_member(f"i-{n}") for n in range(5)]
    now_s = 0.0
    for number, pause_s in steps:
        now_s += pause_s
        for silent in queue.due(at(now_s)):
            assert silent.last_seen_mono_s + TTL_S < now_s
        for member in members:
            assert not member.watched or now_s <= member.last_seen_mono_s + TTL_S
        members[number].last_seen_mono_s = now_s
        queue.watch(members[number])
        assert queue.next_mono_s <= min(m.last_seen_mono_s + TTL_S for m in members if m.watched)
