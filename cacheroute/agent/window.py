"""A GPU's utilisation over the last few seconds: one sample alone says little.

The driver's own figure covers less than a second, and prefill comes in bursts.
"""

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilisation:
    """What the samples of one window come to, in percent."""

    current_pct: float | None = None
    """The newest sample; None when that reading failed."""
    average_pct: float | None = None
    """Mean of the samples in the window; None when there are none."""
    max_pct: float | None = None
    """Highest sample in the window."""
    count: int = 0
    """Samples in the window."""


class UtilisationWindow:
    """The good samples of one GPU that are young enough to count."""

    __slots__ = ("_samples", "_window_s")

    def __init__(self, *, window_s: float, max_samples: int) -> None:
        self._window_s = window_s
        self._samples: deque[tuple[float, float]] = deque(maxlen=max_samples)

    def add(self, value_pct: float | None, *, at_s: float) -> Utilisation:
        """Take a sample (None: the reading failed) and return what the window comes to."""
        if value_pct is not None:
            self._samples.append((at_s, value_pct))
        while self._samples and at_s - self._samples[0][0] > self._window_s:
            self._samples.popleft()
        values = [value for _, value in self._samples]
        if not values:
            return Utilisation()
        return Utilisation(
            current_pct=value_pct,
            average_pct=sum(values) / len(values),
            max_pct=max(values),
            count=len(values),
        )
