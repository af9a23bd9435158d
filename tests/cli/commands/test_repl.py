"""`cacheroute repl`: at a real terminal, and as a script."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.supervisor.children import an_environment

WITHIN_S = 30.0


def test_lines_are_run_in_order_and_their_first_failure_is_the_code(cli: Cli) -> None:
    said = cli("repl", "-e", ":version", "-e", "nonsense", "-e", "version")

    assert said.code == Exit.USAGE
    assert said.out.count("cacheroute 0.") == 2
    assert "there is no command 'nonsense'" in said.err


def test_what_is_given_before_holds_for_each_line(cli: Cli) -> None:
    said = cli("-o", "json", "repl", "-e", "version")

    assert said.code == Exit.OK
    assert said.document["schema"] == "cacheroute.version/1"


class Terminal:
    """The prompt at a pseudo-terminal."""

    def __init__(self, state: Path) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cacheroute_cli", "repl", "--proxy-url", "127.0.0.1:1"],
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env=an_environment(CACHEROUTE_STATE_DIR=str(state), TERM="xterm", HOME=str(state)),
        )  # fmt: skip
        os.close(theirs)
        self.read = b""
        self._seen = 0

    def wait_for(self, text: bytes, nudge: Callable[[], None] = lambda: None) -> None:
        """Read on until it says so, behind what was waited for before."""
        deadline_s = time.monotonic() + WITHIN_S
        while (at := self.read.find(text, self._seen)) < 0:
            assert time.monotonic() < deadline_s, f"it said {self.read!r}"
            if select.select([self._ours], [], [], 1.0)[0]:
                self.read += os.read(self._ours, 65_536)
            else:
                nudge()
        self._seen = at + len(text)

    def interrupt(self) -> None:
        """Do what Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._ours, keys)

    def close(self) -> None:
        os.close(self._ours)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path / "state")
    yield terminal
    terminal.close()


def test_a_person_types_errs_interrupts_and_leaves(terminal: Terminal, tmp_path: Path) -> None:
    prompt = b"127.0.0.1:1> "
    terminal.wait_for(prompt)
    assert b"cannot reach the control plane at http://127.0.0.1:1" in terminal.read
    terminal.type(b":nonsense\r")
    terminal.wait_for(b"exit 2\r\n")
    terminal.wait_for(prompt)
    terminal.type(b"half a line")
    terminal.wait_for(b"half a line")
    terminal.interrupt()
    # A line editor that is busy with a key does not hear it.
    terminal.wait_for(prompt, terminal.interrupt)
    terminal.type(b":versi\t-q\r")
    terminal.wait_for(b"version -q\r\n")
    terminal.wait_for(b"cacheroute 0.")
    terminal.wait_for(prompt)
    terminal.type(b"\x04")
    assert terminal.process.wait(timeout=WITHIN_S) == Exit.OK
    history = tmp_path / "state" / "history"
    assert history.read_text().splitlines()[:2] == [":nonsense", ":version -q"]
    assert history.stat().st_mode & 0o777 == 0o600
