"""Who a process is: a pid alone says little, since pids are used again.

A process is the one that was started only if its pid, its start time in kernel ticks and the
boot of the machine all agree. A zombie has ended; only its parent has not heard yet.
"""

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
STACK_VARIABLE = "CACHEROUTE_STACK"
"""Environment variable that marks every process of one stack with the same name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """One process of one boot of this machine."""

    pid: int
    start_ticks: int
    """When it started, in clock ticks since boot: field 22 of /proc/PID/stat."""
    boot_id: str


def identify(pid: int, *, proc: Path = PROC) -> Identity | None:
    """Return who has this pid now; None when nobody does, or only a zombie."""
    try:
        stat = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        boot_id = (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    # The command's name stands in parentheses and may itself hold some.
    state, *fields = stat[stat.rindex(")") + 2 :].split()
    if state in ("Z", "X"):
        return None
    return Identity(pid=pid, start_ticks=int(fields[18]), boot_id=boot_id)


def is_running(identity: Identity, *, proc: Path = PROC) -> bool:
    """Whether this very process still runs."""
    return identify(identity.pid, proc=proc) == identity


def command_line(pid: int, *, proc: Path = PROC) -> str | None:
    """Return what was typed to start a process, as far as we may know."""
    try:
        raw = (proc / str(pid) / "cmdline").read_bytes()
    except OSError:
        return None
    return raw.replace(b"\0", b" ").decode("utf-8", "replace").strip() or None


def running_pids(*, proc: Path = PROC) -> list[int]:
    """Return every pid there is now."""
    return [int(entry) for entry in os.listdir(proc) if entry.isdigit()]


def marked_with(stack: str, *, proc: Path = PROC) -> list[Identity]:
    """Return all processes of ours that carry the name of this stack."""
    marker = f"{STACK_VARIABLE}={stack}".encode()
    found = []
    for pid in running_pids(proc=proc):
        try:
            environment = (proc / str(pid) / "environ").read_bytes()
        except OSError:
            continue
        if marker in environment.split(b"\0") and (identity := identify(pid, proc=proc)):
            found.append(identity)
    return found
