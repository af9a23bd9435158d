"""What a stretch of prefills really took, beside what was predicted for it.

One request's first token says little about one service: it waits for others as well. But
while prefills follow each other without a gap, the time from the first reservation to the
last first token is the time that all of them took together.

A stretch is never cut where others wait: an engine reads several prompts in one step, and
their first tokens then come at the same moment, whoever was predicted to be before whom.
"""

from collections.abc import Mapping
from dataclasses import dataclass

MOST_MEMBERS = 16
"""A stretch is reported at this length, so that a busy Instance is not judged once a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyPeriod:
    """One stretch of prefills, all of which were seen to end."""

    predicted_ms: Mapping[str, float]
    """Sums of the services as they were reserved, by how the prompts got there."""
    model_ms: Mapping[str, float]
    """The same by the model alone, before any correction."""
    actual_ms: float
    """From the first reservation to the last first token."""
    members: int
    """How many requests it had."""

    @property
    def slowness(self) -> float:
        """Return how many times as long as predicted it took."""
        return self.actual_ms / sum(self.predicted_ms.values())


class BusyTally:
    """Adds up the stretch that is running."""

    __slots__ = ("_is_spoilt", "_members", "_model_ms", "_predicted_ms", "_start_s")

    def __init__(self) -> None:
        self.begin(0.0)

    @property
    def members(self) -> int:
        """How many prefills it has seen to the end."""
        return self._members

    @property
    def is_long(self) -> bool:
        """Whether it should be reported before more is added."""
        return self._members >= MOST_MEMBERS

    def begin(self, now_s: float) -> None:
        """Start over: a prefill begins at this moment."""
        self._start_s = now_s
        self._members = 0
        self._predicted_ms: dict[str, float] = {}
        self._model_ms: dict[str, float] = {}
        self._is_spoilt = False

    def spoil(self) -> None:
        """Something took time that nobody saw end."""
        self._is_spoilt = True

    def add(self, service_ms: float, model_ms: float, path: str) -> None:
        """A prefill was seen to end."""
        self._members += 1
        self._predicted_ms[path] = self._predicted_ms.get(path, 0.0) + service_ms
        self._model_ms[path] = self._model_ms.get(path, 0.0) + model_ms

    def close(self, now_s: float) -> BusyPeriod | None:
        """Return what there is to learn from the stretch that ends now; None for nothing."""
        actual_ms = (now_s - self._start_s) * 1000
        if self._is_spoilt or actual_ms <= 0 or sum(self._predicted_ms.values()) <= 0:
            return None
        return BusyPeriod(
            predicted_ms=self._predicted_ms,
            model_ms=self._model_ms,
            actual_ms=actual_ms,
            members=self._members,
        )
