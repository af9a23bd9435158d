"""A model server and its attachment to a pool, run together and ended together.

Both are children that die with us. The server starts first and leaves last: it is out of the
pool before it is asked to end.
"""

import os
import re
import select
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from cacheroute.console.amounts import render_duration
from cacheroute_cli.attaching import (
    SAYS_ATTACHED,
    Attaching,
    environment,
    launch_attach,
    name_of,
    named,
    said_of_member,
)
from cacheroute_cli.context import TOKEN_VARIABLE, Context
from cacheroute_cli.processes import ProcessRow, require_not_running, row_of, show_started
from cacheroute_cli.server_command import ServerCommand
from cacheroute_cli.supervisor.faults import ChildFailed, words_of
from cacheroute_cli.supervisor.identity import identify
from cacheroute_cli.supervisor.ports import Wanted, require_free
from cacheroute_cli.supervisor.ready import wait_until
from cacheroute_cli.supervisor.restarts import told
from cacheroute_cli.supervisor.runner import Child, Program, python
from cacheroute_cli.supervisor.signals import Stopped
from cacheroute_cli.supervisor.stack import Stack
from cacheroute_cli.supervisor.state import Record, State
from cacheroute_cli.waiting import last_line, seldom, tail_of, waiting

KIND = "instance"
START_TIMEOUT_S = 3600.0
"""A large model takes its time to be fetched and loaded."""
STOP_GRACE_S = 30.0
NOT_FOR_SERVERS = ("CACHEROUTE_TOKEN", "PROXY_CP_TOKEN")
"""Variables that a server has no business with."""
_SAYS_UP = re.compile(r"^instance .*  running  ", re.M)
_TAIL_LINES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """One server that is to be run and attached."""

    command: ServerCommand
    attaching: Attaching
    start_timeout_s: float = START_TIMEOUT_S
    """How long the server may take until it answers."""
    grace_s: float = STOP_GRACE_S
    """How long it may take to end before it is killed."""


class ServerEnded(ChildFailed):
    """A server that was up has ended by itself."""

    code = "server.ended"


def serve(context: Context, serving: Serving, *, state: State | None = None) -> None:
    """Run a server in the pool until a signal comes.

    Raises what its early end stands for, NotReady, AlreadyRunning or PortTaken; Stopped when
    a signal came before it was in the pool.
    """
    state = state or State()
    is_up = False
    try:
        stack = Stack(tethered=True, grace_s=serving.grace_s)
        with _recorded(serving, stack, state) as record, stack:
            began_s = time.monotonic()
            server, attacher = _start(serving, stack, state)
            _wait_until_attached(serving, server, attacher)
            is_up = True
            row = row_of(record, took_s=time.monotonic() - began_s)
            show_started(context, row, "ctrl-c ends it and takes it out of the pool")
            raise _first_end([server, attacher], began_s)
    except Stopped:
        if not is_up:
            raise


def serve_detached(serving: Serving, *, state: State | None = None) -> ProcessRow:
    """Run a server in the pool behind our back, and return once it is there."""
    state = state or State()
    name = name_of(serving.attaching)
    require_not_running(KIND, name, state)
    require_free([_wanted(serving)])
    began_s = time.monotonic()
    # Its children each get their grace, one after the other, before it is killed itself.
    with Stack(tethered=False, grace_s=2 * serving.grace_s + 5) as stack:
        log = state.log_path("run", name)
        token = serving.attaching.token
        program = Program(
            name="instance run",
            argv=python("-P", "-m", "cacheroute_cli", *foreground(serving)),
            log=log,
            env={TOKEN_VARIABLE: token} if token else {},
        )
        [child] = stack.start(program)
        record = _wait_for_record(serving, child, name, state)
        stack.let_go()
    return row_of(record, took_s=time.monotonic() - began_s)


def foreground(serving: Serving) -> Iterator[str]:
    """Give the arguments of our own program that do the same in the foreground."""
    attaching, command = serving.attaching, serving.command
    yield from ("instance", "run", "--proxy-url", attaching.proxy_url)
    yield from ("--port", str(command.port), "--advertise-host", command.host)
    yield from ("--start-timeout", f"{serving.start_timeout_s:g}")
    yield from ("--grace", f"{serving.grace_s:g}")
    yield from said_of_member(attaching)
    yield from ("--", *command.argv)


