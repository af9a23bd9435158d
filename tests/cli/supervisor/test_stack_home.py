"""A stack's folder: one supervisor at a time, and records that a reader never sees half of."""

import fcntl
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.faults import StateUnwritable
from cacheroute_cli.supervisor.identity import identify
from cacheroute_cli.supervisor.stack_home import (
    ProcessStatus,
    StackHome,
    SupervisorRecord,
    homes,
)
from tests.support.full_disk import a_full_disk


@pytest.fixture
def home(tmp_path: Path) -> StackHome:
    home = StackHome("s", tmp_path)
    home.prepare()
    return home


def a_record(home: StackHome) -> SupervisorRecord:
    return SupervisorRecord(
        stack=home.name, pid=1, start_ticks=2, boot_id="b", mark="m", socket="/s", started_at_s=3.0
    )


def test_only_one_supervises_and_everybody_can_see_that(home: StackHome) -> None:
    assert not home.is_supervised()
    with home.supervising() as first:
        assert first
        assert home.is_supervised()
        with home.supervising() as second:
            assert not second
    assert not home.is_supervised()


def test_records_are_read_as_they_were_written_and_can_be_forgotten(home: StackHome) -> None:
    status = ProcessStatus(name="a", kind="proxy", stack="s", state="running", ports={"x": 1})
    home.write_supervisor(a_record(home))
    home.write_process(status)

    assert home.supervisor() == a_record(home)
    assert home.processes() == [status]

    home.forget_all()
    assert home.supervisor() is None
    assert home.processes() == []
    assert [path.name for path in (home.folder / "procs").iterdir()] == []


def test_a_record_that_cannot_be_read_is_none(home: StackHome) -> None:
    (home.folder / "supervisor.json").write_text("{")
    (home.folder / "procs" / "a.json").write_text('{"name": 3}')

    assert home.supervisor() is None
    assert home.processes() == []


def test_a_status_is_running_only_as_that_very_process() -> None:
    import os

    me = identify(os.getpid())
    assert me is not None
    mine = ProcessStatus(
        name="a", kind="x", stack=None, state="running",
        pid=me.pid, start_ticks=me.start_ticks, boot_id=me.boot_id,
    )  # fmt: skip
    reused = ProcessStatus(
        name="a", kind="x", stack=None, state="running",
        pid=me.pid, start_ticks=me.start_ticks - 1, boot_id=me.boot_id,
    )  # fmt: skip

    assert mine.is_running()
    assert not reused.is_running()
    assert not ProcessStatus(name="a", kind="x", stack=None, state="stopped").is_running()


def test_the_socket_is_below_the_runtime_folder_and_tells_state_folders_apart(
    tmp_path: Path, home: StackHome
) -> None:
    runtime = {"XDG_RUNTIME_DIR": str(tmp_path)}
    other = StackHome("s", tmp_path / "other")

    assert home.socket({}) == home.folder / "supervisor.sock"
    assert home.socket({"XDG_RUNTIME_DIR": "/nowhere/at/all"}) == home.folder / "supervisor.sock"
    assert home.socket(runtime).parent == tmp_path / "cacheroute"
    assert home.socket(runtime) != other.socket(runtime)


def test_a_folder_that_cannot_be_written_to_is_a_fault_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "stacks").write_text("a file in the way")

    with pytest.raises(StateUnwritable, match="cannot be written to") as caught:
        StackHome("s", tmp_path).prepare()

    assert caught.value.exit == Exit.FAILED
    assert "CACHEROUTE_STATE_DIR" in (caught.value.hint or "")


def test_a_full_disk_is_a_fault_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with a_full_disk(), pytest.raises(StateUnwritable, match="File too large"):
        StackHome("s", tmp_path).prepare()

    assert sorted(path.name for path in (tmp_path / "stacks" / "s").iterdir()) == ["logs", "procs"]


def test_every_stack_is_found_by_its_folder(tmp_path: Path, home: StackHome) -> None:
    StackHome("b", tmp_path).prepare()

    assert [found.name for found in homes(tmp_path)] == ["b", "s"]
    assert homes(tmp_path / "none") == []


def test_a_look_at_the_lock_does_not_keep_a_supervisor_from_it(
    home: StackHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.folder / "lock").touch()
    with (home.folder / "lock").open() as looking:
        # As `is_supervised` holds it for a moment.
        fcntl.flock(looking, fcntl.LOCK_SH)
        monkeypatch.setattr(
            "cacheroute_cli.supervisor.stack_home.sleep",
            lambda _: fcntl.flock(looking, fcntl.LOCK_UN),
        )

        with home.supervising() as is_mine:
            assert is_mine
