"""Everything that can be done is found by a part of its name; what may not be done is not there."""

from pathlib import Path

import pytest

from cacheroute_cli.main import COMMANDS
from cacheroute_tui.palette import entries
from cacheroute_tui.screens.command_output import CommandOutput
from tests.tui.operated import Operated, until, until_shown
from tests.tui.showing import shown


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


async def test_without_write_the_palette_has_no_change(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app):
        names = [name for name, _, _ in entries(operated.app)]

    assert ":status" in names
    assert not {"drain (d)", ":drain", ":down", ":strategy", ":context use"} & set(names)


async def test_with_write_the_palette_has_them(tmp_path: Path) -> None:
    operated = Operated(tmp_path, write=True)
    async with shown(operated.app):
        names = [name for name, _, _ in entries(operated.app)]

    assert {"drain (d)", ":drain", "screen: Scores", "theme: cb", "pause (p)"} <= set(names)


async def test_the_palette_goes_where_it_is_told(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await pilot.press("ctrl+p", *"screen scores".replace(" ", ""))
        await until_shown(pilot, "screen: Scores")
        await pilot.press("enter")
        await until(pilot, lambda: operated.app.current_mode == "scores")


async def test_a_key_is_pressed_from_it(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await pilot.press("ctrl+p", *"pause")
        await until_shown(pilot, "pause (p)")
        await pilot.press("enter")
        await until(pilot, lambda: operated.app.is_paused)


async def test_a_command_that_looks_is_run_from_it(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        [act] = [act for name, _, act in entries(operated.app) if name == ":version"]
        act()
        await until(pilot, lambda: isinstance(operated.app.screen, CommandOutput))


async def test_one_that_needs_more_words_is_put_into_the_line(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        [act] = [act for name, _, act in entries(operated.app) if name == ":show"]
        act()
        await until(pilot, lambda: operated.app.screen.query_one("#command-line").display)


async def test_with_write_every_command_that_runs_here_is_in_it(tmp_path: Path) -> None:
    operated = Operated(tmp_path, write=True)
    async with shown(operated.app):
        names = {name for name, _, _ in entries(operated.app)}

    left_out = {f":{name}" for name in COMMANDS} - names
    assert left_out <= {":tui", ":web", ":repl", ":demo", ":record", ":watch"}
