"""Finds the Member of a list that costs least, without weighing all of them for each request.

A cost that does not change with time is kept exactly. One that does is exact for the moment at
which it was weighed; after that only a lower bound of it is kept (see `drift`), and the Member
is weighed again only when its bound says that it might cost least.
"""

import math
from collections.abc import Callable, Collection

from cacheroute.core.pool_member import Member
from cacheroute.core.pressure import Course, Trend
from cacheroute.core.routing.drift import Drift
from cacheroute.core.routing.minima import Minima

_WIDEST_BAND = 8
"""Weights above 2 to this power, or below 2 to minus this power, share one band."""
_SHORT = 4
"""In a list no longer than this, weighing all again is faster than keeping bounds."""


def _nothing_moves(member: Member, now_s: float) -> None:
    del member, now_s


class Ranks(Minima):
    """Costs by index, for a fixed list of Members.

    The cost is infinite for a Member that has another standing (see `tiers`), and for one of
    which only a lower bound is known, until `look` finds that it might cost least.
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
        """Weighs a Member at a moment, and enters its cost in every list it is in."""
        self._speed = speed
        """What a second of backlog costs on an Instance of weight 1."""
        self.is_moving = False
        """Whether a cost may change with time, so that each choice begins with `look`."""
        self._fresh: dict[int, Course] = {}
        """Those whose costs change with time and are exact for the moment of their weighing."""
        self._drift_of: dict[int, Drift] = {}
        """Those of which only a lower bound is known, each with the drift that holds it."""
        self._drifts: dict[tuple[int, Trend], Drift] = {}
        """By band of weights, since a cost is divided by the weight and so is its speed."""
        self._bands: list[int] = []
        self._due = Minima([])
        """When each has to be weighed again, whatever it costs."""
        self._passed_over: list[int] = []
        """Those that would have been chosen, had they not been left out."""

    def put_moving(self, index: int, cost: float, course: Course | None) -> None:
        """Set what a Member costs, and how that goes on; None when it does not change by itself."""
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
        """Remove a Member."""
        self.put_moving(index, math.inf, None)

    def choose(
        self, now_s: float, start: int = 0, *, beside: int | None = None, out: Collection[int] = ()
    ) -> tuple[float, int]:
        """Return the least cost now and its index, of those that are not left `out`.

        Ties go as in `least_from`. With `beside`, after such a choice: the next best, as in
        `Minima.beside`. One that is left out and would have been chosen is removed until
        `take_back`.
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
        """Enter those again that a choice has removed because they were left out."""
        while self._passed_over:
            self._weigh(self._members[self._passed_over.pop()], now_s)

    def look(self, now_s: float, beside: int | None = None) -> None:
        """Weigh until the least cost now is exact, and so are those equal to it.

        With `beside`, after such a look: the least cost of all but that one.
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
        """Turn costs of an earlier moment into bounds, and weigh those that are due."""
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
        """Return the cost per second that bounds a whole band: slowest rise or fastest fall."""
        weights = [m.weight for m, b in zip(self._members, self._bands, strict=True) if b == band]
        return self._speed / max(weights) if trend == "rising" else -self._speed / min(weights)


def _band(weight: float) -> int:
    """Return the exponent of a weight: within a band, weights differ by less than a factor of 2."""
    return max(-_WIDEST_BAND, min(_WIDEST_BAND, math.frexp(weight)[1]))
