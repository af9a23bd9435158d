"""A small fleet of one's own, and the folder it lives in."""

import os
from pathlib import Path

import httpx
import pytest

from cacheroute_cli.demo_fleet import DemoFleet, demo_folder
from cacheroute_cli.supervisor.identity import identify
from cacheroute_cli.supervisor.signals import Stopped
from cacheroute_cli.supervisor.stack import Stack
from cacheroute_cli.supervisor.state import Record, State


def a_demo_record(name: str, *, start_ticks: int) -> Record:
    me = identify(os.getpid())
    assert me is not None
    return Record(
        name=name,
        kind="demo",
        pid=me.pid,
        start_ticks=start_ticks,
        boot_id=me.boot_id,
        argv=(),
        urls={},
        log=None,
        started_at_s=0.0,
    )


def test_fleets_come_up_one_after_the_other_with_their_own_strategy(tmp_path: Path) -> None:
    with Stack(tethered=True) as stack:
        fleets = DemoFleet(stack, tmp_path, instances=2, speed=10.0)
        first = fleets.up("round_robin")
        listed = httpx.get(f"{first.control_url}/v1/instance/list").json()
        assert sorted(row["instance_id"] for row in listed) == ["demo-1", "demo-2"]
        fleets.down(first)

        second = fleets.up("least_load")
        status = httpx.get(f"{second.control_url}/debug/status").json()

        assert status["strategy"] == "least_load"
        assert len(stack.children()) == 4
        assert first.proxy.exit_code() == 0
        assert [child.exit_code() for child in first.instances] == [0, 0]

    assert second.proxy.exit_code() == 0


def test_the_folder_is_there_for_the_run_and_gone_after_it(tmp_path: Path) -> None:
    with demo_folder(State(tmp_path)) as folder:
        assert (folder / "demo.json").exists()

    assert not folder.exists()


def test_after_an_error_the_folder_stays_for_its_logs(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), demo_folder(State(tmp_path)) as folder:  # noqa: PT012
        (folder / "proxy.log").touch()
        raise RuntimeError

    assert (folder / "proxy.log").exists()


def test_after_a_signal_it_goes(tmp_path: Path) -> None:
    with pytest.raises(Stopped), demo_folder(State(tmp_path)) as folder:
        raise Stopped(15)

    assert not folder.exists()


def test_what_dead_runs_left_is_swept_and_what_lives_is_not(tmp_path: Path) -> None:
    state = State(tmp_path)
    me = identify(os.getpid())
    assert me is not None
    state.write(a_demo_record("demo-1", start_ticks=me.start_ticks - 1))
    state.write(a_demo_record("demo-2", start_ticks=me.start_ticks))

    with demo_folder(state):
        assert not (tmp_path / "demo-1").exists()
        assert (tmp_path / "demo-2").exists()
