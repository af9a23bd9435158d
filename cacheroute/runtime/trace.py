"""When what happened to one Scheduler's request, in the names that its clients read.

Moments are whole milliseconds since the epoch. They are counted from the arrival on the
monotonic clock, so a clock that is set while a request runs does not bend its story; and what
is not known has no key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping


class Trace:
    """The story of one request so far."""

    __slots__ = ("_arrived_mono_s", "_arrived_wall_s", "values")

    def __init__(self, arrived_mono_s: float, arrived_wall_s: float) -> None:
        self._arrived_mono_s = arrived_mono_s
        self._arrived_wall_s = arrived_wall_s
        self.values: dict[str, int | str] = {"proxy_recv_ms": int(arrived_wall_s * 1000)}

    def mark(self, name: str, at_mono_s: float) -> None:
        """Note when something happened."""
        wall_s = self._arrived_wall_s + (at_mono_s - self._arrived_mono_s)
        self.values[name] = int(wall_s * 1000)

    def between(self, earlier: str, later: str) -> int | None:
        """Return the ms between two moments; of noted ones, so that parts add up to the whole."""
        from_ms, to_ms = self.values.get(earlier), self.values.get(later)
        if not isinstance(from_ms, int) or not isinstance(to_ms, int):
            return None
        return to_ms - from_ms

    def put(self, name: str, value: float | str | None) -> None:
        """Note a fact: a number becomes a whole one, and what is not known no key."""
        if isinstance(value, str):
            self.values[name] = value
        elif value is not None and math.isfinite(value):
            self.values[name] = int(value)

    def put_all(self, facts: Mapping[str, float | str | None]) -> None:
        """Note several facts."""
        for name, value in facts.items():
            self.put(name, value)
