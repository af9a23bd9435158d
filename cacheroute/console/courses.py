"""Values over time fitted to the width of a chart: which stretch each column stands for.

A look holds until the next one. Where the next one is much later than those around it, nobody
looked in between, and that is a gap as much as a look at which nobody knew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor, log10, nan

from cacheroute.console.points import Points

WINDOWS_S: tuple[int, ...] = (300, 900, 3_600)
"""Stretches that a chart shows: 5, 15 and 60 minutes."""
_REACH = 2.5
"""How many times the usual distance the next look may be away."""
_STEPS_S = (30, 60, 120, 300, 600, 900, 1_800, 3_600)
_LABEL_CELLS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What the columns of a chart stand for, in monotonic seconds."""

    since_s: float
    until_s: float
    bins: int

    @property
    def bin_s(self) -> float:
        """How long one column is."""
        return (self.until_s - self.since_s) / self.bins


def stretch_of(now_s: float, window_s: float, bins: int) -> Stretch:
    """Return the columns of a window that ends now.

    Their edges stay where they are as time goes on, so that a chart moves by whole columns and
    a peak does not change its shape on the way.
    """
    bins = max(1, bins)
    bin_s = window_s / bins
    last = floor(now_s / bin_s) + 1
    return Stretch(since_s=(last - bins) * bin_s, until_s=last * bin_s, bins=bins)


def binned(points: Points, stretch: Stretch, *, usual_s: float, now_s: float) -> list[float]:
    """Return the highest value of each column, so that no peak gets lost; NaN is a gap.

    `usual_s` is how far apart looks are meant to be; the last one holds until `now_s` at most.
    """
    bins, since_s = stretch.bins, stretch.since_s
    found = [nan] * bins
    per_s = 1 / stretch.bin_s
    times, values = points.times_s, points.values
    count = len(times)
    before_s = usual_s
    for at in range(count):
        value, begin_s = values[at], times[at]
        end_s = times[at + 1] if at + 1 < count else max(begin_s, now_s)
        passed_s = end_s - begin_s
        if value == value and (end_s > since_s or begin_s >= since_s):
            first = last = int((begin_s - since_s) * per_s) if begin_s > since_s else 0
            after_s = times[at + 2] - end_s if at + 2 < count else usual_s
            if passed_s <= _REACH * max(before_s, after_s, usual_s):
                last = max(first, ceil((end_s - since_s) * per_s) - 1)
            elif begin_s < since_s:
                last = -1
            for place in range(first, min(last, bins - 1) + 1):
                if not found[place] >= value:
                    found[place] = value
        before_s = passed_s
    return found


def top_of(values: Sequence[Sequence[float]]) -> float:
    """Return a round number that no value is above; 1 when there is nothing above 0."""
    highest = max((v for some in values for v in some if v == v), default=0.0)
    if highest <= 0:
        return 1.0
    power = 10.0 ** floor(log10(highest))
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= highest)


def time_marks(since_s: float, until_s: float, width: int) -> list[tuple[int, str]]:
    """Return cells and times of day for an axis; seconds are since the epoch."""
    span_s = until_s - since_s
    if span_s <= 0 or width < _LABEL_CELLS:
        return []
    step_s = next((s for s in _STEPS_S if s / span_s * width >= _LABEL_CELLS), _STEPS_S[-1])
    found = []
    for at_s in range(ceil(since_s / step_s) * step_s, floor(until_s) + 1, step_s):
        cell = int((at_s - since_s) / span_s * width)
        found.append((cell, f"{datetime.fromtimestamp(at_s).astimezone():%H:%M}"))
    return found
