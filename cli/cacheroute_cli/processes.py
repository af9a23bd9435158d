"""Starting and stopping one process by hand: detached with a record of it, or in our place.

The same steps for Proxy, Instance and agent; only the Launch differs.
"""

import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from cacheroute.member.complaint import ERRORS_VARIABLE
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit, Fault, note, stderr_is_terminal
from cacheroute_cli.launch import Launch
from cacheroute_cli.supervisor.ending import Ending, end, end_marked
from cacheroute_cli.supervisor.faults import (
    AlreadyRunning,
    ChildFailed,
    NoSuchProcess,
    StateUnwritable,
)
from cacheroute_cli.supervisor.identity import identify
from cacheroute_cli.supervisor.ports import require_free
from cacheroute_cli.supervisor.runner import Child, Program
from cacheroute_cli.supervisor.state import Record, State

START_TIMEOUT_S = 30.0
STOP_GRACE_S = 40.0
"""Longer than the 30 s a Proxy gives running answers, or it would be killed among them."""


class NotOurs(Fault):
    """The process lives on, since it belongs to somebody else."""

    code = "process.not_ours"
    exit = Exit.NOT_ALLOWED


class Ambiguous(Fault):
    """Several processes could be meant."""

    code = "process.ambiguous"
    exit = Exit.USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRow:
    """One process, as it is shown."""

    name: str
    kind: str
    state: str
    """`running` or `stopped`."""
    pid: int | None
    urls: dict[str, str]
    log: str | None
    uptime_s: float | None
    took_s: float | None = None
    """How long it took to become ready, or to end."""


def row_of(record: Record, *, state: str = "running", took_s: float | None = None) -> ProcessRow:
    """Return what is shown of a record."""
    is_running = state == "running"
    return ProcessRow(
        name=record.name,
        kind=record.kind,
        state=state,
        pid=record.pid if is_running else None,
        urls=record.urls,
        log=record.log,
        uptime_s=max(0.0, time.time() - record.started_at_s) if is_running else None,
        took_s=took_s,
    )


def start_detached(
    launch: Launch,
    *,
    wait: Callable[[Child], re.Match[str]] | None = None,
    called: str | None = None,
    state: State | None = None,
) -> ProcessRow:
    """Start a process that outlives us, and return once it is ready.

    `wait` finds the line that it says then; `called` is what messages call it, for which its
    kind will do. Raises AlreadyRunning, PortTaken, NotReady, or what its early end stands for.
    """
    from cacheroute_cli.supervisor.stack import Stack

    state = state or State()
    began = time.monotonic()
    with Stack(tethered=False) as stack:
        # Others must not wait for the lock as long as we may wait for the process.
        with state.locked():
            require_not_running(launch.kind, launch.name, state)
            require_free(launch.wanted)
            log = state.log_path(launch.kind, launch.name)
            program = Program(name=called or launch.kind, argv=launch.argv, log=log, env=launch.env)
            [child] = stack.start(program)
            record = _record_of(launch, child, stack=stack.name)
            state.write(record)
        try:
            match = _wait_for_line(launch, child) if wait is None else wait(child)
        except BaseException:
            state.forget(record)
            raise
        record = replace(record, urls=match.groupdict())
        state.write(record)
        stack.let_go()
    return row_of(record, took_s=time.monotonic() - began)


def _wait_for_line(launch: Launch, child: Child) -> re.Match[str]:
    from cacheroute_cli.supervisor.ready import wait_for_line

    try:
        return wait_for_line(child, launch.says_ready, timeout_s=START_TIMEOUT_S)
    except ChildFailed as fault:
        said = _as_typed(fault.message, launch.typed)
        raise type(fault)(said, hint=fault.hint, **fault.details) from None


def _as_typed(message: str, typed: Mapping[str, str]) -> str:
    """Name each option as it was typed, and not as we have passed it on."""
    lines = []
    for line in message.splitlines():
        given, colon, rest = line.partition(": ")
        lines.append(f"{typed[given]}{colon}{rest}" if given in typed else line)
    return "\n".join(lines)


def become(launch: Launch, *, as_json: bool = False, state: State | None = None) -> None:
    """Turn this very process into the one to run; returns never.

    Raises AlreadyRunning or PortTaken before; `as_json` is how it is to tell its own errors.
    """
    state = state or State()
    require_not_running(launch.kind, launch.name, state)
    require_free(launch.wanted)
    me = identify(os.getpid())
    if me is not None:
        try:
            state.write(
                Record(
                    name=launch.name,
                    kind=launch.kind,
                    # An exec changes what runs, not who: pid and start time stay.
                    pid=me.pid,
                    start_ticks=me.start_ticks,
                    boot_id=me.boot_id,
                    argv=launch.argv,
                    urls={
                        wanted.purpose.split()[0].lower(): f"http://{wanted.host}:{wanted.port}"
                        for wanted in launch.wanted
                        if wanted.port
                    },
                    log=None,
                    started_at_s=time.time(),
                )
            )
        except StateUnwritable as fault:
            # A read-only home must not keep a container from running its Proxy.
            note(f"cacheroute: note: 'stop' will not find this process: {fault.message}")
    sys.stdout.flush()
    os.environ.update(launch.env)
    if as_json:
        os.environ[ERRORS_VARIABLE] = "json"
    os.execv(launch.argv[0], launch.argv)  # noqa: S606


