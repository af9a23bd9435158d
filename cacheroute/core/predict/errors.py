"""How wrong the predictions were: |predicted - actual| / actual, over the last few hundred."""

import math
from collections import deque
from collections.abc import Iterable

WINDOW = 512
"""Errors that are kept; medians and the like are over these."""


def error_ratio(predicted: float | None, actual: float | None) -> float | None:
    """Return |predicted - actual| / actual; None when it means nothing.

    A prediction of 0 is a prediction, and an error of 1; an actual of 0 is a broken clock.
    """
    if predicted is None or actual is None:
        return None
    if not (0 <= predicted < math.inf and 0 < actual < math.inf):
        return None
    ratio = abs(predicted - actual) / actual
    return ratio if ratio < math.inf else None


def quantile(values: Iterable[float], share: float) -> float | None:
    """Return the smallest value that at least this share does not exceed; None without values."""
    ordered = sorted(values)
    if not ordered:
        return None
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


class PredictionErrors:
    """A bounded window of errors; the count is of all that ever were."""

    __slots__ = ("_recent", "count")

    def __init__(self, window: int = WINDOW) -> None:
        self._recent: deque[float] = deque(maxlen=window)
        self.count = 0
        """Pairs that meant something, those that left the window included."""

    def add(self, predicted: float | None, actual: float | None) -> float | None:
        """Take in one pair and return its error, for a histogram; None when it means nothing."""
        ratio = error_ratio(predicted, actual)
        if ratio is not None:
            self._recent.append(ratio)
            self.count += 1
        return ratio

    @property
    def recent(self) -> tuple[float, ...]:
        """Return a copy of the window, oldest first, so that quantiles can be worked out later."""
        return tuple(self._recent)

    @property
    def p50_ratio(self) -> float | None:
        """Return the median error of the window; None when it is empty."""
        return quantile(self._recent, 0.5)

    @property
    def p90_ratio(self) -> float | None:
        """Return the error that nine in ten do not exceed; None when the window is empty."""
        return quantile(self._recent, 0.9)
