"""What a console costs, measured: in a terminal of its own, by the clock of its processor.

Time of day says little on a machine that others use too; CPU time says much.
"""

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tests.tui.big_console import Found, State, Task

_ROOT = Path(__file__).parents[2]
_SILENCE_S = 120.0
_LAST_BYTES = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one look costs."""

    cpu_ms: float
    """CPU time of the whole process."""
    core_ratio: float
    """Of a core, as time went by."""
    block_ms: float
    """The longest that the event loop is held up by one look, in the middle of all looks."""
    worst_block_ms: float
    frame_bytes: float
    """What is drawn in one go, in the middle of all looks."""
    worst_frame_bytes: float
    rss_mb: float


def cost_of(
    screen: str,
    *,
    instances: int = 1_000,
    looks: int = 20,
    interval_s: float = 0.5,
    state: State = "moving",
    size: tuple[int, int] = (160, 48),
) -> Cost:
    """Run a console over a fleet in a terminal, and read what it found of itself."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cost.json"
        task = Task(
            instances=instances, screen=screen, looks=looks, interval_s=interval_s, state=state,
            file=str(file),
        )  # fmt: skip
        words = ["-m", "tests.tui.big_console", msgspec.json.encode(task).decode()]
        pid, fd = in_terminal(words, size=size)
        last = _drain(fd)
        _, status = os.waitpid(pid, 0)
        os.close(fd)
        assert os.waitstatus_to_exitcode(status) == 0, last.decode("utf-8", "replace")
        found = msgspec.json.decode(file.read_bytes(), type=Found)
    return Cost(
        cpu_ms=found.cpu_ms / looks,
        core_ratio=found.cpu_ms / 1000 / found.passed_s,
        block_ms=statistics.median(found.blocks_ms),
        worst_block_ms=max(found.blocks_ms),
        frame_bytes=statistics.median(found.frames),
        worst_frame_bytes=max(found.frames),
        rss_mb=found.rss_mb,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What a console costs that is looked at from outside."""

    cpu_ms: float
    """CPU time for each second."""
    rss_mb: float


def cost_over_network(
    url: str, screen: str, *, looks: int, interval_s: float = 1.0, warm_s: float = 4.0
) -> Outside:
    """Run the console as people do, over a Proxy, and read what the system says of it.

    It has then looked so many times: that many are counted by the Proxy.
    """
    words = ["-m", "cacheroute_tui", "--theme=dark", f"--proxy-url={url}", f"--screen={screen}"]
    words.append(f"--interval={interval_s}")
    pid, fd = in_terminal(words, size=(160, 48))
    try:
        _drain(fd, until_s=time.monotonic() + warm_s)
        began_ms, began_s, wanted = cpu_ms_of(pid), time.monotonic(), _looks_at(url) + looks
        while (left := wanted - _looks_at(url)) > 0:
            assert time.monotonic() - began_s < 10 * looks * interval_s, f"{left} looks to go"
            _drain(fd, until_s=time.monotonic() + min(left, 10) * interval_s)
        passed_s = time.monotonic() - began_s
        return Outside(cpu_ms=(cpu_ms_of(pid) - began_ms) / passed_s, rss_mb=rss_mb_of(pid))
    finally:
        _end(pid, fd)


def _looks_at(url: str) -> int:
    """Return how often the pool of a big Proxy was looked at."""
    with urllib.request.urlopen(f"{url}/looks", timeout=_SILENCE_S) as told:  # noqa: S310 - ours
        return int(told.read())


def first_paint_ms(cache: Path) -> float:
    """Return the CPU time until the console has drawn itself, in milliseconds."""
    words = ["-P", "-m", "cacheroute_tui", "--theme=dark", "--proxy-url=http://127.0.0.1:9"]
    pid, fd = in_terminal(words, size=(80, 24), cache=cache)
    drawn = b""
    try:
        while b"Quit" not in drawn:
            assert select.select([fd], [], [], 60)[0], "it has drawn nothing for a minute"
            drawn += os.read(fd, 65_536)
        return cpu_ms_of(pid)
    finally:
        _end(pid, fd)


def in_terminal(
    words: list[str], *, size: tuple[int, int], cache: Path | None = None
) -> tuple[int, int]:
    """Start Python in a terminal of so many columns and rows; returns its pid and the terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        environ = dict(os.environ)
        if cache is not None:
            # An installed program has its modules compiled.
            environ.pop("PYTHONDONTWRITEBYTECODE", None)
            environ["PYTHONPYCACHEPREFIX"] = str(cache)
        else:
            os.chdir(_ROOT)
        os.execve(  # noqa: S606 - our own interpreter
            sys.executable,
            [sys.executable, *words],
            {**environ, "TERM": "xterm-256color", "COLORTERM": "truecolor",
             "TEXTUAL_ANIMATIONS": "none"},
        )  # fmt: skip
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    return pid, fd


def cpu_ms_of(pid: int) -> float:
    """Return the CPU time that a process has taken."""
    told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return 1000 * (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb_of(pid: int) -> float:
    """Return the memory that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2


def _drain(fd: int, *, until_s: float | None = None) -> bytes:
    """Read what is drawn until the end, or until a moment; returns the last of it."""
    last = b""
    while True:
        wait_s = _SILENCE_S if until_s is None else until_s - time.monotonic()
        if wait_s <= 0 or not select.select([fd], [], [], wait_s)[0]:
            return last
        try:
            data = os.read(fd, 1 << 20)
        except OSError:
            return last
        if not data:
            return last
        last = (last + data)[-_LAST_BYTES:]


def _end(pid: int, fd: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(fd)
