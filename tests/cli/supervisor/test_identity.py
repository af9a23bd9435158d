"""A pid alone is nobody."""

import os
from pathlib import Path

import pytest

from cacheroute_cli.supervisor.ending import end
from cacheroute_cli.supervisor.identity import (
    STACK_VARIABLE,
    Identity,
    command_line,
    identify,
    is_running,
    marked_with,
)
from cacheroute_cli.supervisor.runner import spawn
from tests.cli.supervisor.children import SLEEPER, a_program, eventually


def a_proc(folder: Path, stat: str, boot_id: str = "boot-1") -> Path:
    (folder / "42").mkdir(parents=True)
    (folder / "42/stat").write_text(stat)
    (folder / "sys/kernel/random").mkdir(parents=True)
    (folder / "sys/kernel/random/boot_id").write_text(boot_id + "\n")
    return folder


def a_stat(name: str = "python", state: str = "S", ticks: int = 777) -> str:
    before = " ".join(str(n) for n in range(4, 22))
    return f"42 ({name}) {state} {before} {ticks} 0 0 0\n"


def test_a_process_is_its_pid_its_start_and_the_boot(tmp_path: Path) -> None:
    proc = a_proc(tmp_path, a_stat(ticks=777))

    assert identify(42, proc=proc) == Identity(pid=42, start_ticks=777, boot_id="boot-1")


@pytest.mark.parametrize("name", ["a b", "x) R 1 2", "((", ")"])
def test_a_name_with_blanks_and_parentheses_does_not_shift_the_fields(
    tmp_path: Path, name: str
) -> None:
    identity = identify(42, proc=a_proc(tmp_path, a_stat(name=name, ticks=9)))

    assert identity is not None
    assert identity.start_ticks == 9


@pytest.mark.parametrize("state", ["Z", "X"])
def test_a_zombie_is_nobody(tmp_path: Path, state: str) -> None:
    assert identify(42, proc=a_proc(tmp_path, a_stat(state=state))) is None


def test_a_pid_that_nobody_has_is_nobody(tmp_path: Path) -> None:
    assert identify(43, proc=a_proc(tmp_path, a_stat())) is None


def test_the_same_pid_with_another_start_or_another_boot_is_another_process(
    tmp_path: Path,
) -> None:
    proc = a_proc(tmp_path, a_stat(ticks=777))

    assert is_running(Identity(pid=42, start_ticks=777, boot_id="boot-1"), proc=proc)
    assert not is_running(Identity(pid=42, start_ticks=776, boot_id="boot-1"), proc=proc)
    assert not is_running(Identity(pid=42, start_ticks=777, boot_id="boot-0"), proc=proc)


def test_this_very_process_is_running_and_has_a_command_line() -> None:
    identity = identify(os.getpid())

    assert identity is not None
    assert is_running(identity)
    assert "python" in (command_line(os.getpid()) or "")


def test_processes_are_found_by_the_name_of_their_stack(tmp_path: Path) -> None:
    child = spawn(a_program(SLEEPER, tmp_path), stack="some-stack", tethered=False)
    try:
        assert eventually(lambda: marked_with("some-stack") == [child.identity])
        assert marked_with("some") == []
        assert STACK_VARIABLE not in os.environ
    finally:
        end(child.identity, grace_s=5)
        child.exit_code()
