"""Lower bounds of costs that change with time.

A backlog falls by at most one second per second, and while a first token is overdue it rises
by one second per second. Costs that change at one speed keep their order. So each is kept as
its value at time zero, cost - speed x time: the least is found for any moment, and no entry
has to be updated as time passes.
"""

import math

from cacheroute.core.routing.minima import Minima

_SLACK_S = 1e-5
"""Taken off each bound, in seconds of backlog: more than rounding errors come to, and too little
to have Members weighed for nothing."""
_SLACK_RATIO = 1e-9
"""Taken off as well, as a share of the cost: rounding errors grow with it."""


class Drift(Minima):
    """Lower bounds for the Members of a list whose costs change at one speed.

    A cost that falls more slowly than that, or rises faster, is never below its bound either.
    """

    __slots__ = ("_slack", "_speed")

    def __init__(self, count: int, speed: float) -> None:
        super().__init__([math.inf] * count)
        self._speed = speed
        """In cost per second."""
        self._slack = abs(speed) * _SLACK_S

    def enter(self, index: int, cost: float, at_s: float) -> None:
        """Add a Member by what it cost at a moment."""
        self.put(index, cost - self._speed * at_s - self._slack - cost * _SLACK_RATIO)

    def leave(self, index: int) -> None:
        """Remove a Member."""
        self.put(index, math.inf)

    def floor(self, now_s: float) -> float:
        """Return what none of them costs less than now; infinite when there is none."""
        return min(self._leasts) + self._speed * now_s
