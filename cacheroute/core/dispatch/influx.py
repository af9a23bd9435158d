"""How many more requests will come: the rate of the last arrivals, carried on.

Expected within T seconds: remembered arrivals x T / time since the oldest of them, but never
more than are remembered, so that a burst is not taken for a rate that lasts.
"""

from collections import deque

REMEMBERED = 32
"""Arrivals that the rate is worked out from."""
FEWEST = 4
"""With fewer arrivals than this, none are expected."""


class Influx:
    """When the last requests of one kind were placed on one Instance."""

    __slots__ = ("_came_s",)

    def __init__(self) -> None:
        self._came_s: deque[float] = deque(maxlen=REMEMBERED)

    def came(self, now_mono_s: float) -> None:
        """Note an arrival."""
        self._came_s.append(now_mono_s)

    def expected(self, now_mono_s: float, within_s: float) -> float:
        """Return how many are expected to come within so many seconds."""
        came_s = self._came_s
        if len(came_s) < FEWEST or within_s <= 0:
            return 0.0
        return len(came_s) * within_s / max(within_s, now_mono_s - came_s[0])
