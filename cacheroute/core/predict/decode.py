"""How long an Instance takes for each further token.

One line in context tokens per batch size, as published; between two batch sizes that were
measured it is interpolated, beyond them the nearest holds.
"""

from bisect import bisect_left
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeLine:
    """Time per output token at one batch size: slope x context tokens + intercept."""

    batch: int
    """Requests that decode together."""
    slope_s: float
    """Seconds per token of context."""
    intercept_s: float
    """Seconds that every token takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeModel:
    """Time per output token."""

    by_batch: tuple[DecodeLine, ...]
    """At least one line, by rising batch size."""
    per_request_s: float = 0.0
    """Seconds that each request beyond the first adds, for models without a line per batch."""

    def __post_init__(self) -> None:
        batches = [line.batch for line in self.by_batch]
        if not batches or batches != sorted(set(batches)):
            raise ValueError(f"by_batch needs one line per batch, in rising order, not {batches}")

    def tpot_ms(self, context_tokens: float, *, batch: int = 1) -> float:
        """Return the milliseconds per output token at this context, never below 0."""
        seconds = self._at(batch, context_tokens) + self.per_request_s * (batch - 1)
        return max(0.0, seconds * 1e3)

    def _at(self, batch: int, context_tokens: float) -> float:
        lines = self.by_batch
        at = bisect_left(lines, batch, key=lambda line: line.batch)
        upper = lines[min(at, len(lines) - 1)]
        upper_s = upper.slope_s * context_tokens + upper.intercept_s
        if at == 0 or at == len(lines):
            return upper_s
        lower = lines[at - 1]
        lower_s = lower.slope_s * context_tokens + lower.intercept_s
        return lower_s + (upper_s - lower_s) * (batch - lower.batch) / (upper.batch - lower.batch)
