"""What an Instance teaches about its own predictions: observed over predicted, as one factor.

The mean of the log ratio, so that twice as slow and twice as fast weigh the same. The first
observations are averaged, later ones fade by half-life. Give the model's own prediction,
before any factor: a corrected one would teach the correction to forget itself.
"""

import math
from dataclasses import dataclass

MAX_FACTOR = 64.0
HALF_LIFE_OBSERVATIONS = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors:
    """What the predictions for one Instance are multiplied with; 1 is as the model says."""

    text_prefill: float = 1.0
    """On prefill of a prompt without reused KV."""
    kv_prefill: float = 1.0
    """On loading KV and prefill of the rest."""
    transfer: float = 1.0
    """On moving KV over the link."""
    decode: float = 1.0
    """On each output token."""


AS_MODELLED = Factors()
"""What holds before anything was observed."""


class Correction:
    """A running factor; 1.0 until something was observed."""

    __slots__ = ("_alpha", "_mean_log", "count")

    def __init__(self, half_life: float = HALF_LIFE_OBSERVATIONS) -> None:
        if not 0 < half_life < math.inf:
            raise ValueError(f"half_life must be a positive, finite number, not {half_life!r}")
        self._alpha = 1.0 - 0.5 ** (1.0 / half_life)
        self._mean_log = 0.0
        self.count = 0
        """Observations that counted."""

    @property
    def factor(self) -> float:
        """Return what to multiply a prediction with, between 1/64 and 64."""
        return math.exp(self._mean_log)

    def observe(self, predicted_ms: float | None, actual_ms: float | None) -> bool:
        """Take in one pair; False when it says nothing (not known, not finite, not positive)."""
        if predicted_ms is None or actual_ms is None:
            return False
        if not (0 < predicted_ms < math.inf and 0 < actual_ms < math.inf):
            return False
        bound = math.log(MAX_FACTOR)
        ratio = math.log(actual_ms) - math.log(predicted_ms)
        self.count += 1
        weight = max(self._alpha, 1.0 / self.count)
        self._mean_log += weight * (max(-bound, min(bound, ratio)) - self._mean_log)
        return True


class Corrections:
    """Everything that is learned about the predictions for one Instance."""

    __slots__ = ("decode", "kv_prefill", "text_prefill", "transfer")

    def __init__(self, half_life: float = HALF_LIFE_OBSERVATIONS) -> None:
        self.text_prefill = Correction(half_life)
        self.kv_prefill = Correction(half_life)
        self.transfer = Correction(half_life)
        self.decode = Correction(half_life)

    @property
    def factors(self) -> Factors:
        """Return the factors as they are now."""
        return Factors(
            text_prefill=self.text_prefill.factor,
            kv_prefill=self.kv_prefill.factor,
            transfer=self.transfer.factor,
            decode=self.decode.factor,
        )
