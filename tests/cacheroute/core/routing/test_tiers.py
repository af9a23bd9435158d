"""Who has room and who has not, as events tell it."""

import math

import pytest

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.instance import Instance
from cacheroute.core.pool_member import Member
from cacheroute.core.routing.ranks import Ranks
from cacheroute.core.routing.tiers import FULL, ROOM, WAIT, Tiers, look
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.core.routing.routing_builders import instances

OUT = math.inf


def a_member(max_concurrent: int | None = None) -> Member:
    return Member(an_instance(max_concurrent=max_concurrent))


def tiers_of(*fleet: Instance) -> Tiers:
    """A list whose Members have the numbers 1, 2, 3, and that hears of them."""
    tiers = Tiers([Member(one) for one in fleet])
    count = len(fleet)
    tiers.fill(range(1, count + 1), lambda apart: Ranks(tiers.members, apart))
    tiers.follow()
    return tiers


def numbers(tiers: Tiers) -> list[list[float]]:
    """All numbers, by standing."""
    return [[ranks[index] for index in range(len(ranks))] for ranks in tiers.ranks]


def standing_of(member: Member) -> int:
    look(member)
    return member.standing


def test_room_is_what_a_cap_leaves() -> None:
    member = a_member(max_concurrent=2)
    member.inflight = 1
    assert standing_of(member) == ROOM
    member.inflight = 2
    assert standing_of(member) == WAIT


def test_without_a_cap_there_is_always_room() -> None:
    member = a_member()
    member.inflight = 10_000
    assert standing_of(member) == ROOM


def test_one_may_wait_until_the_queue_is_full() -> None:
    member = a_member(max_concurrent=1)
    member.inflight = 1
    board = member.queues = Board(QueueRules(max_queue=1), slots=1)
    assert board.enter(Ticket())
    assert standing_of(member) == WAIT
    waiting = Ticket()
    assert board.enter(waiting)
    assert standing_of(member) == FULL
    board.gone(waiting)
    assert standing_of(member) == WAIT


def test_a_place_that_is_handed_to_a_waiter_is_no_room() -> None:
    member = a_member(max_concurrent=1)
    member.inflight = 2
    assert standing_of(member) == WAIT
    member.inflight = 1
    assert standing_of(member) == WAIT


def test_a_list_knows_whether_anybody_is_capped_and_whether_shares_differ() -> None:
    plain = tiers_of(*instances(2))
    assert (plain.is_capped, plain.is_even) == (False, True)
    mixed = tiers_of(an_instance("a", max_concurrent=1), an_instance("b", weight=2.0))
    assert (mixed.is_capped, mixed.is_even) == (True, False)


def test_who_fills_up_leaves_the_ranks_of_those_with_room_in_every_list() -> None:
    tiers = tiers_of(*instances(3, max_concurrent=1))
    member = tiers.members[1]
    others = Tiers([member])
    others.fill([7.0], lambda apart: Ranks([member], apart))
    others.follow()
    member.inflight = 1
    look(member)
    assert numbers(tiers) == [[1, OUT, 3], [OUT] * 3, [OUT] * 3]
    assert numbers(others) == [[OUT], [OUT], [OUT]]
    assert (tiers.best(), others.best()) == ((ROOM, 2), (WAIT, 1))
    tiers.put(1, 5.0)
    assert numbers(tiers) == [[1, OUT, 3], [OUT, 5, OUT], [OUT] * 3]
    member.inflight = 0
    look(member)
    tiers.put(1, 2.0)
    assert numbers(tiers) == [[1, 2, 3], [OUT] * 3, [OUT] * 3]
    assert (tiers.best(), others.best()) == ((ROOM, 3), (ROOM, 1))


def test_a_list_begins_with_everybody_where_he_stands() -> None:
    members = [Member(one) for one in instances(2, max_concurrent=1)]
    members[0].inflight = 1
    tiers = Tiers(members)
    tiers.fill([1.0, 2.0], lambda apart: Ranks(members, apart))
    assert numbers(tiers) == [[OUT, 2], [1, OUT], [OUT] * 2]


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        ([], (ROOM, 1)),
        ([0], (ROOM, 1)),
        ([2], (WAIT, 1)),
        ([1, 2], (FULL, 1)),
        ([0, 1, 2], (FULL, 0)),
    ],
)
def test_when_all_are_full_those_count_whose_queues_are_not_and_in_the_end_everybody(
    out: list[int], expected: tuple[int, int]
) -> None:
    full, queued, _ = members = [Member(one) for one in instances(3, max_concurrent=1)]
    full.inflight = queued.inflight = 1
    board = full.queues = Board(QueueRules(max_queue=1), slots=1)
    assert [board.enter(Ticket()) for _ in range(2)] == [True, True]
    assert Tiers(members).best(out) == expected


def test_of_some_few_members_those_are_found_that_are_in_the_list() -> None:
    tiers = tiers_of(*instances(4))
    stranger, (_, b, _, d) = a_member(), tiers.members
    assert tiers.indexes([d, stranger, b, d]) == [3, 1]
    assert tiers.indexes([]) == []
