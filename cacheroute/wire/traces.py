"""What the control plane says of the last requests.

Moments of a room count from the arrival of its request; null is not known. A console reads them
with every look, so they are structs.
"""

import msgspec

from cacheroute.wire.decisions import DecisionRow


class RoomRow(msgspec.Struct, frozen=True, kw_only=True):
    """One room of a request."""

    room: str
    start_ms: float
    end_ms: float
    predicted_ms: float | None = None
    """How long it was thought to take."""
    within: str | None = None
    """The room that it is a part of."""


class RequestRow(msgspec.Struct, frozen=True, kw_only=True):
    """How one request went."""

    seq: int
    at: float
    """Its arrival, seconds since the epoch."""
    request_id: str
    endpoint: str
    model: str | None = None
    stream: bool = False
    caller: str = "native"
    instance_id: str | None = None
    """Who answered, or failed last."""
    attempts: int = 0
    status: int | None = None
    """What the client was sent; null when it left before anything was."""
    outcome: str
    """`ok`, or the cause of its failure."""
    error: str | None = None
    sent_ms: float | None = None
    """From its arrival until it was sent to the Instance."""
    ttft_ms: float | None = None
    e2e_ms: float
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    bytes_in: int = 0
    bytes_out: int = 0
    path: str | None = None
    """How its knowledge went."""
    predicted_ttft_ms: float | None = None
    """From the choice of the Instance to the first token."""
    actual_ttft_ms: float | None = None
    predict_error_ratio: float | None = None
    has_story: bool = False
    """Whether each of its rooms is known."""
    rooms: list[RoomRow] = []
    marks: dict[str, int | str] | None = None
    """Its story; only where one request is asked for."""
    decisions: list[DecisionRow] = []
    """Its selections, newest first; only where one request is asked for."""


class TracesReply(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /debug/traces?last=N`, newest first, or `?request_id=` for one."""

    ok: bool
    total: int = 0
    """Requests that have ended since the Proxy started."""
    missed: int = 0
    """Those after `since` that are not here, or no longer."""
    traces: list[RequestRow] = []
