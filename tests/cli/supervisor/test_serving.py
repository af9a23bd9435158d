"""The supervisor as a process: one of them, and nothing left when it is gone, however it goes."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.asking import NoSupervisor, ask
from cacheroute_cli.supervisor.ending import end
from cacheroute_cli.supervisor.identity import is_running, marked_with
from cacheroute_cli.supervisor.messages import Request
from cacheroute_cli.supervisor.process import StopRule
from cacheroute_cli.supervisor.runner import Child, spawn
from cacheroute_cli.supervisor.serving import Guard
from cacheroute_cli.supervisor.stack_home import StackHome
from tests.cli.supervisor.children import (
    SLEEPER,
    STUBBORN,
    a_program,
    an_environment,
    eventually,
    is_gone,
)
from tests.cli.supervisor.stacks import a_plan, supervised

LEAVES_ONE = (
    "import subprocess, sys\n"
    "sleep = [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)']\n"
    "child = subprocess.Popen(sleep, start_new_session=True)\n"
    "print(child.pid, flush=True)\n" + SLEEPER
)


def test_a_killed_supervisor_leaves_no_child_not_even_a_stubborn_one_or_a_grandchild(
    tmp_path: Path,
) -> None:
    with supervised(tmp_path) as it:
        it.ask(
            "apply",
            a_plan("good"),
            a_plan("stubborn", STUBBORN, stop=StopRule(grace_s=0.3)),
            a_plan("parent", LEAVES_ONE, stop=StopRule(grace_s=0.3)),
        )
        record = it.home.supervisor()
        assert record is not None
        assert eventually(lambda: "ready" in it.home.log_of("stubborn").read_text())
        assert eventually(lambda: "ready" in it.home.log_of("parent").read_text())
        marked = marked_with(record.mark)
        assert len(marked) == 5  # three, a grandchild and the guard

        it.kill()

        assert eventually(lambda: not any(is_running(identity) for identity in marked))
        assert [status.is_running() for status in it.home.processes()] == [False] * 3


def test_what_a_killed_supervisor_recorded_holds_nobody_up(tmp_path: Path) -> None:
    with supervised(tmp_path) as it:
        it.ask("apply", a_plan("a"))
        it.kill()
        assert it.home.supervisor() is not None
        assert it.home.socket(os.environ).exists()
    with supervised(tmp_path) as again:
        again.ask("apply", a_plan("a"))

        assert again.status("a").ready


def test_a_pid_that_has_been_used_again_is_never_killed(tmp_path: Path) -> None:
    stranger = spawn(a_program(SLEEPER, tmp_path), stack="stranger", tethered=False)
    try:
        with supervised(tmp_path) as it:
            it.ask("apply", a_plan("a"))
            it.kill()
            [status] = it.home.processes()
            record = it.home.supervisor()
            assert record is not None
        earlier = stranger.identity.start_ticks - 1
        pid = stranger.pid
        it.home.write_process(replace(status, pid=pid, start_ticks=earlier))
        it.home.write_supervisor(replace(record, pid=pid, start_ticks=earlier))
        with supervised(tmp_path) as again:
            again.ask("apply", a_plan("a"))
            again.ask("down")

        assert is_running(stranger.identity)
    finally:
        end(stranger.identity, grace_s=5)
        stranger.exit_code()


def test_there_is_one_supervisor_of_a_stack(tmp_path: Path) -> None:
    with supervised(tmp_path) as it:
        second = subprocess.run(
            [sys.executable, "-P", "-m", "cacheroute_cli.supervisor", "s", str(tmp_path)],
            env=an_environment(), capture_output=True, text=True, check=False, timeout=30,
        )  # fmt: skip

        assert second.returncode == Exit.CONFLICT
        assert "another 'cacheroute up' supervises stack s" in second.stderr
        assert it.ask("ps").done


def test_a_signal_ends_the_stack_in_order_and_leaves_no_state(tmp_path: Path) -> None:
    with supervised(tmp_path) as it:
        it.ask("apply", a_plan("p", kind="proxy"), a_plan("i"))
        pids = [it.pid("p"), it.pid("i")]

        it.process.send_signal(signal.SIGTERM)

        assert it.process.wait(timeout=20) == 0
        assert all(is_gone(pid) for pid in pids)
        assert it.home.processes() == []
        assert it.home.supervisor() is None
        assert not it.home.socket().exists()
        log = it.home.supervisor_log.read_text()
        assert log.index("i stopped") < log.index("p stopped")
        with pytest.raises(NoSupervisor):
            it.ask("ps")


def test_a_second_signal_kills_at_once(tmp_path: Path) -> None:
    with supervised(tmp_path) as it:
        it.ask("apply", a_plan("a", STUBBORN, stop=StopRule(grace_s=50)))
        assert eventually(lambda: "ready" in it.home.log_of("a").read_text())
        pid = it.pid("a")

        it.process.send_signal(signal.SIGINT)
        assert eventually(lambda: "ending the stack" in it.home.supervisor_log.read_text())
        it.process.send_signal(signal.SIGINT)

        assert it.process.wait(timeout=20) == 0
        assert is_gone(pid)


def test_a_guard_that_has_ended_is_replaced(tmp_path: Path) -> None:
    with supervised(tmp_path) as it:
        it.ask("apply", a_plan("a"))
        record = it.home.supervisor()
        assert record is not None
        [guard] = [i for i in marked_with(record.mark) if i.pid != it.pid("a")]

        os.kill(guard.pid, signal.SIGKILL)

        assert eventually(lambda: "there is a new one" in it.home.supervisor_log.read_text())
        assert it.status("a").ready


def test_only_the_owner_may_speak_to_it_and_a_long_path_is_no_hindrance(tmp_path: Path) -> None:
    root = tmp_path / ("x" * 120)
    with supervised(root, "long") as it:
        path = it.home.socket(os.environ)

        assert path.stat().st_mode & 0o777 == 0o600
        assert it.home.folder.stat().st_mode & 0o077 == 0
        assert it.ask("ps").snapshot == ()


def test_what_it_does_not_understand_is_a_fault_and_not_the_end(tmp_path: Path) -> None:
    with supervised(tmp_path) as it:
        for line in (b"{}\n", b"not json\n", b'{"do":"dance"}\n', b"\n", b"\xff\xfe\n"):
            with closing(socket.socket(socket.AF_UNIX)) as connection:
                folder = os.open(it.home.socket().parent, os.O_PATH)
                connection.connect(f"/proc/self/fd/{folder}/{it.home.socket().name}")
                os.close(folder)
                connection.sendall(line)
                said = json.loads(connection.makefile().readline())
            assert said["fault"]["exit"] == Exit.USAGE
            assert "not understood" in said["fault"]["message"]

        assert msgspec.json.encode(it.ask("ps"))


def test_who_is_told_nothing_leaves_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cacheroute_cli.supervisor.serving.IDLE_S", 0.5)
    from cacheroute_cli.supervisor.serving import supervise

    home = StackHome("idle", tmp_path)
    said: list[str] = []

    assert supervise(home, say=said.append) == 0
    assert said == ["nothing to do for 0.5 s"]
    with pytest.raises(NoSupervisor):
        ask(home, Request(do="ps"), said.append)


def test_a_guard_that_cannot_be_replaced_yet_is_replaced_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = StackHome("s", tmp_path)
    home.prepare()
    guard = Guard(home, f"test-guard-{os.getpid()}")
    first = guard.pid
    os.kill(first, signal.SIGKILL)
    is_busy = True

    def spawned(*given: Any, **more: Any) -> Child:
        if is_busy:
            raise OSError("too many open files")
        return spawn(*given, **more)

    monkeypatch.setattr("cacheroute_cli.supervisor.serving.spawn", spawned)
    assert eventually(lambda: is_gone_from(first))
    assert not guard.ensure()
    assert guard.pid == first

    is_busy = False
    assert guard.ensure()
    assert guard.pid != first
    guard.close()


def is_gone_from(pid: int) -> bool:
    """Whether a child of ours has ended; it is left to be reaped by whoever started it."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
