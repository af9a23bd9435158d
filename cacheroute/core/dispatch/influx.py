"""How many more will come: as many in a time as have come in as long a one.

No more are expected than are remembered, so a burst is not taken for a rate that goes on.
"""

from collections import deque

REMEMBERED = 32
FEWEST = 4
"""Fewer tell nothing."""


class Influx:
    """The last requests with knowledge that were placed on one Instance."""

    __slots__ = ("_came_s",)

    def __init__(self) -> None:
        self._came_s: deque[float] = deque(maxlen=REMEMBERED)

    def came(self, now_mono_s: float) -> None:
        """One has come."""
        self._came_s.append(now_mono_s)

    def expected(self, now_mono_s: float, within_s: float) -> float:
        """Return how many are expected to come within so many seconds."""
        came_s = self._came_s
        if len(came_s) < FEWEST or within_s <= 0:
            return 0.0
        return len(came_s) * within_s / max(within_s, now_mono_s - came_s[0])
