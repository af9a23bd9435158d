"""A watch on a terminal: in place, at any size, and ended as one ends things."""

import contextlib
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.cli.commands.control_plane import a_control_plane, an_instance, replies
from tests.cli.supervisor.children import an_environment

POOL = replies(an_instance("inst-1"), an_instance("inst-2"), an_instance("inst-3"))
COMMAND = [sys.executable, "-m", "cacheroute_cli"]
WITHIN_S = 20.0


class Terminal:
    """A pseudo-terminal with a command at it."""

    def __init__(self, arguments: list[str], *, columns: int, rows: int, term: str) -> None:
        self._ours, theirs = pty.openpty()
        self.resize(columns, rows)
        self.read = b""
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
            env=an_environment(TERM=term), start_new_session=True,
        )  # fmt: skip
        os.close(theirs)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, true: Callable[[bytes], object]) -> bytes:
        """Read until what was read is as wanted."""
        deadline_s = time.monotonic() + WITHIN_S
        while not true(self.read):
            left_s = deadline_s - time.monotonic()
            assert left_s > 0, f"it said {self.read!r}"
            if select.select([self._ours], [], [], left_s)[0]:
                self.read += os.read(self._ours, 65_536)
        return self.read

    def hang_up(self) -> None:
        """Close the terminal, as a window that is closed."""
        os.close(self._ours)
        self._ours = -1

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self._ours >= 0:
            os.close(self._ours)


@contextlib.contextmanager
def a_terminal(*arguments: str, rows: int = 24, term: str = "xterm") -> Iterator[Terminal]:
    with a_control_plane(POOL) as url:
        terminal = Terminal([*arguments, "--proxy-url", url], columns=80, rows=rows, term=term)
        try:
            yield terminal
        finally:
            terminal.close()


def pictures(read: bytes) -> int:
    return read.count(b"\x1b[?2026l")


def test_only_what_changes_is_drawn_again_and_nothing_is_cleared() -> None:
    with a_terminal("instances", "-w", "-i", "0.2") as terminal:
        # The clock in the last line changes once a second.
        read = terminal.wait_for(lambda read: pictures(read) >= 3)

    assert read.count(b"inst-1") == 1
    assert b"\x1b[2J" not in read
    assert b"\x1b[H" not in read
    assert b"\x1b[?1049h" not in read


def test_an_interrupt_ends_it_with_its_code_and_leaves_the_picture() -> None:
    with a_terminal("watch", "-i", "0.2") as terminal:
        terminal.wait_for(lambda read: pictures(read) >= 1)
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.process.wait(WITHIN_S) == 130

    assert b"inst-3" in terminal.read
    assert b"Traceback" not in terminal.read


def test_a_new_size_is_answered_at_once() -> None:
    with a_terminal("instances", "-w", "-i", "3600") as terminal:
        terminal.wait_for(lambda read: pictures(read) >= 1)
        terminal.resize(50, 10)
        terminal.process.send_signal(signal.SIGWINCH)
        read = terminal.wait_for(lambda read: pictures(read) >= 2)

    second = read.split(b"\x1b[?2026l")[1]
    assert b"\x1b[J" in second
    assert second.count(b"inst-1") == 1


def test_a_terminal_that_is_closed_ends_it() -> None:
    with a_terminal("watch", "-i", "0.2") as terminal:
        terminal.wait_for(lambda read: pictures(read) >= 1)
        terminal.hang_up()
        terminal.process.wait(WITHIN_S)


def test_a_pool_larger_than_the_terminal_says_what_has_no_room() -> None:
    with a_terminal("instances", "-w", "-i", "0.2", rows=4) as terminal:
        read = terminal.wait_for(lambda read: pictures(read) >= 1)

    assert b"2 more have no room" in read
    assert b"inst-2" not in read


def test_a_terminal_that_cannot_move_its_cursor_gets_one_picture_after_the_other() -> None:
    with a_terminal("instances", "--count", "2", "-i", "0.2", term="dumb") as terminal:
        read = terminal.wait_for(lambda read: read.count(b"inst-3") == 2)
        assert terminal.process.wait(WITHIN_S) == 0

    assert b"\x1b" not in read


def test_a_pipe_whose_reader_leaves_ends_it_quietly() -> None:
    with a_control_plane(POOL) as url:
        watch = subprocess.Popen(
            [*COMMAND, "watch", "-i", "0.2", "--proxy-url", url],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=an_environment(),
        )  # fmt: skip
        try:
            assert watch.stdout is not None
            assert watch.stderr is not None
            assert watch.stdout.readline().startswith(b'{"schema": "cacheroute.watch/1"')
            watch.stdout.close()
            assert watch.wait(WITHIN_S) == 141
            assert watch.stderr.read() == b""
        finally:
            watch.kill()
            watch.communicate()


@pytest.fixture
def tmux() -> Iterator[Callable[..., str]]:
    if not (program := shutil.which("tmux")):
        message = "tmux is not installed"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    server = f"cacheroute-{uuid.uuid4().hex[:8]}"

    def call(*arguments: str) -> str:
        done = subprocess.run(
            [program, "-L", server, "-f", "/dev/null", *arguments],
            env=an_environment(LC_ALL="C.UTF-8"), capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    yield call
    with contextlib.suppress(subprocess.CalledProcessError):
        call("kill-server")


def test_in_tmux_it_stays_in_its_place_through_a_resize(tmux: Callable[..., str]) -> None:
    with a_control_plane(POOL) as url:
        command = " ".join([*COMMAND, "watch", "-i", "0.2", "--proxy-url", url])
        tmux("new-session", "-d", "-x", "80", "-y", "24", f"{command}; echo ended $?; cat")
        _until(tmux, lambda shown: shown.count("inst-3") == 1)

        tmux("resize-window", "-x", "50", "-y", "20")
        shown = _until(tmux, lambda shown: "prepare" in shown and _widest(shown) <= 50)
        assert len(re.findall("inst-1", shown)) == 1
        assert shown.count("proxy     ") == 1

        tmux("send-keys", "C-c")
        shown = _until(tmux, lambda shown: "ended 130" in shown)

    assert shown.count("inst-1") == 1


def _until(tmux: Callable[..., str], true: Callable[[str], bool]) -> str:
    deadline_s = time.monotonic() + WITHIN_S
    while not true(shown := tmux("capture-pane", "-p")):
        assert time.monotonic() < deadline_s, f"it shows {shown}"
        time.sleep(0.05)
    return shown


def _widest(shown: str) -> int:
    return max(map(len, shown.splitlines()))
