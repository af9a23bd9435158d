"""A stretch of numbers over time, and the gaps in it: nobody knew, or nobody looked."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from math import isnan, nan

GAP = nan
"""Stands for what is not known; compare with `isnan`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """A stretch of one series, oldest first."""

    times_s: array[float]
    """Monotonic seconds."""
    values: array[float]
    """NaN is a gap."""

    @property
    def last(self) -> float | None:
        """The newest value; None when it is a gap, or when there is none."""
        if not self.values or isnan(self.values[-1]):
            return None
        return self.values[-1]
