"""A real terminal to test in: tmux, with a server of its own."""

import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

_PATIENCE_S = 60.0
_TMUX = shutil.which("tmux") or "tmux"

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Pane:
    """A terminal of 80x24 in a tmux server of its own."""

    def __init__(
        self, socket: Path, command: str, environ: Mapping[str, str] | None = None
    ) -> None:
        self._socket = socket
        self._environ = None if environ is None else dict(environ)
        self._run(
            "-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", "80", "-y", "24", command
        )

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            [_TMUX, "-S", str(self._socket), *words],
            capture_output=True,
            text=True,
            check=False,
            env=self._environ,
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
