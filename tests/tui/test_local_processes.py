"""What runs here and what it writes, from the files that supervisors leave."""

import asyncio
import struct
from pathlib import Path

import pytest

from cacheroute_cli.supervisor.log_files import times_path
from cacheroute_tui.local_processes import (
    FIRST_LINES,
    LocalProcesses,
    ProcessTrouble,
    last_lines,
)
from tests.cli.supervisor.stacks import a_plan, supervised
from tests.support.waiting import eventually
from tests.tui.screens.requests import process


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)


def test_where_nothing_was_started_there_is_nothing() -> None:
    assert LocalProcesses().rows() == []


def test_logs_are_merged_by_the_time_at_which_lines_came(tmp_path: Path) -> None:
    a, b = tmp_path / "a.log", tmp_path / "b.log"
    a.write_text("first\nthird\n")
    b.write_text("second\n")
    times_path(a).write_bytes(struct.pack("<dQdQ", 1.0, 6, 3.0, 12))
    times_path(b).write_bytes(struct.pack("<dQ", 2.0, 7))

    found = LocalProcesses().added({a: "a", b: "b"})

    assert [line.text for line in found] == ["first", "second", "third"]


def test_only_what_is_new_comes_the_next_time(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("old\n")
    desk = LocalProcesses()
    desk.added({log: "a"})
    with log.open("a") as file:
        file.write("new\nhalf")

    assert [line.text for line in desk.added({log: "a"})] == ["new"]
    assert desk.added({log: "a"}) == []


def test_processes_of_one_name_in_two_stacks_have_a_log_each(tmp_path: Path) -> None:
    logs = {tmp_path / "one.log": "proxy", tmp_path / "two.log": "proxy"}
    desk = LocalProcesses()
    desk.added(logs)
    for path in logs:
        path.write_text(f"{path.stem}\n")

    assert sorted(line.text for line in desk.added(logs)) == ["one", "two"]


def test_a_log_that_is_told_no_more_is_followed_no_more(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("old\n")
    desk = LocalProcesses()
    desk.added({log: "a"})
    desk.added({})

    assert [line.text for line in desk.added({log: "a"})] == ["old"]


def test_of_a_long_log_the_end_is_read_and_no_half_line(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"line {number} {'x' * 100}\n" for number in range(5_000)))

    found = last_lines("a", log)

    assert len(found) == FIRST_LINES
    assert found[-1].text.startswith("line 4999 ")
    assert all(line.text.startswith("line ") for line in found)


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert last_lines("a", tmp_path / "none.log") == []


def test_without_a_supervisor_nothing_is_started() -> None:
    with pytest.raises(ProcessTrouble, match="stack demo is not up"):
        LocalProcesses().change("start", process("proxy"))


def test_what_was_started_by_hand_is_left_alone() -> None:
    from dataclasses import replace

    with pytest.raises(ProcessTrouble, match="by hand"):
        LocalProcesses().change("stop", replace(process("proxy"), stack=None))


async def test_a_supervisor_tells_of_changes_until_it_ends(tmp_path: Path) -> None:
    told = 0

    def changed() -> None:
        nonlocal told
        told += 1

    with supervised(tmp_path / "state") as it:
        watching = asyncio.ensure_future(LocalProcesses().watch({"s"}, changed))
        await eventually(lambda: told == 1, within_s=30.0)
        await asyncio.to_thread(it.ask, "apply", a_plan("a"))
        await eventually(lambda: told > 1, within_s=30.0)
        await asyncio.to_thread(it.ask, "down")
        await asyncio.wait_for(watching, 30.0)


async def test_whom_nobody_listens_to_any_more_is_let_go(tmp_path: Path) -> None:
    with supervised(tmp_path / "state") as it:
        heard = asyncio.Event()
        watching = asyncio.ensure_future(LocalProcesses().watch({"s"}, heard.set))
        await asyncio.wait_for(heard.wait(), 30.0)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)

        assert (await asyncio.to_thread(it.ask, "ps")).done


async def test_without_a_supervisor_there_is_nothing_to_hear() -> None:
    await LocalProcesses().watch({"none"}, lambda: None)
    await LocalProcesses().watch((), lambda: None)
