"""Rows of processes, from a supervisor's word or from what it left."""

import os
from pathlib import Path

from cacheroute_cli.process_rows import (
    only_wanted,
    row_of_record,
    row_of_status,
    rows_of_all,
    rows_of_stack,
)
from cacheroute_cli.supervisor.identity import identify
from cacheroute_cli.supervisor.stack_home import ProcessStatus, StackHome
from cacheroute_cli.supervisor.state import Record, State
from tests.cli.supervisor.stacks import a_plan, supervised


def a_record() -> Record:
    me = identify(os.getpid())
    assert me is not None
    return Record(
        name="hp_x:8001", kind="proxy", pid=me.pid, start_ticks=me.start_ticks,
        boot_id=me.boot_id, argv=("python",), log="/l", started_at_s=1.0,
        urls={"service": "http://h:8001", "control": "http://[::1]:8002/base"},
    )  # fmt: skip


def test_a_status_becomes_a_row_and_what_does_not_run_has_no_pid() -> None:
    status = ProcessStatus(
        name="a", kind="proxy", stack="s", state="running", pid=7, ready=True,
        started_at_s=1.0, rss_bytes=3 * 1024 * 1024, cpu_percent=1.5, ports={"service": 9},
    )  # fmt: skip

    row = row_of_status(status)
    assert (row.pid, row.ready, row.rss_mb, row.ports) == (7, True, 3.0, {"service": 9})
    assert row.uptime_s is not None
    gone = row_of_status(status, state="gone")
    assert (gone.state, gone.pid, gone.ready, gone.uptime_s) == ("gone", None, None, None)


def test_what_was_started_by_hand_has_its_ports_from_its_urls() -> None:
    row = row_of_record(a_record())

    assert row.ports == {"service": 8001, "control": 8002}
    assert (row.stack, row.state, row.restarts) == (None, "running", None)
    assert row.rss_mb is not None


def test_all_is_every_stack_and_then_what_was_started_by_hand(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.write(a_record())
    with supervised(tmp_path) as it:
        it.ask("apply", a_plan("a"), a_plan("b"))
        it.ask("stop", names=["b"])

        rows = rows_of_all(state)

    assert [(row.name, row.stack) for row in rows] == [("a", "s"), ("b", "s"), ("hp_x:8001", None)]
    assert [row.name for row in only_wanted(rows)] == ["a", "hp_x:8001"]


def test_without_a_supervisor_what_still_runs_is_an_orphan(tmp_path: Path) -> None:
    home = StackHome("s", tmp_path)
    home.prepare()
    me = identify(os.getpid())
    assert me is not None
    mine = {"pid": me.pid, "start_ticks": me.start_ticks, "boot_id": me.boot_id}
    home.write_process(ProcessStatus(name="a", kind="proxy", stack="s", state="running", **mine))  # type: ignore[arg-type]
    home.write_process(ProcessStatus(name="b", kind="kdn", stack="s", state="running"))

    assert [(row.name, row.state) for row in rows_of_stack(home)] == [
        ("b", "gone"),
        ("a", "orphan"),
    ]