def _start(serving: Serving, stack: Stack, state: State) -> tuple[Child, Child]:
    name = name_of(serving.attaching)
    [server] = stack.start(
        Program(
            name=serving.command.name,
            argv=serving.command.argv,
            log=state.log_path(KIND, name),
            without=NOT_FOR_SERVERS,
        )
    )
    [attacher] = stack.start(
        Program(
            name="attach",
            argv=launch_attach(serving.attaching).argv,
            log=state.log_path("attach", name),
            env=environment(serving.attaching),
        )
    )
    return server, attacher


def _wait_until_attached(serving: Serving, server: Child, attacher: Child) -> None:
    where = serving.command.url
    with waiting(
        f"{server.program.name}: starting at {where}", lambda: last_line(server.last_words())
    ) as tick:

        def attached() -> re.Match[str] | None:
            tick()
            return SAYS_ATTACHED.search(attacher.first_words())

        try:
            wait_until(
                seldom(attached),
                what=f"{server.program.name} did not answer at {where}",
                children=[server, attacher],
                timeout_s=serving.start_timeout_s,
            )
        except ChildFailed as fault:
            raise _told(fault, attacher) from None


def _told(fault: ChildFailed, attacher: Child) -> ChildFailed:
    if fault.details.get("log") == str(attacher.program.log):
        return named(fault)
    # What a foreign program says with its exit code is not what we would.
    return ChildFailed(fault.message, hint=fault.hint, **fault.details)


def _wait_for_record(serving: Serving, child: Child, name: str, state: State) -> Record:
    """Wait until the one behind our back says that it is up; it keeps its own record."""
    what = f"{serving.command.name}: starting at {serving.command.url}"
    log = state.log_path(KIND, name)
    with waiting(what, lambda: last_line(tail_of(log))) as tick:

        def record() -> Record | None:
            tick()
            return state.read(KIND, name) if _SAYS_UP.search(child.first_words()) else None

        try:
            return wait_until(
                seldom(record),
                what=f"{serving.command.name} was not in the pool",
                children=[child],
                timeout_s=serving.start_timeout_s + 2 * serving.grace_s,
            )
        except ChildFailed as fault:
            raise named(fault) from None


@contextmanager
def _recorded(serving: Serving, stack: Stack, state: State) -> Iterator[Record]:
    """Keep a record of this process, so that `stop` finds it; raises when there is another."""
    name = name_of(serving.attaching)
    me = identify(os.getpid())
    assert me is not None, "this process runs"  # noqa: S101
    record = Record(
        name=name,
        kind=KIND,
        pid=me.pid,
        start_ticks=me.start_ticks,
        boot_id=me.boot_id,
        argv=serving.command.argv,
        urls={"url": serving.command.url, "proxy": serving.attaching.proxy_url},
        log=str(state.log_path(KIND, name)),
        started_at_s=time.time(),
        stack=stack.name,
    )
    with state.locked():
        require_not_running(KIND, name, state)
        require_free([_wanted(serving)])
        state.write(record)
    try:
        yield record
    finally:
        state.forget(record)


def _wanted(serving: Serving) -> Wanted:
    command = serving.command
    return Wanted(host=command.bind_host, port=command.port, purpose="server", option="--port")


def _first_end(children: Sequence[Child], began_s: float) -> ServerEnded:
    """Wait, without waking up in between, until the first of them ends."""
    poll = select.poll()
    opened: list[int] = []
    try:
        for child in children:
            try:
                opened.append(os.pidfd_open(child.pid))
            except ProcessLookupError:
                break  # it is reaped already, so somebody has ended
            poll.register(opened[-1], select.POLLIN)
        if len(opened) == len(children):
            poll.poll()
    finally:
        for descriptor in opened:
            os.close(descriptor)
    ended = next(child for child in children if child.exit_code() is not None)
    code = ended.exit_code() or 0
    took = render_duration(time.monotonic() - began_s)
    lines = [line for line in ended.last_words().splitlines() if line.strip()]
    said, advice = words_of(lines[-_TAIL_LINES:])
    return ServerEnded(
        "\n".join([f"{ended.program.name} {told(code)} after {took}", *said]),
        hint=" · ".join(filter(None, (advice, f"its log is {ended.program.log}"))),
        child_exit=code,
        log=str(ended.program.log),
    )
