"""A demo to look at: traffic goes on while the console is open, and all ends with it."""

import asyncio
import os
import sys

import pytest

from cacheroute_cli.demo_console import _until_left, require_terminal
from cacheroute_cli.diagnostics import UsageFault
from tests.support.waiting import eventually


class Traffic:
    """Counts how often it began and how often it was ended."""

    def __init__(self) -> None:
        self.began = 0
        self.ended = 0
        self.has_begun = asyncio.Event()

    async def once(self) -> None:
        """Go on until ended."""
        self.began += 1
        self.has_begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended += 1


def program(text: str) -> list[str]:
    return [sys.executable, "-c", text]


async def test_when_the_console_is_left_the_traffic_ends_and_its_code_is_told() -> None:
    traffic = Traffic()
    code = await _until_left(program("raise SystemExit(7)"), traffic.once, os.environ)

    assert code == 7
    assert traffic.began == traffic.ended == 1


@pytest.mark.parametrize("text", ["import time; time.sleep(600)", "import signal; signal.pause()"])
async def test_when_the_demo_is_ended_the_console_ends(text: str) -> None:
    traffic = Traffic()
    running = asyncio.ensure_future(_until_left(program(text), traffic.once, os.environ))
    await eventually(lambda: traffic.began > 0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert traffic.ended == 1


def test_without_a_terminal_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)

    with pytest.raises(UsageFault, match="--tui needs a terminal"):
        require_terminal()
