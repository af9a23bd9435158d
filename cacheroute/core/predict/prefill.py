"""How long an Instance reads a prompt before its first token.

A line in tokens and batch, as published, in seconds: a x batch x tokens + b x tokens
+ c x batch + d. Two things may be added to it: the cost of attending to what stands in
front, and a measured curve for short prompts, where the line is wrong.
"""

from bisect import bisect_right
from dataclasses import dataclass

CURVE_ALONE_TOKENS = 115
"""Up to here the curve is believed alone; from here to its end, the larger of curve and line."""


STEP_TOKENS = 2048
"""What one step of an engine reads at most, by the usual setting: an engine fills the step that
a prompt ends in with the prompts behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefillModel:
    """Time to first token of an Instance that has nothing else to do."""

    a: float
    """Seconds per token and request of the batch."""
    b: float
    """Seconds per token."""
    c: float
    """Seconds per request of the batch."""
    d: float
    """Seconds that every prompt takes."""
    attention_s_per_pair: float = 0.0
    """Seconds per pair of a computed token and one it attends to; the published form has none."""
    floor_ms: float = 0.0
    """No prompt is predicted to be faster than this."""
    curve: tuple[tuple[float, float], ...] = ()
    """Measured (tokens, ms) of short prompts, by rising tokens; empty for fitted models."""

    def predict_ms(
        self, uncached_tokens: float, context_tokens: float = 0.0, *, batch: int = 1
    ) -> float:
        """Return the milliseconds to the first token, never below 0.

        `uncached_tokens` are computed, behind `context_tokens` whose KV is there already. The
        curve was measured with one request at a time and is left out for larger batches. Where
        it ends, the prediction may fall: that is the published form.
        """
        line_ms = self._line_ms(uncached_tokens, context_tokens, batch)
        if self.curve and batch == 1 and uncached_tokens <= self.curve[-1][0]:
            curve_ms = self._curve_ms(uncached_tokens)
            alone = uncached_tokens <= CURVE_ALONE_TOKENS
            return curve_ms if alone else max(line_ms, curve_ms)
        return line_ms

    def _line_ms(self, tokens: float, context_tokens: float, batch: int) -> float:
        line_s = self.a * batch * tokens + self.b * tokens + self.c * batch + self.d
        line_s += self.attention_s_per_pair * attention_pairs(tokens, context_tokens)
        return max(self.floor_ms, line_s * 1e3, 0.0)

    def _curve_ms(self, tokens: float) -> float:
        above = bisect_right(self.curve, tokens, key=lambda knot: knot[0])
        if above == 0 or above == len(self.curve):
            return self.curve[0 if above == 0 else -1][1]
        (left, left_ms), (right, right_ms) = self.curve[above - 1 : above + 1]
        return left_ms + (right_ms - left_ms) * (tokens - left) / (right - left)


def attention_pairs(tokens: float, context_tokens: float) -> float:
    """Return how many (query, key) pairs causal attention has for tokens behind a prefix.

    Each token attends to the whole prefix, to those of its own before it, and to itself.
    """
    return tokens * (context_tokens + (tokens + 1) / 2)
