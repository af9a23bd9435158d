"""What a pool as a whole was like: a series for each figure, all over the same moments.

A series is one array, so that an hour of all of them takes a megabyte and a chart is a slice.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping

from cacheroute.console.points import GAP, Points

_SPARE_RATIO = 8
"""Let one part in so many be too much before the oldest go: each time, all that is kept moves."""


class PoolHistory:
    """The figures of the last looks."""

    def __init__(self, *, kept: int) -> None:
        self._kept = kept
        self._times_s = array("d")
        self._series: dict[str, array[float]] = {}

    def add(self, at_s: float, figures: Mapping[str, float], *, is_again: bool = False) -> None:
        """Keep one look; `is_again` puts it in the place of the one before. No figures, a gap."""
        if is_again:
            self._times_s.pop()
            for series in self._series.values():
                series.pop()
        for name in figures.keys() - self._series.keys():
            self._series[name] = array("f", [GAP]) * len(self._times_s)
        self._times_s.append(at_s)
        for name, series in self._series.items():
            series.append(figures.get(name, GAP))
        if len(self._times_s) > self._kept + self._kept // _SPARE_RATIO:
            self._cut(len(self._times_s) - self._kept)

    def clear(self) -> None:
        """Forget everything."""
        self._times_s = array("d")
        self._series.clear()

    def points(self, name: str, *, since_s: float | None, last: int | None) -> Points:
        """Return a series from a monotonic second on, or so many looks of it."""
        count = len(self._times_s)
        first = max(0, count - (self._kept if last is None else min(last, self._kept)))
        if since_s is not None:
            first = max(first, bisect_left(self._times_s, since_s))
        series = self._series.get(name)
        values = array("f", [GAP]) * (count - first) if series is None else series[first:]
        return Points(times_s=self._times_s[first:], values=values)

    def _cut(self, count: int) -> None:
        del self._times_s[:count]
        for series in self._series.values():
            del series[:count]
