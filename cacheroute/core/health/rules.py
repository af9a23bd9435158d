"""When an Instance is given a rest, and for how long.

Judged by what requests met, not by probes: a server can answer its health check and still
fail every generation.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EjectionRules:
    """Passive ejection: consecutive failures bring a pause that grows up to a bound."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012

    failures: int = 3
    """Failures in a row after which an Instance gets no new requests for a while."""
    cool_down_s: float = 1.0
    """First pause, in seconds; each further failure in a row doubles it."""
    cool_down_max_s: float = 5.0
    """Longest pause, in seconds: an Instance that is back gets traffic again within this time."""
    retry_after_max_s: float = 300.0
    """Longest pause an Instance may ask for itself with `Retry-After`, in seconds."""

    def __post_init__(self) -> None:
        for name in ("failures", "cool_down_s", "cool_down_max_s", "retry_after_max_s"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise ValueError(f"{name} must be a positive, finite number, not {value!r}")
        if self.cool_down_max_s < self.cool_down_s:
            raise ValueError(
                f"cool_down_max_s must not be below cool_down_s: "
                f"{self.cool_down_max_s!r} < {self.cool_down_s!r}"
            )
