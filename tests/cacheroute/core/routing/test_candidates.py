import pytest

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.instance import Instance
from cacheroute.core.pool_member import Member
from cacheroute.core.routing.candidates import Candidates, can_wait, has_room
from cacheroute.core.routing.filters import Sifted
from cacheroute.core.routing.selection import Chosen
from cacheroute.core.routing.strategies import RoundRobin
from cacheroute.core.routing.weights import Weights
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.core.routing.routing_builders import a_request


def candidates(*instances: Instance) -> Candidates:
    return Candidates(Sifted([Member(one) for one in instances], {"dead": ["gone"]}))


def turns(of: Candidates, count: int) -> list[str]:
    strategy = RoundRobin(Weights())
    served = []
    for _ in range(count):
        selection = strategy.select(a_request(), of, 0.0)
        assert isinstance(selection, Chosen)
        served.append(selection.member.instance.instance_id)
    return served


def test_room_is_what_a_cap_leaves() -> None:
    member = Member(an_instance(max_concurrent=2))
    member.inflight = 1
    assert has_room(member)
    member.inflight = 2
    assert not has_room(member)


def test_without_a_cap_there_is_always_room() -> None:
    member = Member(an_instance())
    member.inflight = 10_000
    assert has_room(member)


def test_one_may_wait_until_the_queue_is_full() -> None:
    member = Member(an_instance(max_concurrent=1))
    assert can_wait(member)
    board = member.queues = Board(QueueRules(max_queue=1), slots=1)
    assert board.enter(Ticket())
    assert can_wait(member)
    assert board.enter(Ticket())
    assert not can_wait(member)


def test_when_all_are_full_those_stay_whose_queues_are_not_and_in_the_end_everybody() -> None:
    all_ = candidates(an_instance("a", max_concurrent=1), an_instance("b", max_concurrent=1))
    a, b = all_.members
    a.inflight = b.inflight = 1
    assert all_.narrowed([]).members == [a, b]
    for member, expected in ((a, [b]), (b, [a, b])):
        board = member.queues = Board(QueueRules(max_queue=1), slots=1)
        assert [board.enter(Ticket()) for _ in range(2)] == [True, True]
        assert all_.narrowed([]).members == expected
    assert all_.narrowed([a]).members == [b]


def test_a_list_knows_whether_anybody_is_capped_and_whether_shares_differ() -> None:
    plain = candidates(an_instance("a"), an_instance("b"))
    assert (plain.is_capped, plain.is_even) == (False, True)
    mixed = candidates(an_instance("a", max_concurrent=1), an_instance("b", weight=2.0))
    assert (mixed.is_capped, mixed.is_even) == (True, False)


def test_a_list_is_narrowed_to_who_has_neither_failed_nor_filled_up() -> None:
    all_ = candidates(an_instance("a"), an_instance("b", max_concurrent=1), an_instance("c"))
    a, b, c = all_.members
    b.inflight = 1
    few = all_.narrowed([a])
    assert few.members == [c]
    assert few.sifted.skipped == {"dead": ["gone"]}
    assert all_.members == [a, b, c]
    assert all_.narrowed([a, c]).members == [b]
    assert len(all_.narrowed([a, b, c])) == 0


def test_turns_follow_the_weights() -> None:
    served = turns(candidates(an_instance("a"), an_instance("b", weight=3.0)), 40)
    assert served.count("a") == 10
    assert served.count("b") == 30


@pytest.mark.parametrize("weights", [(1.0, 2.0, 5.0), (0.3, 1.1, 0.7), (10.0, 1.0, 1.0)])
def test_shares_are_never_more_than_a_request_or_two_off(weights: tuple[float, ...]) -> None:
    of = candidates(*(an_instance(str(n), weight=w) for n, w in enumerate(weights)))
    counts = dict.fromkeys("012", 0)
    for served, instance_id in enumerate(turns(of, 500), 1):
        counts[instance_id] += 1
        for index, weight in enumerate(weights):
            due = served * weight / sum(weights)
            assert abs(counts[str(index)] - due) < 2, (served, counts)
