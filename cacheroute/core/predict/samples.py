"""Measurements that a model can be fitted to: one request, one token, one load of KV each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefillSample:
    """One first token of an Instance that had nothing else to do."""

    uncached_tokens: float
    """Tokens that were computed."""
    context_tokens: float = 0.0
    """Tokens in front of them whose KV was there."""
    batch: int = 1
    """Requests that were read together."""
    ttft_ms: float
    """From being forwarded to the first token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeSample:
    """One answer's time per output token."""

    context_tokens: float
    """Tokens of the prompt and, on average, of the answer."""
    batch: int = 1
    """Requests that were decoding together."""
    tpot_ms: float
    """Milliseconds per token after the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullSample:
    """One load of KV out of Redis."""

    gb: float
    """What was loaded."""
    pull_ms: float
    """How long that took."""
