"""Where this Proxy stands with its Scheduler, as a value that people can be shown."""

from dataclasses import dataclass
from typing import Literal

from cacheroute.core.clock import Instant

SchedulerWord = Literal["off", "registering", "registered", "unreachable", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerState:
    """What is known after the last word with the Scheduler."""

    since: Instant
    """When `state` became what it is."""
    url: str | None = None
    """Its control plane; None when there is none to speak to."""
    state: SchedulerWord = "off"
    """`unreachable` has not answered the last call, `refused` has turned it down."""
    proxy_id: str | None = None
    """What this Proxy is called there; None before the first registration."""
    last_error: str | None = None
    """What went wrong last, a sentence; kept when all is well again."""
    registrations: int = 0
    """How often this Proxy has registered; more than once means that it was forgotten."""
    heartbeats: int = 0
    """Heartbeats that were taken."""
    failures: int = 0
    """Calls that failed one after the other; 0 after one that worked."""
    heard: Instant | None = None
    """When a call last worked; None before the first."""
    interval_s: float | None = None
    """How often it wants to hear from us; None before the first registration."""

    def as_wire(self, now: Instant) -> dict[str, object]:
        """Return what `GET /debug/scheduler` shows; ages are on the monotonic clock."""
        return {
            "url": self.url,
            "state": self.state,
            "state_age_s": max(0.0, now.mono_s - self.since.mono_s),
            "proxy_id": self.proxy_id,
            "last_error": self.last_error,
            "registrations": self.registrations,
            "heartbeats": self.heartbeats,
            "failures": self.failures,
            "heard_age_s": (
                None if self.heard is None else max(0.0, now.mono_s - self.heard.mono_s)
            ),
            "heartbeat_interval_s": self.interval_s,
        }
