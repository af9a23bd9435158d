"""What the Members of one list cost, as far as it takes to know who costs least.

A cost that stands still is known. One that moves with time is known for the moment at which
it was weighed; after that only a floor under it is (see `drift`), and it is weighed again
when the floor says that it might be the least. Everybody else can be as dear as he likes.
"""

import math
from collections.abc import Callable, Collection

from cacheroute.core.pool_member import Member
from cacheroute.core.pressure import Course, Trend
from cacheroute.core.routing.drift import Drift
from cacheroute.core.routing.minima import Minima

_WIDEST_BAND = 8
"""Weights beyond two to this power, either way, are held together with those at it."""
_SHORT = 4
"""So many are weighed anew faster than floors are kept for them."""


def _nothing_moves(member: Member, now_s: float) -> None:
    del member, now_s


class Ranks(Minima):
    """Costs by index, for a list of Members that stays as it is.

    Whoever is not here costs infinitely much. The cost of one of whom only a floor is known
    stands as infinite, until a `look` finds that it may be the least.
    """

    __slots__ = (
        "_bands", "_drift_of", "_drifts", "_due", "_fresh", "_members", "_passed_over", "_speed",
        "_weigh", "is_moving",
    )  # fmt: skip

    def __init__(
        self,
        members: list[Member],
        costs: list[float],
        weigh: Callable[[Member, float], None] = _nothing_moves,
        speed: float = 0.0,
    ) -> None:
        super().__init__(costs)
        self._members = members
        self._weigh = weigh
        """Weighs a Member at a moment, and says so to every list it is in."""
        self._speed = speed
        """What a second of backlog costs on an Instance of weight 1."""
        self.is_moving = False
        """Whether there may be costs that change by themselves, so that one has to `look`."""
        self._fresh: dict[int, Course] = {}
        """Those that move and are known, each for the moment at which it was weighed."""
        self._drift_of: dict[int, Drift] = {}
        """Those that move and are not known, each with the drift that holds its floor."""
        self._drifts: dict[tuple[int, Trend], Drift] = {}
        """By band of weights, since the heavier an Instance, the more slowly its cost moves."""
        self._bands: list[int] = []
        self._due = Minima([])
        """When each has to be weighed again, whatever it costs."""
        self._passed_over: list[int] = []
        """Those that would have been chosen, had they not been left out."""

    def put_moving(self, index: int, cost: float, course: Course | None) -> None:
        """Note what one with queues costs, and how that goes on; None is for not at all."""
        self.put(index, cost)
        if not self.is_moving:
            if course is None:
                return
            self._begin()
        drift = self._drift_of.pop(index, None)
        if drift is not None:
            drift.leave(index)
        if course is None:
            self._fresh.pop(index, None)
            until_s = math.inf
        else:
            self._fresh[index] = course
            until_s = course.until_s
        if self._due[index] != until_s:
            self._due.put(index, until_s)

    def leave(self, index: int) -> None:
        """Take one out."""
        self.put_moving(index, math.inf, None)

    def choose(
        self, now_s: float, start: int = 0, *, beside: int | None = None, out: Collection[int] = ()
    ) -> tuple[float, int]:
        """Return the least cost now and its index, as `least_from` does, but for those left out.

        With `beside`, after such a choice, the next best, as `Minima.beside` has it. Whoever is
        left out and would have been it has gone until `take_back`.
        """
        while True:
            if self.is_moving:
                self.look(now_s, beside)
            least, index = self.least_from(start) if beside is None else self.beside(beside)
            if index not in out:
                return least, index
            self._passed_over.append(index)
            self.leave(index)

    def take_back(self, now_s: float) -> None:
        """Take those in again that a choice has passed over."""
        while self._passed_over:
            self._weigh(self._members[self._passed_over.pop()], now_s)

    def look(self, now_s: float, beside: int | None = None) -> None:
        """Make sure that whoever costs least now is known, with all that tie.

        With `beside`, after such a look, whoever costs least but for that one.
        """
        members, weigh = self._members, self._weigh
        if beside is None:
            self._move_on(now_s)
        least = self.least() if beside is None else self.beside(beside)[0]
        for drift in self._drifts.values():
            while least >= drift.floor(now_s) < math.inf:
                index = drift.least_from(0)[1]
                self._drift_of.pop(index).leave(index)
                weigh(members[index], now_s)
                least = min(least, self[index])

    def _move_on(self, now_s: float) -> None:
        """Give up what was known of another moment, and weigh those whose time has come."""
        members, weigh = self._members, self._weigh
        past = [index for index, course in self._fresh.items() if course.at_s != now_s]
        if len(members) <= _SHORT:
            for index in past:
                weigh(members[index], now_s)
            return
        for index in past:
            self._let_drift(index)
        due = self._due
        while (first := due.least_from(0))[0] <= now_s:
            due.put(first[1], math.inf)
            weigh(members[first[1]], now_s)

    def _begin(self) -> None:
        self.is_moving = True
        self._due = Minima([math.inf] * len(self))
        self._bands = [_band(member.weight) for member in self._members]

    def _let_drift(self, index: int) -> None:
        course = self._fresh.pop(index)
        key = (self._bands[index], course.trend)
        drift = self._drifts.get(key)
        if drift is None:
            drift = self._drifts[key] = Drift(len(self), self._speed_of(*key))
        drift.enter(index, self[index], course.at_s)
        self._drift_of[index] = drift
        self.put(index, math.inf)

    def _speed_of(self, band: int, trend: Trend) -> float:
        """Return the speed of those in a band: of the one whose cost becomes the least."""
        weights = [m.weight for m, b in zip(self._members, self._bands, strict=True) if b == band]
        return self._speed / max(weights) if trend == "rising" else -self._speed / min(weights)


def _band(weight: float) -> int:
    """Return the same for weights within a factor of two, which may share a drift."""
    return max(-_WIDEST_BAND, min(_WIDEST_BAND, math.frexp(weight)[1]))
