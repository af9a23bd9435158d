"""How much each load signal counts in `least_load`.

The names and defaults are a published contract, the double count of active and ready work
included; a signal that nobody reported is left out, whatever its weight.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """One factor per signal; the cost of an Instance is the sum of weight times value."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012

    inflight: float = 1.0
    """Per request that this Proxy has open on the Instance."""
    active_prepare: float = 1.0
    """Per request that is being prepared for the Instance."""
    active_ready: float = 1.0
    """Per prepared request that has been released to the Instance."""
    prepare_queue_depth: float = 0.25
    """Per request that waits to be prepared."""
    ready_queue_depth: float = 0.25
    """Per prepared request that waits to be released."""
    pending_prefill_count: float = 1.0
    """Per request whose prompt is not read yet."""
    active_decode_count: float = 0.5
    """Per request that is producing tokens."""
    predicted_total_backlog_ms: float = 0.001
    """Per millisecond of work that is predicted to be waiting."""
    qps_1m: float = 0.0
    """Per request a second over the last minute, as the Instance reports it; off by default."""

    def __post_init__(self) -> None:
        for name, weight in self.as_mapping().items():
            if not 0 <= weight < math.inf:
                raise ValueError(f"{name} must be finite and not negative, not {weight!r}")

    def as_mapping(self) -> Mapping[str, float]:
        """Return the weights by signal name, in their published order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
