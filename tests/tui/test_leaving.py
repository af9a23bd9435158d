"""A real terminal: what the console leaves behind, and that nothing runs when it is gone."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

_PATIENCE_S = 60.0
_LEFT_SCREEN = b"\x1b[?1049l"
_DRAWN = b"q"


class Terminal:
    """A console in a terminal of its own."""

    def __init__(self, *, ignores_hangup: bool = False, program: str | None = None) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            if ignores_hangup:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
            # Nobody listens there, which is a fine thing to look at.
            run = ["-m", "cacheroute_tui"] if program is None else ["-c", program]
            words = ["-P", *run, "--proxy-url=http://127.0.0.1:9", "--theme=dark"]
            environ = {**os.environ, "TERM": "xterm-256color"}
            os.execve(sys.executable, [sys.executable, *words], environ)  # noqa: S606 - our own interpreter
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.said = b""
        self.is_closed = False

    def read_until(self, wanted: bytes) -> None:
        """Read what it writes until something is in it."""
        until_s = time.monotonic() + _PATIENCE_S
        while wanted not in self.said:
            assert time.monotonic() < until_s, self.said[-500:]
            if not select.select([self.fd], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(self.fd, 65_536)
            except OSError:
                break
            if not data:
                break
            self.said += data

    def close(self) -> None:
        """Close the terminal, as when its window is."""
        self.is_closed = True
        os.close(self.fd)

    def ended(self) -> int:
        """Wait for its end, reading on; returns the exit code."""
        until_s = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until_s:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                self._drain()
                return os.waitstatus_to_exitcode(status)
            if not self.is_closed and select.select([self.fd], [], [], 0.05)[0]:
                with suppress(OSError):
                    self.said += os.read(self.fd, 65_536)
            else:
                time.sleep(0.05)
        raise AssertionError("it has not ended")

    def _drain(self) -> None:
        """Read what it wrote last, which may have come after the last look and before its end."""
        while not self.is_closed and select.select([self.fd], [], [], 0)[0]:
            try:
                data = os.read(self.fd, 65_536)
            except OSError:
                return
            if not data:
                return
            self.said += data

    def end(self) -> None:
        """End it whatever it does."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if not self.is_closed:
            os.close(self.fd)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    """Hand out a list of terminals, all of which end with the test."""
    found: list[Terminal] = []
    yield found
    for one in found:
        one.end()


def begun(terminals: list[Terminal], **options: Any) -> Terminal:
    terminal = Terminal(**options)
    terminals.append(terminal)
    terminal.read_until(b"Quit")
    return terminal


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_a_signal_ends_it_and_the_terminal_is_as_before(
    terminals: list[Terminal], number: signal.Signals, code: int
) -> None:
    terminal = begun(terminals)
    os.kill(terminal.pid, number)

    assert terminal.ended() == code
    assert _LEFT_SCREEN in terminal.said
    flags = termios.tcgetattr(terminal.fd)[3]
    assert flags & termios.ECHO
    assert flags & termios.ICANON


_STUCK = """
import asyncio, signal
from cacheroute_tui.leaving import Leaving

Leaving.PATIENCE_S = 0.1

async def main():
    leaving = Leaving(lambda *_, **__: None, lambda: print("restored", flush=True))
    leaving.watch()
    print("up", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_that_is_stuck_ends_all_the_same_and_restores_the_terminal(
    number: signal.Signals,
) -> None:
    words = [sys.executable, "-P", "-c", _STUCK]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as stuck:
        assert stuck.stdout is not None
        assert stuck.stdout.readline() == "up\n"
        stuck.send_signal(number)

        assert stuck.stdout.read() == "restored\n"
        assert stuck.wait(_PATIENCE_S) == 128 + number


def test_a_terminal_that_cannot_be_restored_holds_nobody_up() -> None:
    program = _STUCK.replace('lambda: print("restored", flush=True)', "threading.Event().wait")
    words = [sys.executable, "-P", "-c", f"import threading{program}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as stuck:
        assert stuck.stdout is not None
        assert stuck.stdout.readline() == "up\n"
        stuck.send_signal(signal.SIGHUP)

        assert stuck.wait(_PATIENCE_S) == 128 + signal.SIGHUP


_STUCK_AT_THE_END = """
import sys, threading
from textual.drivers._writer_thread import WriterThread
from cacheroute_tui.__main__ import main
from cacheroute_tui.leaving import Leaving

Leaving.PATIENCE_S = 0.5
WriterThread.stop = lambda _: threading.Event().wait()
sys.exit(main())
"""


@pytest.mark.parametrize(("key", "code"), [(b"q", 0), (b"\x03", 130)])
def test_one_that_is_stuck_at_its_very_end_ends_all_the_same(
    terminals: list[Terminal], key: bytes, code: int
) -> None:
    terminal = begun(terminals, program=_STUCK_AT_THE_END)
    os.write(terminal.fd, key)

    assert terminal.ended() == code
    assert _LEFT_SCREEN in terminal.said
    assert termios.tcgetattr(terminal.fd)[3] & termios.ECHO


@pytest.mark.parametrize(("key", "code"), [(b"q", 0), (b"\x03", 130)])
def test_a_key_ends_it_and_the_terminal_is_as_before(
    terminals: list[Terminal], key: bytes, code: int
) -> None:
    terminal = begun(terminals)
    os.write(terminal.fd, key)

    assert terminal.ended() == code
    assert _LEFT_SCREEN in terminal.said
    assert termios.tcgetattr(terminal.fd)[3] & termios.ECHO


def test_when_the_terminal_is_closed_it_ends(terminals: list[Terminal]) -> None:
    terminal = begun(terminals)
    terminal.close()

    assert terminal.ended() == 129


def test_under_nohup_it_ends_as_well_and_does_not_spin(terminals: list[Terminal]) -> None:
    terminal = begun(terminals, ignores_hangup=True)
    terminal.close()

    assert terminal.ended() == 129
