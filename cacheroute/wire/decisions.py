"""What the control plane says of its decisions: who got which request, and why.

Null is not known. A console reads them with every look, so they are structs.
"""

import msgspec


class DecisionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One selection and why it fell so."""

    seq: int
    at: float
    """Seconds since the epoch."""
    request_id: str
    attempt: int = 1
    strategy: str
    model: str | None = None
    endpoint: str
    instance_id: str | None = None
    """Null when nobody could be chosen."""
    cost: float | None = None
    runner_up: str | None = None
    runner_up_cost: float | None = None
    considered: int = 0
    skipped: dict[str, int] = {}
    reason: str = ""
    injection: dict[str, object] | None = None
    """How its knowledge is brought in, with every term; null for a request without any."""


class DecisionsReply(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /debug/decisions?last=N&since=SEQ`, newest first."""

    ok: bool
    total: int | None = None
    """Decisions made since the Proxy started."""
    missed: int = 0
    """Those after `since` that are not here, or no longer."""
    decisions: list[DecisionRow]
