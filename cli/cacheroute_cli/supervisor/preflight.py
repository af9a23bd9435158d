"""Everything that can be known to be wrong before the first process of a stack is started.

Programs, folders, ports and configurations of all of them: a stack comes up whole or not at
all. What a running process of ours holds already is not held against its successor.
"""

import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.supervisor.faults import PortTaken
from cacheroute_cli.supervisor.identity import STACK_VARIABLE
from cacheroute_cli.supervisor.keeper import OUR_VARIABLES
from cacheroute_cli.supervisor.ports import Wanted, require_free
from cacheroute_cli.supervisor.process import PlannedPort, ProcessPlan
from cacheroute_cli.supervisor.runner import inherited

_CHECK_TIMEOUT_S = 30.0
_MAX_WORDS = 12


class CannotStart(Fault):
    """Something that a process of the stack needs is not there."""

    code = "stack.cannot_start"
    exit = Exit.USAGE


class ConfigRefused(Fault):
    """A program of the stack will not have its configuration."""

    code = "stack.bad_config"
    exit = Exit.USAGE


def preflight(
    plans: Sequence[ProcessPlan],
    *,
    own_ports: Collection[int] = (),
    marks: Mapping[str, str] | None = None,
) -> list[int]:
    """Check processes that are about to be started; return their ports.

    `marks` has the stacks that are known here, by mark. Raises CannotStart, PortTaken or
    ConfigRefused.
    """
    missing = [problem for plan in plans if (problem := _what_is_missing(plan)) is not None]
    if missing:
        raise CannotStart("\n".join(missing), hint="install it, or mend the stack file")
    _require_ports(plans, own_ports, marks or {})
    for plan in plans:
        if plan.check:
            _require_good_config(plan)
    return sorted(port.port for plan in plans for port in plan.ports)


def render_ports(ports: Sequence[int]) -> str:
    """Write ports in few words: `8001 8002 9001-9004`."""
    runs: list[list[int]] = []
    for port in sorted(set(ports)):
        if runs and runs[-1][-1] == port - 1:
            runs[-1].append(port)
        else:
            runs.append([port])
    return " ".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else " ".join(map(str, run)) for run in runs
    )


def _what_is_missing(plan: ProcessPlan) -> str | None:
    program = plan.argv[0]
    if not os.path.isabs(program):
        return f"{plan.name} needs the program {program!r}, which is not on the PATH"
    if not os.access(program, os.X_OK) or Path(program).is_dir():
        return f"{plan.name} needs the program {program!r}, which is none or cannot be run"
    if plan.cwd is not None and not Path(plan.cwd).is_dir():
        return f"{plan.name} should run in {plan.cwd!r}, which is no folder"
    return None


def _require_ports(
    plans: Sequence[ProcessPlan], own_ports: Collection[int], marks: Mapping[str, str]
) -> None:
    wanted = [
        Wanted(
            host=port.host,
            port=port.port,
            purpose=_purpose(plan, port),
            option="--port-offset",
        )
        for plan in plans
        for port in plan.ports
        if port.port not in own_ports
    ]
    try:
        require_free(wanted)
    except PortTaken as taken:
        hint = "stop it, or move the whole stack with --port-offset 100"
        pid = taken.details.get("pid")
        if isinstance(pid, int) and (stack := marks.get(_mark_of(pid))) is not None:
            hint = f"it belongs to stack {stack}: 'cacheroute down --stack {stack}' ends it, "
            hint += "'cacheroute prune' if its supervisor is gone"
        raise PortTaken(taken.message, hint=hint, **taken.details) from None


def _purpose(plan: ProcessPlan, port: PlannedPort) -> str:
    if len(plan.ports) == 1:
        return f"process {plan.name}"
    return f"{port.name} plane of {plan.name}"


def _mark_of(pid: int) -> str:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    variable = f"{STACK_VARIABLE}=".encode()
    marks = [part.removeprefix(variable) for part in environment if part.startswith(variable)]
    return marks[0].decode("utf-8", "replace") if marks else ""


def _require_good_config(plan: ProcessPlan) -> None:
    environment = inherited(OUR_VARIABLES) | dict(plan.env)
    try:
        done = subprocess.run(
            plan.check, env=environment, cwd=plan.cwd, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=_CHECK_TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise CannotStart(
            f"the configuration of {plan.name} cannot be checked: {problem}"
        ) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").splitlines()[:_MAX_WORDS]
        words = "\n".join(line.removeprefix("cacheroute: error: ") for line in said)
        raise ConfigRefused(f"{plan.name} refuses its configuration:\n{words}", process=plan.name)
