"""What has to be weighed to know who costs least."""

import math

from cacheroute.core.pool_member import Member
from cacheroute.core.pressure import Course, Trend
from cacheroute.core.routing.ranks import Ranks
from tests.cacheroute.core.routing.routing_builders import instances

NEVER = math.inf


class Lined:
    """Ranks over costs that are written down: `a + b * now`, and who was asked for his."""

    def __init__(self, *lines: tuple[float, float], weight: float = 1.0) -> None:
        self.lines = list(lines)
        self.members = [Member(one) for one in instances(len(lines), weight=weight)]
        self.weighed: list[int] = []
        self.until_s = [NEVER] * len(lines)
        self.ranks = Ranks(self.members, [0.0] * len(lines), self.weigh, 1.0)
        for member in self.members:
            self.weigh(member, 0.0)

    def weigh(self, member: Member, now_s: float) -> None:
        """Say what one costs."""
        index = self.members.index(member)
        at_zero, speed = self.lines[index]
        course = None
        if speed:
            trend: Trend = "rising" if speed > 0 else "falling"
            course = Course(now_s, trend, self.until_s[index])
        self.weighed.append(index)
        self.ranks.put_moving(index, at_zero + speed * now_s, course)

    def least(self, now_s: float) -> tuple[float, int]:
        """Say who costs least."""
        self.weighed.clear()
        if self.ranks.is_moving:
            self.ranks.look(now_s)
        return self.ranks.least_from(0)


def test_where_nothing_moves_nobody_is_weighed() -> None:
    lined = Lined((3.0, 0.0), (2.0, 0.0), (4.0, 0.0), (4.0, 0.0), (4.0, 0.0))
    assert not lined.ranks.is_moving
    assert lined.least(100.0) == (2.0, 1)
    assert lined.weighed == []


def test_only_who_may_be_the_least_is_weighed_again() -> None:
    lined = Lined((10.0, -1.0), (20.0, -1.0), (30.0, -1.0), (9.0, 1.0), (8.5, 0.0))
    assert lined.least(1.0) == (8.5, 4)
    assert lined.weighed == []
    assert lined.least(2.0) == (8.0, 0)
    assert lined.weighed == [0]
    assert lined.least(7.0) == (3.0, 0)
    assert lined.weighed == [0]


def test_at_the_same_moment_nobody_is_weighed_twice() -> None:
    lined = Lined(*[(10.0, -1.0)] * 6)
    assert lined.least(1.0) == (9.0, 0)
    assert sorted(lined.weighed) == [0, 1, 2, 3, 4, 5]
    assert lined.least(1.0) == (9.0, 0)
    assert lined.weighed == []


def test_one_that_falls_less_than_it_might_is_weighed_when_it_might_be_the_least() -> None:
    lined = Lined((5.0, 0.0), (9.0, -0.01), (20.0, 0.0), (20.0, 0.0), (20.0, 0.0))
    times = 0
    for now_s in range(1, 13):
        assert lined.least(float(now_s)) == (5.0, 0)
        times += len(lined.weighed)
    assert times == 3


def test_one_whose_time_has_come_is_weighed_whatever_it_costs() -> None:
    lined = Lined((5.0, 0.0), (90.0, 0.0), (20.0, 0.0), (20.0, 0.0), (20.0, 0.0))
    lined.until_s[1] = 3.0
    lined.lines[1] = (90.0, -1.0)
    lined.weigh(lined.members[1], 0.0)
    lined.lines[1] = (1.0, 0.0)
    assert lined.least(2.9) == (5.0, 0)
    assert lined.least(3.0) == (1.0, 1)


def test_a_short_list_is_weighed_whole() -> None:
    lined = Lined((10.0, -1.0), (20.0, -1.0), (8.5, 0.0))
    assert lined.least(1.0) == (8.5, 2)
    assert lined.weighed == [0, 1]


def test_the_next_best_is_looked_for_beside_the_best() -> None:
    lined = Lined((10.0, -1.0), (11.0, -1.0), (30.0, -1.0), (30.0, -1.0), (30.0, -1.0))
    assert lined.least(1.0) == (9.0, 0)
    lined.ranks.look(1.0, beside=0)
    assert lined.ranks.beside(0) == (10.0, 1)
    assert lined.weighed == [0, 1]


def test_the_heavier_move_more_slowly_and_are_held_to_that() -> None:
    lined = Lined((5.0, 0.0), *[(6.0 + n, -0.25) for n in range(6)], weight=4.0)
    for now_s in (1.0, 2.0, 3.0):
        assert lined.least(now_s) == (5.0, 0)
        assert lined.weighed == []
    assert lined.least(5.0) == (4.75, 1)
    assert lined.weighed == [1]
