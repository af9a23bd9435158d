"""What one GPU needs for one engine step: five coefficients and four bounds.

`h100` and `a100` are for Llama-3.1-8B in bf16 on one GPU (8.03e9 parameters, of which 7.0e9
do matrix work per token; 32 layers of width 4096; 131,072 bytes of KV per token). Each field
says how its value follows from a data sheet, so that another GPU can be added by hand.

`llama70b` is Llama-3-70B in bf16 on eight RTX 5090, as it was measured and published, not as
a data sheet would have it: without a fast link between the cards the matrix work reaches 6 %
of peak and the attention 4 %. Matrix and attention coefficients are solved from the published
fit of the time to first token, 1.486e-3 s x tokens - 0.064 s, at 1,000 and 3,801 tokens; a
step of one token is its 23.9 ms a token, reading the context its 2.02e-7 s.
"""

import math
from dataclasses import dataclass, fields

from cacheroute.core.predict.prefill import attention_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineProfile:
    """A model on a GPU, as far as its timing and its KV space go."""

    name: str
    """What `--profile` calls it."""
    linear_s_per_token: float
    """Matrix work of one token: 1.4e10 FLOP at 50 % of 989 TFLOP/s (H100), 55 % of 312 (A100)."""
    attention_s_per_pair: float
    """One query looking at one key: 4 x 32 x 4096 FLOP at 40 % of peak."""
    kv_read_s_per_token: float
    """A decoding token reads its whole context: 131,072 bytes a token at 70 % of bandwidth."""
    weights_s: float
    """Least time of a step: 16 GB of weights are read once, at 80 % of bandwidth."""
    overhead_s: float
    """Scheduling, kernel launches and sampling, paid by every step."""
    kv_tokens: int
    """KV space: 90 % of 80 GB less 16 GB of weights and 3 GB of activations, in tokens."""
    kv_mb_per_token: float
    """KV of one token as it is stored and moved, in MB of 10^6 bytes; 131,072 bytes for the 8B.

    For the 70B the published constant of the link, 0.096, although its KV in bf16 has 327,680
    bytes: with it, transfers take as long as those who predict them by that constant expect.
    """
    cards: int = 1
    """GPUs that one copy of the model is spread over."""
    block_tokens: int = 512
    """Tokens in one KV block; only whole blocks are shared between requests."""
    step_budget_tokens: int = 2048
    """Most tokens one step computes, decodes included; longer prompts are cut into chunks."""
    max_running: int = 256
    """Most requests in one batch."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "name":
                continue
            if not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{field.name} must be a positive, finite number, not {value!r}.")
        if self.kv_tokens < self.block_tokens:
            raise ValueError(
                f"A KV space of {self.kv_tokens} tokens has no room for one block "
                f"of {self.block_tokens} tokens."
            )
        if self.max_running > self.step_budget_tokens:
            raise ValueError(
                f"A step of {self.step_budget_tokens} tokens cannot decode for "
                f"{self.max_running} requests at once."
            )

    @property
    def blocks(self) -> int:
        """How many whole blocks the KV space has."""
        return self.kv_tokens // self.block_tokens

    def blocks_for(self, tokens: int) -> int:
        """How many blocks a request of this many tokens, prompt and answer, occupies."""
        return -(-tokens // self.block_tokens)

    def step_s(self, *, tokens: int, pairs: float, context_tokens: int) -> float:
        """Return the seconds of one step.

        `tokens` are computed in it, `pairs` are the (query, key) pairs of its prefill chunks,
        `context_tokens` the KV that its decodes read. Matrix work hides the reading of the
        weights, or the other way round: the longer of the two counts.
        """
        return (
            self.overhead_s
            + max(self.weights_s, self.linear_s_per_token * tokens)
            + self.attention_s_per_pair * pairs
            + self.kv_read_s_per_token * context_tokens
        )

    def chunk_s(self, *, tokens: int, context_tokens: int) -> float:
        """Return the compute seconds of a prefill chunk behind `context_tokens` of prefix."""
        pairs = attention_pairs(tokens, context_tokens)
        return self.linear_s_per_token * tokens + self.attention_s_per_pair * pairs


PROFILES: dict[str, EngineProfile] = {
    profile.name: profile
    for profile in (
        EngineProfile(
            name="h100",
            linear_s_per_token=28.3e-6,
            attention_s_per_pair=1.32e-9,
            kv_read_s_per_token=56e-9,
            weights_s=6e-3,
            overhead_s=3e-3,
            kv_tokens=404_000,
            kv_mb_per_token=0.131072,
        ),
        EngineProfile(
            name="a100",
            linear_s_per_token=81.6e-6,
            attention_s_per_pair=4.2e-9,
            kv_read_s_per_token=92e-9,
            weights_s=9.8e-3,
            overhead_s=3e-3,
            kv_tokens=404_000,
            kv_mb_per_token=0.131072,
        ),
        EngineProfile(
            name="llama70b",
            linear_s_per_token=1.391e-3,
            attention_s_per_pair=3.77e-8,
            kv_read_s_per_token=2.02e-7,
            weights_s=12.2e-3,
            overhead_s=11.7e-3,
            # 90 % of 8 x 32 GB less 141 GB of weights and 16 GB of activations.
            kv_tokens=224_000,
            kv_mb_per_token=0.096,
            cards=8,
        ),
    )
}
"""The profiles that have a name."""
