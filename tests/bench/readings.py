"""What the kernel says of processes: CPU time and memory."""

import os
from collections.abc import Iterable
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_s(pids: Iterable[int]) -> float:
    """Return the CPU time that processes have used, user and system, in seconds.

    From the scheduler's own count in nanoseconds where the kernel keeps one; it lacks threads
    that have ended, which none of the measured programs has in a measurement.
    """
    total = 0.0
    for pid in pids:
        total += _scheduled_s(pid) or _ticked_s(pid)
    return total


def _scheduled_s(pid: int) -> float:
    spent_ns = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            spent_ns += int((task / "schedstat").read_text().split()[0])
        except (OSError, IndexError):
            continue
    return spent_ns / 1e9


def _ticked_s(pid: int) -> float:
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def _stat(pid: int) -> list[str]:
    """Return the fields of a process's stat line behind its name, which may hold spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def family(pid: int) -> list[int]:
    """Return a process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                children.setdefault(int(_stat(int(entry.name))[1]), []).append(int(entry.name))
            except (OSError, IndexError):
                continue
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        todo += children.get(found[-1], [])
    return found


def memory_mb(pids: Iterable[int]) -> float:
    """Return the memory of processes in MB, pages that they share counted once (PSS)."""
    total_kb = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total_kb += int(line.split()[1])
    return total_kb / 1024


def descriptors(pid: int) -> int:
    """Return how many files and sockets a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))
