"""How long the pool believes in an Instance it no longer hears from, and how many it holds.

Ages are judged on the monotonic clock: alive up to the time to live, stale for a while
after that, then dead and shown as such until it is forgotten.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRules:
    """Liveness and the bounds of the pool."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = {"extra": "forbid"}

    ttl_s: float = 30.0
    """Silence up to which a registered Instance is alive and gets requests, in seconds."""
    stale_ttls: float = 3.0
    """Silence up to which it is shown as stale, in multiples of `ttl_s`; after that it is dead."""
    reap_after_s: float = 600.0
    """Silence after which a dead Instance is forgotten, in seconds; never before it is dead."""
    max_instances: int = 4096
    """Most registered Instances; one more is refused."""
    max_unknown_ids: int = 1024
    """Most unknown ids whose heartbeats are counted; the oldest makes room."""

    def __post_init__(self) -> None:
        for name in ("ttl_s", "stale_ttls", "reap_after_s", "max_instances", "max_unknown_ids"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise ValueError(f"{name} must be a positive, finite number, not {value!r}")
        if self.stale_ttls < 1:
            raise ValueError(f"stale_ttls must be 1 or more, not {self.stale_ttls!r}")

    @property
    def dead_after_s(self) -> float:
        """Silence after which an Instance is dead, in seconds."""
        return self.stale_ttls * self.ttl_s

    @property
    def forgotten_after_s(self) -> float:
        """Silence after which an Instance is forgotten, in seconds: never while it is alive."""
        return max(self.reap_after_s, self.dead_after_s)
