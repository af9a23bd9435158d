"""Ending what is left of a stack: only what carries its very mark."""

from pathlib import Path

from cacheroute_cli.bringing_down import end_orphans, purge
from cacheroute_cli.supervisor.ending import end
from cacheroute_cli.supervisor.identity import is_running
from cacheroute_cli.supervisor.runner import spawn
from cacheroute_cli.supervisor.stack_home import StackHome, SupervisorRecord
from tests.cli.supervisor.children import SLEEPER, STUBBORN, a_program, eventually


def a_home(root: Path, mark: str) -> StackHome:
    home = StackHome("s", root)
    home.prepare()
    home.write_supervisor(
        SupervisorRecord(
            stack="s", pid=1, start_ticks=1, boot_id="b", mark=mark, socket="/s", started_at_s=1.0
        )
    )
    return home


def test_orphans_of_that_stack_are_ended_and_strangers_are_not(tmp_path: Path) -> None:
    home = a_home(tmp_path, "mark-of-s")
    orphan = spawn(a_program(STUBBORN, tmp_path), stack="mark-of-s", tethered=False)
    stranger = spawn(a_program(SLEEPER, tmp_path, name="b"), stack="mark-of-x", tethered=False)
    try:
        assert eventually(lambda: "ready" in orphan.first_words())

        assert end_orphans(home, grace_s=0.1) == 1

        assert eventually(lambda: orphan.exit_code() == -9)
        assert is_running(stranger.identity)
        assert end_orphans(home, grace_s=0.1) == 0
    finally:
        end(stranger.identity, grace_s=5)
        stranger.exit_code()


def test_a_stack_that_is_supervised_has_no_orphans_and_keeps_its_folder(tmp_path: Path) -> None:
    home = a_home(tmp_path, "mark-of-t")
    child = spawn(a_program(SLEEPER, tmp_path), stack="mark-of-t", tethered=False)
    try:
        with home.supervising():
            assert end_orphans(home, grace_s=0) == 0
            purge(home)
        assert is_running(child.identity)
        assert home.folder.exists()
    finally:
        end(child.identity, grace_s=5)
        child.exit_code()

    purge(home)
    assert not home.folder.exists()
