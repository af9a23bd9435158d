"""How starting and stopping processes can go wrong, each with its exit code."""

from collections.abc import Sequence

from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.supervisor.restarts import told


class PortTaken(Fault):
    """Somebody else listens where a process should."""

    code = "port.taken"
    exit = Exit.CONFLICT


class AlreadyRunning(Fault):
    """The process that should start runs already."""

    code = "process.running"
    exit = Exit.CONFLICT


class StateLocked(Fault):
    """Another command is changing the same state right now."""

    code = "state.locked"
    exit = Exit.CONFLICT


class StateUnwritable(Fault):
    """The folder that keeps what was started cannot be used."""

    code = "state.unwritable"


class NoSuchProcess(Fault):
    """Nothing is recorded under that name, or what was recorded has ended."""

    code = "process.unknown"
    exit = Exit.NOT_FOUND


class CannotRun(Fault):
    """A process cannot be started at all."""

    code = "process.cannot_run"


class NotReady(Fault):
    """A process runs and did not become ready in time."""

    code = "process.not_ready"
    exit = Exit.WAIT_TIMED_OUT


class ChildFailed(Fault):
    """A process ended while it was still needed; its log says why."""

    code = "process.failed"


class ChildRefusedConfig(ChildFailed):
    """A process ended because of its configuration."""

    code = "process.bad_config"
    exit = Exit.USAGE


class ChildHitConflict(ChildFailed):
    """A process ended because something it needs is taken."""

    code = "process.conflict"
    exit = Exit.CONFLICT


_ERROR = "cacheroute: error: "
"""How programs of ours begin an error; within one of ours it says nothing new."""
_HINT = "  hint: "

_BY_EXIT_CODE: dict[int, type[ChildFailed]] = {
    Exit.USAGE: ChildRefusedConfig,
    Exit.CONFLICT: ChildHitConflict,
}


def child_failed(name: str, exit_code: int | None, last_lines: list[str], log: str) -> ChildFailed:
    """Name the fault that an ended child stands for."""
    how = "ended" if exit_code is None else told(exit_code)
    said, advice = words_of(last_lines)
    message = "\n".join([f"{name} {how} before it was ready", *said])
    fault = _BY_EXIT_CODE.get(exit_code if exit_code is not None else -1, ChildFailed)
    hint = " · ".join(filter(None, (advice, f"its log is {log}")))
    return fault(message, hint=hint, child_exit=exit_code, log=log)


def words_of(last_lines: Sequence[str]) -> tuple[list[str], str | None]:
    """Return what a program of ours said at its end as words of our own, and its advice."""
    said = [line.removeprefix(_ERROR) for line in last_lines]
    if said and said[-1].startswith(_HINT):
        return said[:-1], said[-1].removeprefix(_HINT)
    return said, None
