"""How large KV is, and how long it takes to move: over a link, and out of Redis.

GB are 1000 MB, and Mbit/s are 10^6 bit/s. Whole blocks of tokens move, or nothing.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KvSize:
    """What the KV of one token weighs.

    There are two fields because published deployments have two figures, which disagree; the
    bytes are the same bytes, so anything that was measured here has the two agree.
    """

    network_mb_per_token: float
    """As it crosses a link, in MB."""
    redis_gb_per_token: float
    """As it lies in Redis, in GB: the unit that the pull model was fitted in."""
    align_tokens: int = 256
    """Tokens of one block; what does not fill a block is computed, not moved."""

    @classmethod
    def of_bytes(cls, bytes_per_token: float, align_tokens: int = 256) -> "KvSize":
        """Make the size whose two figures agree."""
        return cls(
            network_mb_per_token=bytes_per_token / 1e6,
            redis_gb_per_token=bytes_per_token / 1e9,
            align_tokens=align_tokens,
        )

    def aligned(self, tokens: float) -> int:
        """Return the tokens of the whole blocks that fit in."""
        return int(tokens // self.align_tokens) * self.align_tokens

    def network_mb(self, tokens: float) -> float:
        """Return what these tokens weigh on a link, in MB."""
        return tokens * self.network_mb_per_token

    def redis_gb(self, tokens: float) -> float:
        """Return what these tokens weigh in Redis, in GB."""
        return tokens * self.redis_gb_per_token


@dataclass(frozen=True, slots=True, kw_only=True)
class PullModel:
    """How long an engine takes to load KV from its Redis."""

    a_ms_per_gb: float
    """Milliseconds per GB."""
    b_ms: float
    """Milliseconds of asking at all."""

    def pull_ms(self, gb: float) -> float:
        """Return the milliseconds to load this much, never below 0."""
        return max(0.0, self.a_ms_per_gb * gb + self.b_ms)


def network_ms(mb: float, bandwidth_mbps: float, utilisation: float) -> float:
    """Return the milliseconds that so many MB occupy a link of which a share is usable."""
    return mb * 8e3 / (bandwidth_mbps * utilisation)
