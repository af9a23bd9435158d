"""What processes use, with everything they started: CPU time and memory, by session.

Each process of a stack leads its own session, so one pass over /proc tells them all apart.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from cacheroute_cli.supervisor.identity import PROC, running_pids

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_AFTER_THE_NAME = 2
_SESSION, _UTIME, _STIME, _RSS = 6, 14, 15, 24
"""Fields of /proc/PID/stat, counted from one as its manual does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one session uses."""

    cpu_s: float
    """Since its processes began; what has ended is not in it."""
    rss_bytes: int
    """Pages that several of its processes share are counted for each."""


def usage_by_session(*, proc: Path = PROC) -> dict[int, Usage]:
    """Return the usage of every session there is, by its leader's pid."""
    found: dict[int, Usage] = {}
    for pid in running_pids(proc=proc):
        try:
            stat = (proc / str(pid) / "stat").read_bytes()
        except OSError:
            continue
        # The command's name stands in parentheses and may itself hold some.
        fields = stat[stat.rindex(b")") + _AFTER_THE_NAME :].split()
        session, utime, stime, pages = (
            int(fields[number - _AFTER_THE_NAME - 1]) for number in (_SESSION, _UTIME, _STIME, _RSS)
        )
        before = found.get(session, Usage(cpu_s=0.0, rss_bytes=0))
        found[session] = Usage(
            cpu_s=before.cpu_s + (utime + stime) / _TICKS_PER_S,
            rss_bytes=before.rss_bytes + pages * _PAGE_BYTES,
        )
    return found


class Meter:
    """Turns CPU time into percent of one core, from one look to the next."""

    def __init__(self) -> None:
        self._last: dict[int, float] = {}
        self._last_s: float | None = None
        self._percents: dict[int, float] = {}
        self._rss: dict[int, int] = {}

    def look(self, usage: dict[int, Usage], now_s: float) -> None:
        """Take in what is used now."""
        passed_s = None if self._last_s is None else now_s - self._last_s
        self._percents = {
            pid: max(0.0, 100.0 * (used.cpu_s - self._last[pid]) / passed_s)
            for pid, used in usage.items()
            if passed_s and pid in self._last
        }
        self._last = {pid: used.cpu_s for pid, used in usage.items()}
        self._rss = {pid: used.rss_bytes for pid, used in usage.items()}
        self._last_s = now_s

    def cpu_percent(self, pid: int) -> float | None:
        """Return the percent of one core; None before the second look."""
        return self._percents.get(pid)

    def rss_bytes(self, pid: int) -> int | None:
        """Return the memory; None for a process that was not seen."""
        return self._rss.get(pid)
