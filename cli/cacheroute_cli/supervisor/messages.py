"""What is said over a supervisor's socket: one JSON object a line, a request and then replies.

A reply that has a `fault` or is `done` is the last one. The stream of a `watch` begins with a
snapshot and ends when either side leaves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.supervisor.process import ProcessPlan
from cacheroute_cli.supervisor.stack_home import ProcessStatus

MAX_LINE_BYTES = 8 * 1024 * 1024

Do = Literal["apply", "ps", "watch", "start", "stop", "restart", "down"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a command wants."""

    do: Do
    plans: tuple[ProcessPlan, ...] = ()
    """For `apply`: all that is to run."""
    names: tuple[str, ...] = ()
    """For `start`, `stop` and `restart`: processes or kinds."""
    timeout_s: float | None = None
    """How long to wait, or with `down` the grace."""
    remove_vanished: bool = False
    kinds: tuple[str, ...] | None = None
    """For `apply`: only these."""
    keep_changed: bool = False
    file: str | None = None
    """For `apply`: where the plans come from, for the record."""
    instances: int | None = None
    port_offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenFault:
    """A Fault on its way to the command that has to report it."""

    code: str
    exit: int
    message: str
    hint: str | None = None
    details: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One thing that a supervisor says."""

    told: str | None = None
    """Progress, for people."""
    snapshot: tuple[ProcessStatus, ...] | None = None
    """All processes, in the order of their starts."""
    process: ProcessStatus | None = None
    """One that has changed."""
    gone: str | None = None
    """One that is no longer there."""
    fault: SpokenFault | None = None
    done: bool = False
    changed: bool = False
    """With `done`: whether there was anything to do."""


class RemoteFault(Fault):
    """A fault that a supervisor met, with its own code and exit."""

    def __init__(self, spoken: SpokenFault) -> None:
        super().__init__(spoken.message, hint=spoken.hint, **spoken.details)
        self.code = spoken.code  # type: ignore[misc]
        known = spoken.exit in Exit.__members__.values()
        self.exit = Exit(spoken.exit) if known else Exit.FAILED  # type: ignore[misc]


def speak_fault(fault: Fault) -> SpokenFault:
    """Return what is sent of a fault."""
    plain = {
        key: value
        for key, value in fault.details.items()
        if value is None or isinstance(value, str | int | float | bool)
    }
    return SpokenFault(
        code=fault.code, exit=fault.exit, message=fault.message, hint=fault.hint, details=plain
    )


def encode(message: Request | Reply) -> bytes:
    """Write one line."""
    return msgspec.json.encode(message) + b"\n"


def read_request(line: bytes) -> Request:
    """Read one line; raises msgspec.MsgspecError."""
    return msgspec.json.decode(line, type=Request)


def read_reply(line: bytes) -> Reply:
    """Read one line; raises msgspec.MsgspecError."""
    return msgspec.json.decode(line, type=Reply)
