"""Records survive their command, and are believed only when the process agrees."""

import fcntl
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

import cacheroute_cli.supervisor.state as state_module
from cacheroute_cli.supervisor.faults import StateLocked, StateUnwritable
from cacheroute_cli.supervisor.identity import identify
from cacheroute_cli.supervisor.state import (
    Record,
    State,
    file_name,
    prove_writable,
    state_root,
)
from tests.support.full_disk import a_full_disk


def a_record(name: str = "proxy-a", **changes: object) -> Record:
    me = identify(os.getpid())
    assert me is not None
    record = Record(
        name=name,
        kind="proxy",
        pid=me.pid,
        start_ticks=me.start_ticks,
        boot_id=me.boot_id,
        argv=("python", "-m", "cacheroute"),
        urls={"service": "http://127.0.0.1:8001"},
        log=None,
        started_at_s=1.0,
    )
    return replace(record, **changes)  # type: ignore[arg-type]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    state = State(tmp_path / "state")

    state.write(a_record())

    assert state.read("proxy", "proxy-a") == a_record()
    assert state.records("proxy") == [a_record()]
    assert state.records("agent") == []


def test_no_trace_of_the_writing_is_left(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.write(a_record())

    assert [path.name for path in (tmp_path / "proxy-a").iterdir()] == ["proxy.json"]


def test_only_a_record_of_the_very_process_counts_as_running(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.write(a_record("this"))
    state.write(a_record("reused", start_ticks=a_record().start_ticks - 1))
    state.write(a_record("before-boot", boot_id="another"))

    assert [record.name for record in state.running("proxy")] == ["this"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"name": "x"}', '{"argv": 1, "urls": 2}'])
def test_a_damaged_record_is_no_record(tmp_path: Path, content: str) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/proxy.json").write_text(content)

    assert State(tmp_path).read("proxy", "broken") is None
    assert State(tmp_path).records("proxy") == []


def test_a_record_from_a_later_version_is_not_half_understood(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.write(a_record())
    path = tmp_path / "proxy-a/proxy.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "new_field": 1}))

    assert state.read("proxy", "proxy-a") is None


def test_forgetting_leaves_a_record_that_another_process_has_written(tmp_path: Path) -> None:
    state = State(tmp_path)
    old, new = a_record(), a_record(pid=1)
    state.write(new)

    state.forget(old)
    assert state.read("proxy", "proxy-a") == new

    state.forget(new)
    state.forget(new)
    assert state.read("proxy", "proxy-a") is None


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", ".", ".hidden", "a/b", "a\0b"])
def test_no_name_leads_out_of_the_state_folder(tmp_path: Path, name: str) -> None:
    state = State(tmp_path)

    state.write(a_record(name))

    [path] = tmp_path.glob("*/proxy.json")
    assert path.parent.parent == tmp_path
    assert state.read("proxy", name) == a_record(name)


def test_the_usual_names_stay_readable_as_files() -> None:
    assert file_name("hp_127.0.0.1:8001") == "hp_127.0.0.1:8001"


def test_a_lock_that_another_command_keeps_is_a_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_module, "_LOCK_WAIT_S", 0.0)
    with (tmp_path / "lock").open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)

        with pytest.raises(StateLocked, match="another command"), State(tmp_path).locked():
            pass

    with State(tmp_path).locked():
        pass


def test_the_state_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CACHEROUTE_STATE_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/op")
    assert state_root() == Path("/home/op/.local/state/cacheroute")

    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    assert state_root() == Path("/var/state/cacheroute")

    monkeypatch.setenv("CACHEROUTE_STATE_DIR", "/srv/cr")
    assert state_root() == Path("/srv/cr")


def test_a_folder_is_proven_by_a_file_that_never_stays(tmp_path: Path) -> None:
    prove_writable(tmp_path)
    with a_full_disk(), pytest.raises(OSError, match="too large"):
        prove_writable(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_a_record_that_cannot_be_written_is_a_fault_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "proxy-a").touch()

    with pytest.raises(StateUnwritable, match="cannot be used") as caught:
        State(tmp_path).write(a_record())

    assert "CACHEROUTE_STATE_DIR" in (caught.value.hint or "")
