"""What a supervisor says of its processes: that they are ready, or why they are not."""

from collections.abc import Sequence

from cacheroute_cli.diagnostics import Fault
from cacheroute_cli.supervisor.faults import NotReady, child_failed
from cacheroute_cli.supervisor.keeper import Keeper, State

_MAX_TOLD = 8


def order(keeper: Keeper) -> tuple[int, int, str]:
    """Return what processes are shown by: the order of starts, then their numbers."""
    digits = "".join(c for c in keeper.plan.name if c.isdigit())[-9:]
    return keeper.plan.rung, int(digits or 0), keeper.plan.name


def listed(names: Sequence[str]) -> str:
    """Write names, and of many only how many more there are."""
    shown = ", ".join(names[:_MAX_TOLD])
    return shown if len(names) <= _MAX_TOLD else f"{shown} and {len(names) - _MAX_TOLD} more"


def told_ready(kind: str, rung: Sequence[Keeper], took_s: float) -> str:
    """Say that all processes of a kind are ready."""
    if kind in ("instance", "attach"):
        in_pool = [keeper for keeper in rung if keeper.plan.ready.member is not None]
        if in_pool:
            return f"{len(in_pool)}/{len(rung)} instances in the pool after {took_s:.1f} s"
    return f"{listed([keeper.plan.name for keeper in rung])} ready after {took_s:.1f} s"


def fault_of(keeper: Keeper, took_s: float) -> Fault:
    """Return the fault of a process that is not ready after so long."""
    if keeper.state in (State.FAILED, State.EXITED):
        lines = [keeper.why, *keeper.last_words] if keeper.why else keeper.last_words
        return child_failed(keeper.plan.name, keeper.last_exit, lines, str(keeper.log))
    why = f": {keeper.why}" if keeper.why else ""
    return NotReady(
        f"{keeper.plan.name} is not ready after {took_s:.1f} s{why}", hint=f"see {keeper.log}"
    )


def together(faults: Sequence[Fault]) -> Fault:
    """Make one fault of several; the first one decides the exit code."""
    first = faults[0]
    if len(faults) == 1:
        return first
    return type(first)(
        "\n".join(fault.message for fault in faults), hint=first.hint, **first.details
    )
