"""The console in a real terminal, tmux: it draws, takes keys, follows a resize, and leaves."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.live_proxy import LiveProxy, live_proxy

_PATIENCE_S = 60.0
_TMUX = shutil.which("tmux") or "tmux"

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Pane:
    """A terminal of 80x24 in a tmux server of its own."""

    def __init__(self, socket: Path, command: str) -> None:
        self._socket = socket
        self._run(
            "-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", "80", "-y", "24", command
        )

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            [_TMUX, "-S", str(self._socket), *words], capture_output=True, text=True, check=False
        )
        return done.stdout

    def text(self) -> str:
        """Return what it shows."""
        return self._run("capture-pane", "-t", "t", "-p")

    def keys(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        self._run("send-keys", "-t", "t", *keys)

    def resize(self, width: int, height: int) -> None:
        """Make it another size."""
        self._run("resize-window", "-t", "t", "-x", str(width), "-y", str(height))

    def until(self, *wanted: str) -> str:
        """Wait until it shows all of this; returns what it shows."""
        until_s = time.monotonic() + _PATIENCE_S
        while True:
            text = self.text()
            if all(one in text for one in wanted):
                return text
            assert time.monotonic() < until_s, text
            time.sleep(0.05)

    def until_gone(self, unwanted: str) -> None:
        """Wait until it does not show this any more."""
        until_s = time.monotonic() + _PATIENCE_S
        while unwanted in self.text():
            assert time.monotonic() < until_s, self.text()
            time.sleep(0.05)

    def end(self) -> None:
        """End the server and what runs in it."""
        self._run("kill-server")


@pytest.fixture
def proxy() -> Iterator[LiveProxy]:
    """Run a Proxy with a pool."""
    with live_proxy() as found:
        found.register("inst-1", "inst-2")
        yield found


@pytest.fixture
def pane(proxy: LiveProxy, tmp_path: Path) -> Iterator[Pane]:
    """Open the console of that Proxy in a terminal."""
    words = f"{sys.executable} -P -m cacheroute_tui --theme=dark --screen=instances"
    command = f"{words} --proxy-url={proxy.url}; echo left with $?; cat"
    found = Pane(tmp_path / "tmux", command)
    yield found
    found.end()


def test_it_draws_takes_keys_follows_a_resize_and_leaves(pane: Pane) -> None:
    text = pane.until("LIVE", "2INST", "inst-1")
    assert max(map(len, text.splitlines())) <= 80

    pane.keys("/")
    pane.keys("q")
    pane.until("/ q")
    pane.keys("Escape")
    # An escape right before another key would be one key with it.
    pane.until_gone("/ q")
    pane.keys("?")
    pane.until("keys of Instances")
    pane.keys("Escape")
    pane.until_gone("keys of Instances")
    pane.resize(120, 36)
    pane.until("2 INSTANCES", "8 Processes")
    pane.resize(60, 16)
    pane.until("2INST")
    pane.resize(80, 24)
    pane.until("2INST", "Quit")
    pane.keys("q")
    pane.until("left with 0")
