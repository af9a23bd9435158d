"""A process of a stack as it is meant to be: what to run, when it is ready, when to run it again.

Plain values that travel over the supervisor's socket. Two plans with the same digest are the
same process, and a running one is left alone.
"""

import hashlib
import json
import signal
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

RestartMode = Literal["never", "on-failure", "always"]
FailureMode = Literal["keep", "stop"]

RUNGS = ("redis", "kdn", "scheduler", "proxy", "agent", "instance", "attach")
"""Kinds in the order in which they start; they stop the other way round."""
BASE = ("redis", "kdn", "scheduler", "proxy")
"""Kinds without which a stack that is being started makes no sense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """When a process counts as ready: all that is named here must hold."""

    http: str | None = None
    """URL that must answer with less than 400."""
    tcp: str | None = None
    """`host:port` that must take a connection."""
    member: str | None = None
    """Id that must be alive in the pool."""
    pool: str | None = None
    """Control plane of the Proxy whose pool it is."""
    token: str | None = field(default=None, repr=False)
    """What is shown there."""
    timeout_s: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartRule:
    """Whether and how soon a process that has ended is started again."""

    mode: RestartMode = "on-failure"
    first_s: float = 1.0
    """Pause before the first restart; each further one is twice as long."""
    longest_s: float = 30.0
    """No pause is longer than this."""
    most: int = 5
    """More restarts than this within the window, and it has failed."""
    window_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """How a process is ended."""

    signal: int = signal.SIGTERM.value
    grace_s: float = 10.0
    """Time until it is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPort:
    """A port that a process is going to listen on."""

    name: str
    """Which one of its ports: `service`, `control`, or the kind."""
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessPlan:
    """One process of a stack."""

    name: str
    kind: str
    """One of RUNGS."""
    argv: tuple[str, ...]
    """Absolute path of the program, and its arguments."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables on top of the supervisor's own."""
    cwd: str | None = None
    ports: tuple[PlannedPort, ...] = ()
    urls: Mapping[str, str] = field(default_factory=dict)
    """Where it listens, by what for."""
    ready: Readiness = Readiness()
    restart: RestartRule = RestartRule()
    stop: StopRule = StopRule()
    reuse: str | None = None
    """URL at which a healthy one that is not ours makes this one needless."""
    check: tuple[str, ...] = ()
    """Command that tells whether its configuration is good."""
    is_ours: bool = True
    """Whether it is a program of CacheRoute, whose exit codes we know."""
    on_failure: FailureMode = "keep"
    """Whether the rest stays up when this one fails for good."""

    @property
    def rung(self) -> int:
        """Its place in the order of starts."""
        return RUNGS.index(self.kind)

    @property
    def digest(self) -> str:
        """A short text that is the same for the same plan only."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]


def digest_of(plans: tuple[ProcessPlan, ...]) -> str:
    """Return a short text that is the same for the same stack only."""
    together = "".join(sorted(f"{plan.name}:{plan.digest};" for plan in plans))
    return hashlib.sha256(together.encode()).hexdigest()[:16]