def find_record(kind: str, name: str | None, *, state: State) -> Record | None:
    """Return the running process that is meant; None when none is.

    Without a name it is the only one there is; raises Ambiguous when there are more, and
    NoSuchProcess for a name that was never started here.
    """
    if name is not None:
        record = state.read(kind, name)
        if record is None:
            known = ", ".join(r.name for r in state.running(kind)) or "none"
            raise NoSuchProcess(f"no {kind} called {name!r} was started here (running: {known})")
        return record if record.is_running() else None
    running = state.running(kind)
    if len(running) > 1:
        raise Ambiguous(
            f"more than one {kind} runs here: {', '.join(r.name for r in running)}",
            hint="say which one by its name",
        )
    return running[0] if running else None


def stop(
    kind: str,
    name: str | None,
    *,
    grace_s: float = STOP_GRACE_S,
    state: State | None = None,
) -> ProcessRow | None:
    """End the process that is meant; None when none runs, which is as good.

    Raises NotOurs when it may not be ended by us.
    """
    state = state or State()
    began = time.monotonic()
    _forget_the_gone(kind, state)
    try:
        record = find_record(kind, name, state=state)
    except NoSuchProcess:
        # Stopping twice is no error, and what is stopped is forgotten.
        return None
    if record is None:
        return None
    ending = end(record.identity, grace_s=grace_s)
    if record.is_running():
        raise NotOurs(f"pid {record.pid} ({record.name}) is not ours to stop", pid=record.pid)
    if record.stack is not None:
        end_marked(record.stack)
    state.forget(record)
    if ending is Ending.KILLED:
        note(f"cacheroute: note: {record.name} did not end within {grace_s:g} s and was killed")
    return row_of(record, state="stopped", took_s=time.monotonic() - began)


def show_started(context: Context, row: ProcessRow, *next_steps: str) -> None:
    """Print what runs now and where, and on a terminal what to do with it."""
    show_process(context, row)
    if stderr_is_terminal() and not context.as_json:
        for at, step in enumerate(next_steps):
            note(f"{'' if at else 'next':<10}{step}")


def stopping(kind: str, name: str) -> str:
    """Return the command that stops a process."""
    return f"cacheroute {kind} stop {shlex.quote(name)}"


def show_process(context: Context, row: ProcessRow) -> None:
    """Print one process."""
    from cacheroute.console.amounts import render_duration
    from cacheroute.console.lines import Line
    from cacheroute_cli.output import print_document, print_lines

    if context.as_json:
        print_document("cacheroute.processes/1", {"items": [row]})
        return
    facts = [row.name, row.state]
    if row.pid is not None:
        facts.append(f"pid {row.pid}")
    if row.took_s is not None:
        facts.append(f"{'ready' if row.pid else 'ended'} in {render_duration(row.took_s)}")
    elif row.uptime_s is not None:
        facts.append(f"up {render_duration(row.uptime_s)}")
    lines = [Line(label=row.kind, facts=tuple(facts))]
    if row.pid is not None:
        lines += [Line(label=what, facts=(url,)) for what, url in row.urls.items()]
        lines += [Line(label="log", facts=(row.log,))] if row.log else []
    print_lines(context, lines)


def show_stopped(
    context: Context, kind: str, row: ProcessRow | None, *, name: str | None = None
) -> None:
    """Print what was stopped; nothing to stop is worth a note and no error."""
    if row is not None:
        show_process(context, row)
    elif context.as_json:
        from cacheroute_cli.output import print_document

        print_document("cacheroute.processes/1", {"items": []})
    else:
        state = State()
        running = ", ".join(record.name for record in state.running(kind))
        called = f" called {name!r}" if name else ""
        note(f"no {kind}{called} that was started by hand runs here"
             + (f" (running: {running})" if running else ""))  # fmt: skip
        if up := what_is_up(state):
            note(up)


def what_is_up(state: State) -> str | None:
    """Say which stacks are up, whose processes are not those started by hand; None without one."""
    from cacheroute_cli.supervisor.stack_home import homes

    names = [home.name for home in homes(state.root) if home.is_supervised()]
    if not names:
        return None
    which, shown = (
        (f"stack {names[0]} is", "its")
        if len(names) == 1
        else (f"stacks {', '.join(names)} are", "their")
    )
    return f"{which} up: 'cacheroute ps --all' shows {shown} processes"


def require_not_running(kind: str, name: str, state: State) -> None:
    """Raise AlreadyRunning when there is such a process already."""
    record = state.read(kind, name)
    if record is not None and record.is_running():
        raise AlreadyRunning(
            f"{kind} {name} runs already, as pid {record.pid}",
            hint=f"stop it with '{stopping(kind, name)}'",
            pid=record.pid,
        )


def _record_of(launch: Launch, child: Child, *, stack: str) -> Record:
    return Record(
        name=launch.name,
        kind=launch.kind,
        pid=child.identity.pid,
        start_ticks=child.identity.start_ticks,
        boot_id=child.identity.boot_id,
        argv=launch.argv,
        urls={},
        log=str(child.program.log),
        started_at_s=time.time(),
        stack=stack,
    )


def _forget_the_gone(kind: str, state: State) -> None:
    for record in state.records(kind):
        if not record.is_running():
            state.forget(record)
