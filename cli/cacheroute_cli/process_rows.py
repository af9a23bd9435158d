"""The processes of stacks, and those started by hand, as rows: from supervisors and from files.

A supervisor's word outranks the files; without one, an identity that still runs is an orphan.
"""

import os
import time
from collections.abc import Iterable

from cacheroute.console.rows.processes import ProcessRow
from cacheroute_cli.supervisor.messages import Request
from cacheroute_cli.supervisor.ports import read_port
from cacheroute_cli.supervisor.process import RUNGS
from cacheroute_cli.supervisor.stack_home import ProcessStatus, StackHome, homes
from cacheroute_cli.supervisor.state import Record, State

_BYTES_PER_MB = 1024 * 1024
_SILENCE_S = 10.0
_STOPPED = ("stopped", "exited")
BY_HAND = ("proxy", "instance", "attach", "agent", "web")
"""Kinds of processes that are started one by one."""


def row_of_status(status: ProcessStatus, *, state: str | None = None) -> ProcessRow:
    """Return what is shown of a process of a stack."""
    runs = status.pid is not None and state != "gone"
    uptime_s = None
    if runs and status.started_at_s is not None:
        uptime_s = max(0.0, time.time() - status.started_at_s)
    return ProcessRow(
        name=status.name,
        kind=status.kind,
        stack=status.stack,
        state=state or status.state,
        ready=status.ready if state is None else None,
        pid=status.pid if runs else None,
        restarts=status.restarts,
        uptime_s=uptime_s,
        cpu_percent=status.cpu_percent,
        rss_mb=None if status.rss_bytes is None else status.rss_bytes / _BYTES_PER_MB,
        ports=status.ports,
        urls=status.urls,
        last_exit=status.last_exit,
        why=status.why,
        log=status.log,
        argv=status.argv,
    )


def row_of_record(record: Record) -> ProcessRow:
    """Return what is shown of a process that was started by hand."""
    return ProcessRow(
        name=record.name,
        kind=record.kind,
        stack=None,
        state="running",
        ready=None,
        pid=record.pid,
        restarts=None,
        uptime_s=max(0.0, time.time() - record.started_at_s),
        cpu_percent=None,
        rss_mb=_rss_mb(record.pid),
        ports=_ports_of(record.urls),
        urls=record.urls,
        last_exit=None,
        why=None,
        log=record.log,
        argv=record.argv,
    )


def rows_of_stack(home: StackHome) -> list[ProcessRow]:
    """Return every process of a stack, in the order of their starts."""
    from cacheroute_cli.supervisor.asking import NoSupervisor, ask

    try:
        reply = ask(home, Request(do="ps"), lambda _: None, silence_s=_SILENCE_S)
    except NoSupervisor:
        if home.is_supervised():
            raise
        left = sorted(home.processes(), key=lambda status: _rung(status.kind))
        return [
            row_of_status(status, state="orphan" if status.is_running() else "gone")
            for status in left
        ]
    return [row_of_status(status) for status in reply.snapshot or ()]


def rows_of_all(state: State | None = None) -> list[ProcessRow]:
    """Return the processes of every stack, and then those that were started by hand."""
    state = state or State()
    rows = [row for home in homes(state.root) for row in rows_of_stack(home)]
    return rows + rows_by_hand(state)


def rows_by_hand(state: State | None = None) -> list[ProcessRow]:
    """Return the processes that were started one by one, and still run."""
    state = state or State()
    return [row_of_record(record) for kind in BY_HAND for record in state.running(kind)]


def only_wanted(rows: Iterable[ProcessRow]) -> list[ProcessRow]:
    """Leave out what has been stopped, or has ended as it should."""
    return [row for row in rows if row.state not in _STOPPED]


def _rung(kind: str) -> int:
    return RUNGS.index(kind) if kind in RUNGS else len(RUNGS)


def _ports_of(urls: dict[str, str]) -> dict[str, int]:
    found = {
        name: read_port(url.rpartition(":")[2].partition("/")[0]) for name, url in urls.items()
    }
    return {name: port for name, port in found.items() if port is not None}


def _rss_mb(pid: int) -> float | None:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
            pages = int(statm.read().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / _BYTES_PER_MB
