"""How text and KV are weighed against each other, and what is assumed where nothing is known."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from cacheroute.core.injection.registry import find, known_names

DEFAULT_BANDWIDTH_MBPS = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionRules:
    """The choice between text and KV."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = {"extra": "forbid"}

    strategy: str = "default"
    """Who decides: `default` keeps the Scheduler's mode, `iws` takes the faster one."""
    margin_ms: float = 100.0
    """What KV must be predicted to win by under `iws`, in milliseconds."""
    penalty_alpha: float = 0.5
    """Share of the wait for a busy link that counts against KV once more."""
    delay_weight: float = 1.0
    """How much it counts that others, on their way or expected, wait longer; 0 is as published."""
    header_tokens: int = 36
    """Tokens that chat template and instructions add to every prompt."""
    default_bandwidth_mbps: float = DEFAULT_BANDWIDTH_MBPS
    """Bandwidth of a link that nobody measured, in 10^6 bit/s."""
    bandwidth_utilisation: float = 0.825
    """Share of a link's bandwidth that a transfer gets, 0 to 1."""

    def __post_init__(self) -> None:
        row = find(self.strategy)
        if row is None:
            raise ValueError(
                f"strategy {self.strategy[:64]!r} is no injection strategy; "
                f"there are {known_names()}"
            )
        object.__setattr__(self, "strategy", row.name)
        for name in ("margin_ms", "penalty_alpha", "delay_weight", "header_tokens"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(f"{name} must be finite and not negative, not {value!r}")
        if not 0 < self.default_bandwidth_mbps < math.inf:
            raise ValueError(
                "default_bandwidth_mbps must be a positive, finite number, "
                f"not {self.default_bandwidth_mbps!r}"
            )
        if not 0 < self.bandwidth_utilisation <= 1:
            raise ValueError(
                f"bandwidth_utilisation must be above 0 and at most 1, "
                f"not {self.bandwidth_utilisation!r}"
            )

    @property
    def default_bandwidth_source(self) -> str:
        """Return who says what an unmeasured link has: `env` where it was set, or `default`."""
        return "default" if self.default_bandwidth_mbps == DEFAULT_BANDWIDTH_MBPS else "env"
