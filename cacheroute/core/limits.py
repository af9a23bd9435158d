"""How much and how long: the bounds of one HTTP exchange.

Plain values, so that settings, the data plane and tests share one set of defaults.
"""

import math
from dataclasses import dataclass


def _require_positive(owner: object, *names: str) -> None:
    for name in names:
        value = getattr(owner, name)
        if value is not None and not (value > 0 and math.isfinite(value)):
            raise ValueError(f"{name} must be a positive, finite number, not {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on what a peer may send."""

    __pydantic_config__ = {"use_attribute_docstrings": True, "extra": "forbid"}  # noqa: RUF012

    head_bytes: int = 64 * 1024
    """Largest request or response head (start line and headers together), in bytes; more is 431."""
    headers: int = 256
    """Most header lines in one head; more is 431."""
    body_bytes: int = 64 * 1024 * 1024
    """Largest request body, in bytes; more is 413. A chat with three images is about 12 MiB."""
    request_bytes: int = 1024 * 1024 * 1024
    """Most memory for requests that are read or answered, in bytes; what finds no room is 503.

    Bodies above 1 MiB get half of it and those above 64 KiB three quarters; the rest is kept free
    for smaller ones.
    """
    event_bytes: int = 16 * 1024 * 1024
    """Largest single server-sent event, in bytes; a larger one ends the stream with an error."""
    connections: int = 10_000
    """Most client connections at once; one more is answered 503 and closed."""

    def __post_init__(self) -> None:
        _require_positive(
            self,
            "head_bytes", "headers", "body_bytes", "request_bytes", "event_bytes", "connections",
        )  # fmt: skip
        if self.request_bytes < 4 * self.body_bytes:
            raise ValueError(
                f"request_bytes is {self.request_bytes} and must be at least four times body_bytes "
                f"({self.body_bytes}), or one request could take most of it"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Bounds on silence, each a setting of its own, in seconds. None is no limit."""

    __pydantic_config__ = {"use_attribute_docstrings": True, "extra": "forbid"}  # noqa: RUF012

    connect_s: float = 5.0
    """Longest wait for a connection to an Instance."""
    first_byte_s: float = 600.0
    """Longest wait for the first byte of an answer: a long prompt is silent while it prefills."""
    between_bytes_s: float = 60.0
    """Longest silence in the middle of an answer."""
    total_s: float | None = None
    """Longest life of one exchange with an Instance; none by default: long answers are healthy."""
    pool_idle_s: float = 4.0
    """How long an idle connection to an Instance is kept; less than the 5 s of uvicorn."""
    client_head_s: float = 30.0
    """Longest time for a client to send a request head."""
    client_body_s: float = 300.0
    """Longest time for a client to send a request body."""
    client_idle_s: float = 75.0
    """How long an unused client connection is kept."""
    client_write_s: float = 60.0
    """Longest time a client may leave its answer unread before its connection is cut."""

    def __post_init__(self) -> None:
        _require_positive(
            self,
            "connect_s", "first_byte_s", "between_bytes_s", "total_s", "pool_idle_s",
            "client_head_s", "client_body_s", "client_idle_s", "client_write_s",
        )  # fmt: skip
