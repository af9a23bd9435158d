"""The screen of processes: states, one log of all, and changes only where they are allowed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cacheroute_cli.supervisor.log_lines import LogLine
from cacheroute_tui.screens import processes as module
from cacheroute_tui.screens.processes import Processes
from cacheroute_tui.widgets.confirm import Confirm
from cacheroute_tui.widgets.pager import Pager
from tests.tui.operated import KeptProcesses, Operated, until, until_shown
from tests.tui.screens.requests import process
from tests.tui.showing import NARROW, settle, shown, text_of


def _operated(folder: Path, *, write: bool = False, lines: Sequence[LogLine] = ()) -> Operated:
    operated = Operated(folder, screen="processes", write=write)
    operated.processes = KeptProcesses(
        [process("proxy"), process("inst-1", ready=False), process("inst-2", "failed")],
        lines or [
            LogLine(at_s=1.0, name="proxy", text="listening on [127.0.0.1]:8001"),
            LogLine(at_s=2.0, name="inst-1", text="\x1b[31merror\x1b[0m 一 \x1b]0;title\x07"),
            LogLine(at_s=3.0, name="proxy", text="x" * 200 + " tail"),
        ],
    )  # fmt: skip
    operated.app.processes = operated.processes
    return operated


def _log(operated: Operated) -> str:
    return operated.app.screen.query_one("#log", Pager).text


async def test_processes_and_their_merged_log_are_shown(tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    async with shown(operated.app, NARROW) as pilot:
        await until_shown(pilot, "listening")
        text = text_of(operated.app)

    assert "proxy" in text
    assert "failed" in text
    assert "120" in text
    assert "listening on [127.0.0.1]:8001" in text
    assert "error 一 \\x1b]0;title\\x07" in text
    assert "│" not in text


async def test_the_log_is_narrowed_by_an_expression(tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "listening")
        await pilot.press("ampersand", *"err|tail", "enter")
        await settle(pilot)

        assert "listening" not in _log(operated)
        assert "error" in _log(operated)
        await pilot.press("ampersand", "backspace", *"(?=(a+)+$)")
        await settle(pilot)
        assert "invalid perl operator" in text_of(operated.app)
        await pilot.press("escape")
        await settle(pilot)
        assert "listening" in _log(operated)


async def test_of_two_of_one_name_enter_shows_the_log_of_the_one_under_the_cursor(
    tmp_path: Path,
) -> None:
    rows = [
        replace(process("proxy"), stack=stack, pid=pid, log=f"/nowhere/{stack}/proxy.log")
        for stack, pid in (("a", 11), ("b", 12))
    ]
    operated = _operated(tmp_path)
    operated.processes = KeptProcesses(
        rows,
        [
            LogLine(at_s=1.0, name="proxy", text=f"I am of {row.stack}", log=Path(row.log or ""))
            for row in rows
        ],
    )
    operated.app.processes = operated.processes
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "I am of b")
        await pilot.press("j", "enter")
        await settle(pilot)
        assert _log(operated).splitlines()[0].endswith("I am of b")
        assert "I am of a" not in _log(operated)
        operated.processes.found = [replace(row, pid=99) for row in rows]
        operated.processes.lines = [
            LogLine(at_s=2.0, name="proxy", text=f"{row.stack} again", log=Path(row.log or ""))
            for row in rows
        ]
        await pilot.press("2", "8")
        await until_shown(pilot, "b again")
        assert "a again" not in _log(operated), "it is followed when it is started anew"
        await pilot.press("enter")
        await settle(pilot)
        assert "I am of a" in _log(operated)


async def test_enter_shows_the_log_of_one_process(tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "listening")
        await pilot.press("j", "enter")
        await settle(pilot)
        assert "listening" not in _log(operated)
        assert "log of inst-1" in text_of(operated.app)
        await pilot.press("enter")
        await settle(pilot)
        assert "listening" in _log(operated)


async def test_a_log_that_is_held_counts_what_comes(tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "listening")
        await pilot.press("z")
        operated.processes.lines = [LogLine(at_s=4.0, name="proxy", text="later")]
        screen = operated.app.front
        assert isinstance(screen, Processes)
        screen.tick()
        await until_shown(pilot, "held, 1 more")
        assert "later" not in _log(operated)
        await pilot.press("z")
        await settle(pilot)
        assert "later" in _log(operated)


async def test_long_lines_are_broken_when_asked_for(tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "listening")
        assert " tail" not in text_of(operated.app)
        await pilot.press("w")
        await settle(pilot)
        assert " tail" in text_of(operated.app)


async def test_where_nothing_runs_that_is_said(tmp_path: Path) -> None:
    operated = Operated(tmp_path, screen="processes")
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "cacheroute up -d")
        assert "no stack runs on this host" in text_of(operated.app)


async def test_what_cannot_be_told_is_said(tmp_path: Path) -> None:
    operated = Operated(tmp_path, screen="processes")
    operated.processes.trouble = "the supervisor of stack demo says nothing"
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "the supervisor of stack demo says nothing")


async def test_a_change_is_confirmed_first(tmp_path: Path) -> None:
    operated = _operated(tmp_path, write=True)
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "inst-2")
        await pilot.press("d")
        await settle(pilot)
        asked = operated.app.screen
        assert isinstance(asked, Confirm)
        assert asked.text.startswith("stop proxy (stack demo, running, pid 4242).")
        assert operated.processes.changes == []
        await pilot.press("y")
        await until(pilot, lambda: operated.processes.changes)
        assert operated.processes.changes == [("stop", "proxy")]


@pytest.mark.parametrize("key", ["d", "u", "R"])
async def test_without_write_no_process_is_touched(key: str, tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "inst-2")
        await pilot.press(key)
        screen = operated.app.screen
        assert isinstance(screen, Processes)
        screen.action_change("stop")
        await settle(pilot)

        assert operated.app.screen is screen
        assert operated.processes.changes == []
        assert "Stop" not in text_of(operated.app)
        assert operated.said[0].startswith("read-only: to ")


async def test_o_reads_the_log_in_the_pager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    paths: list[Path] = []

    def pager(_: object, path: Path) -> str | None:
        read.append(path.read_text())
        paths.append(path)
        return "there is no pager here: set PAGER"

    monkeypatch.setattr(module, "read_in_pager", pager)
    operated = _operated(tmp_path)
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "listening")
        await pilot.press("o")

        assert "listening on [127.0.0.1]:8001" in read[0]
        assert len(read[0].splitlines()) == 3
        assert not paths[0].exists(), "it is not left behind"


async def test_nothing_is_asked_while_another_screen_is_shown(tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "inst-2")
        await pilot.press("2")
        await settle(pilot)
        operated.processes.lines = [LogLine(at_s=4.0, name="proxy", text="later")]
        operated.app._tick()
        await settle(pilot)

        assert operated.processes.lines


async def test_where_a_supervisor_tells_of_changes_it_is_asked_seldom(tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    kept = operated.processes
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "inst-2")
        await until(pilot, lambda: kept.heard == {"demo"})
        asked = kept.asked
        for tick in range(module.MEASURED_EVERY * 2):
            kept.lines = [LogLine(at_s=9.0, name="proxy", text=f"line {tick}")]
            operated.app._tick()
            await until(pilot, lambda: not kept.lines)
        await until(pilot, lambda: kept.asked == asked + 2)
        assert "line 9" in _log(operated)

        kept.found = [process("proxy", "backoff")]
        kept.changed()
        await until_shown(pilot, "backoff")


async def test_a_supervisor_that_ends_is_asked_for_every_second_again(tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    kept = operated.processes
    async with shown(operated.app) as pilot:
        await until(pilot, lambda: kept.heard == {"demo"})
        kept.found = [process("proxy", "orphan")]
        kept.supervisor_ends.set()
        await until(pilot, lambda: kept.heard is None)
        for _ in range(3):
            before = kept.asked
            operated.app._tick()
            await until(pilot, lambda before=before: kept.asked > before)  # type: ignore[misc]
        assert kept.heard is None
        assert "orphan" in text_of(operated.app)


async def test_while_it_is_hidden_nobody_is_heard(tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    kept = operated.processes
    async with shown(operated.app) as pilot:
        await until(pilot, lambda: kept.heard == {"demo"})
        await pilot.press("2")
        await until(pilot, lambda: kept.heard is None)
        await pilot.press("8")
        await until(pilot, lambda: kept.heard == {"demo"})


async def test_while_it_is_paused_a_change_is_not_asked_for(tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    kept = operated.processes
    async with shown(operated.app) as pilot:
        await until(pilot, lambda: kept.heard == {"demo"})
        await pilot.press("p")
        await settle(pilot)
        asked = kept.asked
        kept.changed()
        operated.app._tick()
        await settle(pilot)

        assert kept.asked == asked


async def test_changes_that_follow_at_once_wait_for_the_second(tmp_path: Path) -> None:
    operated = _operated(tmp_path)
    kept = operated.processes
    async with shown(operated.app) as pilot:
        await until(pilot, lambda: kept.heard == {"demo"})
        asked = kept.asked
        for _ in range(5):
            kept.changed()
        await settle(pilot)
        assert kept.asked == asked
        operated.app._tick()
        await until(pilot, lambda: kept.asked == asked + 1)


async def test_the_end_of_the_log_is_what_is_seen_first(tmp_path: Path) -> None:
    operated = Operated(tmp_path, screen="processes")
    lines = [LogLine(at_s=float(at), name="proxy", text=f"line {at} of it") for at in range(100)]
    operated.app.processes = KeptProcesses([process("proxy")], lines)
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "line 99 of it")
        assert "line 0 of it" not in text_of(operated.app)
