"""What a command says: line by line, bounded, ended with the window."""

import asyncio
from collections.abc import Callable

from textual.app import App

from cacheroute_tui import frame
from cacheroute_tui.command_run import Ended
from cacheroute_tui.screens import command_output
from cacheroute_tui.screens.command_output import CommandOutput


class _Host(App[None]):
    def __init__(self, output: CommandOutput) -> None:
        super().__init__()
        self._output = output
        self.handed: list[object] = []

    def on_mount(self) -> None:
        """Show it."""
        self.push_screen(self._output, self.handed.append)


def _shown(
    run: Callable[[Callable[[str], None]], "asyncio.Future[Ended]"],
) -> tuple[_Host, CommandOutput, list[str]]:
    copied: list[str] = []
    output = CommandOutput("show [b]一[/b]", run, copy=copied.append)
    return _Host(output), output, copied


async def test_lines_are_text_and_the_end_is_told() -> None:
    async def run(told: Callable[[str], None]) -> Ended:
        told("[b]bold[/b]\tcolumn")
        return Ended(exit=3)

    app, _, copied = _shown(run)  # type: ignore[arg-type]
    async with app.run_test(size=(60, 12)) as pilot:
        for _ in range(5):
            await pilot.pause()
        text = frame.text_of(app.screen)
        assert ":show [b]一[/b]" in text
        assert "[b]bold[/b]    column" in text
        assert " exit 3" in text
        await pilot.press("w", "Y", "escape")
        await pilot.pause()

    assert copied == ["[b]bold[/b]    column"]
    assert app.handed == [("[b]bold[/b]    column",)]


async def test_what_still_runs_is_ended_with_the_window() -> None:
    ended = asyncio.Event()

    async def run(told: Callable[[str], None]) -> Ended:
        told("waiting")
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return Ended(exit=0)

    app, _, _ = _shown(run)  # type: ignore[arg-type]
    async with app.run_test(size=(60, 12)) as pilot:
        for _ in range(5):
            await pilot.pause()
        assert "running" in frame.text_of(app.screen)
        await pilot.press("escape")
        await asyncio.wait_for(ended.wait(), 30)


async def test_only_the_last_lines_are_kept() -> None:
    async def run(told: Callable[[str], None]) -> Ended:
        for number in range(command_output.MAX_LINES + 10):
            told(f"line {number}")
        return Ended(exit=0, is_cut=True)

    app, output, _ = _shown(run)  # type: ignore[arg-type]
    async with app.run_test(size=(60, 12)) as pilot:
        for _ in range(5):
            await pilot.pause()
        assert len(output.output) <= command_output.MAX_LINES
        assert output.output[-1] == f"line {command_output.MAX_LINES + 9}"
        assert "it said too much" in frame.text_of(app.screen)
