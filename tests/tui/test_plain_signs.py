"""A terminal that shows ASCII only gets nothing else: no screen, nothing over it, no toast."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rich.segment import Segment
from textual.color import Color
from textual.pilot import Pilot
from textual.widgets._toast import Toast

from cacheroute.console.source import Source
from cacheroute_tui import frame
from cacheroute_tui.app import SCREENS
from cacheroute_tui.command_history import CommandHistory
from cacheroute_tui.opening import open_source
from cacheroute_tui.options import Target
from cacheroute_tui.plain_signs import PlainSigns
from cacheroute_tui.widgets.confirm import Confirm
from tests.tui.fleet import StillClock, lost
from tests.tui.operated import KeptOperator, KeptProcesses, until
from tests.tui.screens.requests import process
from tests.tui.showing import NARROW, NORMAL, WIDE, console, settle, shown, text_of

NAMES = [one.NAME for one in SCREENS]


def simulated() -> Source:
    """Return the simulated fleet."""
    return open_source(Target(proxy_url="demo:7", name="demo"), False)


def not_ascii(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.isascii()]


def test_a_frame_is_written_cell_for_cell() -> None:
    line = [Segment("╭─ a ─▇╮"), Segment("plain"), Segment("推論●")]

    drawn = PlainSigns().apply(line, Color(0, 0, 0))

    assert [one.text for one in drawn] == ["+- a -|+", "plain", "????*"]


@pytest.mark.parametrize("size", [NARROW, NORMAL, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", NAMES)
async def test_every_screen_of_the_simulated_fleet(name: str, size: tuple[int, int]) -> None:
    app = console(simulated(), screen=name, ascii=True)
    app.processes = KeptProcesses([process("proxy"), process("inst-1", ready=False)])
    async with shown(app, size) as pilot:
        await settle(pilot)

        assert not not_ascii(text_of(app))


OVER = {
    "help": ("?",),
    "explain": ("e",),
    "sort": ("s",),
    "alerts": ("x",),
    "detail": ("enter",),
    "filter": ("slash", *"gpu>", "enter"),
    "command": ("colon", *"sc", "tab"),
    "palette": ("ctrl+p", *"ov"),
    "contexts": ("C",),
    "paused": ("p",),
    "marked": ("space", "j", "space"),
    "a toast": ("t",),
}


@pytest.mark.parametrize("keys", OVER.values(), ids=OVER)
async def test_all_that_is_opened_over_a_screen(
    keys: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))
    target = Target(proxy_url="demo:7", name="demo…")
    app = console(simulated(), ascii=True, targets=(target,))
    app.command_history = CommandHistory(tmp_path / "console-history")
    async with shown(app) as pilot:
        await app.known_commands()
        before = text_of(app)
        await pilot.press(*keys)
        await settle(pilot)

        assert text_of(app) != before
        assert not not_ascii(text_of(app))


async def test_a_question_and_its_toast(tmp_path: Path) -> None:
    app = console(ascii=True, write=True)
    app.open_operator = lambda *_: KeptOperator()
    async with shown(app) as pilot:
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        assert not not_ascii(text_of(app))

        await pilot.press("y")
        await until(pilot, lambda: bool(app.screen.query(Toast)))
        assert not not_ascii(text_of(app))


async def test_the_output_of_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    app = console(ascii=True)
    async with shown(app) as pilot:
        app.run_line("explain iws")
        await until(pilot, lambda: "exit " in frame.text_of(pilot.app.screen))

        assert not not_ascii(text_of(app))


async def _lost(pilot: Pilot[int]) -> None:
    app = pilot.app
    app.feed.source.trouble = lost()  # type: ignore[attr-defined]
    for _ in range(3):
        app.clock.move(1.0)  # type: ignore[attr-defined]
        await app.feed.look()  # type: ignore[attr-defined]


async def _small(pilot: Pilot[int]) -> None:
    await pilot.resize_terminal(40, 10)


@pytest.mark.parametrize("happens", [_lost, _small])
async def test_what_happens_to_a_console(happens: Callable[[Pilot[int]], object]) -> None:
    app = console(ascii=True, clock=StillClock())
    async with shown(app) as pilot:
        await happens(pilot)  # type: ignore[misc]
        await settle(pilot)

        assert not not_ascii(text_of(app))
