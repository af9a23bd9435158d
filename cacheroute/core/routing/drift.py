"""Costs that move with time, by what they cannot be less than.

A backlog wears off by a second a second at most, and behind a first token that is overdue
it grows by as much. So who is ahead among costs of one speed stays ahead, whenever one asks:
each is kept as its cost at time zero, and no entry changes by the passing of time.
"""

import math

from cacheroute.core.routing.minima import Minima

_SLACK_S = 1e-5
"""More than rounding can make of a backlog, and too little to let anybody in for nothing."""
_SLACK_RATIO = 1e-9


class Drift(Minima):
    """Those of a list whose costs change at one speed, or fall more slowly, or rise faster."""

    __slots__ = ("_slack", "_speed")

    def __init__(self, count: int, speed: float) -> None:
        super().__init__([math.inf] * count)
        self._speed = speed
        """In cost per second."""
        self._slack = abs(speed) * _SLACK_S

    def enter(self, index: int, cost: float, at_s: float) -> None:
        """Take one in that cost so much at a moment."""
        self.put(index, cost - self._speed * at_s - self._slack - cost * _SLACK_RATIO)

    def leave(self, index: int) -> None:
        """Take one out."""
        self.put(index, math.inf)

    def floor(self, now_s: float) -> float:
        """Return what none of them costs less than now; infinite when nobody is here."""
        return min(self._leasts) + self._speed * now_s
