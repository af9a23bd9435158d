"""Asked, waited for, killed; and never the wrong one."""

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

from cacheroute_cli.supervisor.ending import Ending, end, end_all, end_marked
from cacheroute_cli.supervisor.identity import is_running
from cacheroute_cli.supervisor.runner import Child, spawn
from tests.cli.supervisor.children import (
    POLITE,
    SLEEPER,
    STUBBORN,
    a_program,
    eventually,
    is_gone,
)


def a_ready_child(code: str, folder: Path, name: str = "child") -> Child:
    child = spawn(a_program(code, folder, name=name), stack="test-ending", tethered=False)
    assert eventually(lambda: "ready" in child.first_words())
    return child


def test_a_process_that_listens_to_a_term_is_given_the_time_to_end(tmp_path: Path) -> None:
    child = a_ready_child(POLITE, tmp_path)

    assert end(child.identity, grace_s=10) is Ending.ENDED
    assert child.exit_code() == 0
    assert "bye" in child.last_words()


def test_a_process_that_ignores_a_term_is_killed_after_its_grace(tmp_path: Path) -> None:
    child = a_ready_child(STUBBORN, tmp_path)

    assert end(child.identity, grace_s=0.2) is Ending.KILLED
    assert child.exit_code() == -signal.SIGKILL


def test_somebody_in_a_hurry_cuts_the_grace_short(tmp_path: Path) -> None:
    child = a_ready_child(STUBBORN, tmp_path)

    began = time.monotonic()
    assert end_all([child.identity], grace_s=60, hurry=lambda: True) == [Ending.KILLED]

    assert time.monotonic() - began < 30
    assert child.exit_code() == -signal.SIGKILL


def test_the_whole_group_goes_with_its_leader(tmp_path: Path) -> None:
    parent = a_ready_child(
        "import subprocess, sys, time\n"
        "sleep = [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)']\n"
        "child = subprocess.Popen(sleep)\n"
        "print('ready', child.pid, flush=True)\n"
        "time.sleep(60)\n",
        tmp_path,
    )
    grandchild = int(parent.first_words().split()[1])

    end(parent.identity, grace_s=10)
    parent.exit_code()

    assert eventually(lambda: is_gone(grandchild))


def test_a_pid_that_has_been_used_again_is_left_alone(tmp_path: Path) -> None:
    child = a_ready_child(SLEEPER, tmp_path)
    earlier = replace(child.identity, start_ticks=child.identity.start_ticks - 1)
    other_boot = replace(child.identity, boot_id="another")
    try:
        assert end_all([earlier, other_boot], grace_s=0) == [Ending.WAS_GONE, Ending.WAS_GONE]
        assert is_running(child.identity)
    finally:
        end(child.identity, grace_s=5)
        child.exit_code()


def test_a_process_that_has_ended_was_gone(tmp_path: Path) -> None:
    child = a_ready_child(SLEEPER, tmp_path)
    end(child.identity, grace_s=5)
    child.exit_code()

    assert end(child.identity, grace_s=5) is Ending.WAS_GONE


def test_a_process_outside_the_group_is_found_by_its_mark(tmp_path: Path) -> None:
    parent = a_ready_child(
        "import subprocess, sys, time\n"
        "sleep = [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)']\n"
        "child = subprocess.Popen(sleep, start_new_session=True)\n"
        "print('ready', child.pid, flush=True)\n"
        "time.sleep(60)\n",
        tmp_path,
    )
    escaped = int(parent.first_words().split()[1])
    end(parent.identity, grace_s=10)
    parent.exit_code()
    os.kill(escaped, 0)

    assert end_marked("test-ending") == 1
    assert eventually(lambda: is_gone(escaped))
