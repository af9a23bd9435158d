"""The two ways to bring knowledge in, weighed: every term of the comparison by its published name.

The wait for the Instance hides what is prepared meanwhile, so each way counts the longer of
the two waits and then what is left to compute.
"""

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class IwsTerms:
    """The predicted milliseconds of both ways, and what they were predicted from."""

    ready_wait_ms: float
    """Until the Instance could begin with the prompt."""
    kv_ready_wait_ms: float
    """The same for a prompt whose KV must come first: others may be ready before it is."""
    prepare_wait_ms: float
    """Until one more may be prepared: others are before it at turnstile 1."""
    text_net_wait_ms: float
    """What a KV transfer that runs on the link holds the text up."""
    text_prepare_ms: float
    """The longer of both, and asking the knowledge node."""
    lookup_ms: float
    """Asking the knowledge node, where nobody is in the way."""
    text_prefill_ms: float
    """Computing the whole prompt."""
    text_total_ms: float
    """To the first token, with knowledge as text."""
    kv_queue_wait_ms: float
    """Until the link is free for another transfer."""
    kv_transfer_ms: float
    """The transfer itself."""
    kv_transfer_model_ms: float
    """The same by the model alone, before what was observed of the link."""
    kv_prepare_ms: float
    """That, behind the longer of both waits."""
    redis_kv_load_ms: float
    """Loading the KV from Redis into the engine."""
    residual_prefill_ms: float
    """Computing what has no KV."""
    kv_total_ms: float
    """To the first token, with knowledge as KV."""
    text_delay_ms: float
    """What others, on their way or expected, would wait longer for it as text, as weighed."""
    kv_delay_ms: float
    """The same with KV."""
    kdn_queue_penalty_ms: float
    """What is added to KV for making a queue on the link longer."""
    margin_ms: float
    """What KV must win by."""
    kv_bandwidth_mbps: float
    """Of the link, in 10^6 bit/s."""
    kv_bandwidth_source: str
    """Who says so: `link_snapshot`, `static`, `env` or `default`."""
    text_tokens: int
    """Tokens to compute with knowledge as text."""
    reused_tokens: int
    """Tokens whose KV would be loaded."""
    residual_tokens: int
    """Tokens to compute with knowledge as KV."""

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if not isinstance(value, str) and not math.isfinite(value):
                raise ValueError(f"{name} must be a finite number, not {value!r}")

    @property
    def kv_wins(self) -> bool:
        """Whether KV is faster by more than the margin, for this one and those it holds up."""
        kv_ms = self.kv_total_ms + self.kv_delay_ms + self.kdn_queue_penalty_ms + self.margin_ms
        return kv_ms < self.text_total_ms + self.text_delay_ms

    def as_wire(self) -> dict[str, int | str]:
        """Return the terms for people and clients to read: whole numbers, and one word."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: v if isinstance(v, str) else round(v) for name, v in values}
