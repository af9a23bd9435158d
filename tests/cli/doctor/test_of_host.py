"""Ports, what was left behind, files and programs of this host."""

import os
import resource
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cacheroute_cli.doctor.of_host import (
    PROGRAMS,
    check_files,
    check_left,
    check_ports,
    check_programs,
    check_state,
)
from cacheroute_cli.supervisor.identity import identify
from cacheroute_cli.supervisor.ports import Owner
from cacheroute_cli.supervisor.stack_home import ProcessStatus, StackHome, SupervisorRecord
from cacheroute_cli.supervisor.state import Record, State
from tests.support.full_disk import a_full_disk


def told(checks: Any) -> list[tuple[str, str]]:
    return [(f"{one.name} {one.verdict}", one.sentence) for one in checks]


def test_ports_that_can_be_had_are_one_line() -> None:
    assert told(check_ports((1, 2), free=lambda *_: True)) == [("ports ok", "1, 2 are free")]
    assert told(check_ports((1,), free=lambda *_: True)) == [("ports ok", "1 is free")]


def test_a_port_that_is_taken_says_by_whom() -> None:
    owners = {
        1: Owner(pid=7, command="python -P -m cacheroute --set x=y"),
        2: Owner(pid=8, command="nginx"),
        3: None,
    }

    found = told(check_ports(tuple(owners), free=lambda *_: False, owner=owners.get))

    assert found == [
        ("ports ok", "1 is ours, pid 7"),
        ("ports warn", "2 is taken by pid 8: nginx"),
        ("ports warn", "3 is taken by another user's process"),
    ]


def test_the_ports_of_a_stack_are_its_own_whatever_has_them() -> None:
    assert told(
        check_ports((1, 2, 3, 4), held={2: 7, 3: 7, 4: 8}, free=lambda _, port: port < 2)
    ) == [
        ("ports ok", "1 is free"),
        ("ports ok", "2-4 are the stack's"),
    ]
    assert told(check_ports(())) == [("ports ok", "all are chosen when the stack comes up")]


def test_a_real_port_is_seen_to_be_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        [(verdict, sentence)] = told(check_ports((port,)))

    assert f"pid {os.getpid()}" in sentence
    assert verdict.startswith("ports ")


def test_nothing_left_is_well(tmp_path: Path) -> None:
    assert told(check_left(State(tmp_path))) == [
        ("orphans ok", "none"),
        ("stale ok", "no records of processes that have ended"),
    ]


def a_record(tmp_path: Path, **changes: Any) -> None:
    me = identify(os.getpid())
    assert me is not None
    State(tmp_path).write(
        Record(
            **{
                "name": "p", "kind": "proxy", "pid": me.pid, "start_ticks": me.start_ticks,
                "boot_id": me.boot_id, "argv": (), "urls": {}, "log": None, "started_at_s": 0.0,
                **changes,
            }
        )
    )  # fmt: skip


def test_what_still_runs_is_not_stale(tmp_path: Path) -> None:
    a_record(tmp_path)

    assert [verdict for verdict, _ in told(check_left(State(tmp_path)))] == [
        "orphans ok", "stale ok",
    ]  # fmt: skip


def test_records_of_what_has_ended_are_stale(tmp_path: Path) -> None:
    a_record(tmp_path, start_ticks=1)

    assert told(check_left(State(tmp_path)))[1] == ("stale warn", "recorded, but not running: p")


def test_what_a_supervisor_that_is_gone_has_left_is_found(tmp_path: Path) -> None:
    home = StackHome("demo", tmp_path)
    home.prepare()
    home.write_supervisor(
        SupervisorRecord(
            stack="demo", pid=1, start_ticks=1, boot_id="x", mark=f"mark-{os.getpid()}",
            socket="", started_at_s=0.0,
        )
    )  # fmt: skip
    home.write_process(ProcessStatus(name="kdn", kind="kdn", stack="demo", state="running"))

    orphan = subprocess.Popen(
        [sys.executable, "-c", "print(1, flush=True); input()"],
        env={**os.environ, "CACHEROUTE_STACK": f"mark-{os.getpid()}"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with orphan:
        assert orphan.stdout is not None
        orphan.stdout.readline()
        orphans, stale = told(check_left(State(tmp_path)))
        orphan.kill()

    assert orphans == (
        "orphans bad", f"left by a supervisor that is gone: pid {orphan.pid} of demo",
    )  # fmt: skip
    assert stale == ("stale warn", "recorded, but not running: kdn of demo")


def test_a_long_list_is_cut(tmp_path: Path) -> None:
    for at in range(7):
        a_record(tmp_path, name=f"p{at}", start_ticks=1)

    assert told(check_left(State(tmp_path)))[1][1].endswith(" and 2 more")


def test_a_state_folder_must_take_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert check_state(State(tmp_path / "state")).verdict == "ok"
    assert list((tmp_path / "state").iterdir()) == []
    assert check_state(State(tmp_path / "file" / "state")).verdict == "bad"
    with a_full_disk():
        assert check_state(State(tmp_path / "state")).verdict == "bad"
    assert list((tmp_path / "state").iterdir()) == []


@pytest.mark.parametrize(
    ("soft", "verdict"),
    [(100, "bad"), (1024, "warn"), (4096, "ok"), (resource.RLIM_INFINITY, "ok")],
)
def test_few_files_are_too_few_for_a_proxy(soft: int, verdict: str) -> None:
    assert check_files(soft).verdict == verdict


def test_the_files_of_this_process_are_counted() -> None:
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]

    assert check_files() == check_files(soft)


def test_programs_that_are_not_here_are_no_fault() -> None:
    here = told(check_programs(lambda name: f"/bin/{name}"))
    gone = told(check_programs(lambda _: None))

    assert here[0] == ("programs ok", "redis-server: /bin/redis-server")
    assert gone[0] == (
        "programs ok", "redis-server is not here; only 'redis' in a stack file needs it",
    )  # fmt: skip
    assert len(gone) == len(PROGRAMS)
