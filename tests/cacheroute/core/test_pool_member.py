"""Members and the leases on them."""

from cacheroute.core.pool_member import Lease, Member
from tests.cacheroute.core.pool_builders import an_instance


def test_a_lease_counts_until_it_is_given_back() -> None:
    member = Member(an_instance())
    first, second = Lease(member), Lease(member)
    assert member.inflight == 2
    first.release()
    assert member.inflight == 1
    assert not first.held
    assert second.held


def test_a_lease_is_given_back_once() -> None:
    member = Member(an_instance())
    Lease(member)
    lease = Lease(member)
    lease.release()
    lease.release()
    assert member.inflight == 1


def test_models_are_unknown_until_somebody_names_one() -> None:
    assert Member(an_instance()).models is None


def test_models_are_the_declared_and_the_listed_ones() -> None:
    member = Member(an_instance(models=frozenset({"/weights/llama"})))
    assert member.models == frozenset({"/weights/llama"})
    member.probed_models = frozenset({"llama"})
    assert member.models == frozenset({"/weights/llama", "llama"})


def test_listed_models_stand_alone_when_none_were_declared() -> None:
    member = Member(an_instance())
    member.probed_models = frozenset()
    assert member.models == frozenset()


def test_what_waits_for_a_member_is_unknown_until_something_is_queued() -> None:
    assert Member(an_instance()).queues is None


def test_a_member_shows_its_load() -> None:
    assert repr(Member(an_instance("i-7"))) == "<Member i-7 0 inflight>"
