"""The one way a child process is started here, for every command that starts any.

Each child leads its own session, writes straight to its log file (so a full pipe can't block
it and its log outlives us), and carries the name of its stack. A tethered child dies with us;
a detached one lives on.
"""

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cacheroute.member.complaint import ERRORS_VARIABLE
from cacheroute_cli.supervisor import shim
from cacheroute_cli.supervisor.faults import ChildFailed, child_failed
from cacheroute_cli.supervisor.identity import STACK_VARIABLE, Identity, identify

_READ_BYTES = 32 * 1024
_TAIL_LINES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run."""

    name: str
    """What people call it, in messages and file names."""
    argv: tuple[str, ...]
    """Absolute path of the program, and its arguments."""
    log: Path
    """Where its stdout and stderr go; appended to."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables on top of ours."""
    without: tuple[str, ...] = ()
    """Beginnings of the names of variables that it must not inherit."""
    cwd: str | None = None
    """Folder to run in, for tethered ones; None stays in ours."""


class Child:
    """A process we started, for as long as we care."""

    def __init__(self, program: Program, *, pid: int, identity: Identity, log_from: int) -> None:
        self.program = program
        self.pid = pid
        self.identity = identity
        self._log_from = log_from
        self._exit_code: int | None = None

    def exit_code(self) -> int | None:
        """Return how it ended (negative: by which signal); None while it runs."""
        if self._exit_code is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                return self._exit_code
            if pid == self.pid:
                self._exit_code = os.waitstatus_to_exitcode(status)
        return self._exit_code

    def kill(self) -> int | None:
        """Kill it and its group, whichever is left of them, and return how it ended."""
        if self._exit_code is None:
            # As long as the leader has not been reaped, its group is nobody else's.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                _, status = os.waitpid(self.pid, 0)
                self._exit_code = os.waitstatus_to_exitcode(status)
        return self._exit_code

    def first_words(self) -> str:
        """Return the start of what this process, and not an earlier one, has logged."""
        with self.program.log.open("rb") as log:
            log.seek(self._log_from)
            return log.read(_READ_BYTES).decode("utf-8", "replace")

    def last_words(self) -> str:
        """Return the end of what this process has logged."""
        with self.program.log.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(self._log_from, end - _READ_BYTES))
            return log.read(_READ_BYTES).decode("utf-8", "replace")

    def failure(self) -> ChildFailed:
        """Return the fault that its end stands for, with the last lines of its log."""
        lines = [line for line in self.last_words().splitlines() if line.strip()]
        return child_failed(
            self.program.name, self.exit_code(), lines[-_TAIL_LINES:], str(self.program.log)
        )


def python(*arguments: str) -> tuple[str, ...]:
    """Return the command that runs our own interpreter with these arguments."""
    return (sys.executable, *arguments)


def inherited(without: tuple[str, ...] = ()) -> dict[str, str]:
    """Return our variables, but for those whose names begin so, and how to tell errors.

    What a child says at its end is read as people read it, in its log and in our messages.
    """
    left_out = (*without, ERRORS_VARIABLE)
    return {name: value for name, value in os.environ.items() if not name.startswith(left_out)}


def spawn(program: Program, *, stack: str, tethered: bool, stdin: int | None = None) -> Child:
    """Start a program; it runs when this returns, and is not ready yet.

    Call it from the main thread when tethered: the kernel ties the child to the thread. `stdin`
    is a descriptor of ours to read from; without one there is nothing to read.
    """
    argv = list(program.argv)
    if tethered:
        folder = [] if program.cwd is None else [f"{shim.FOLDER}{program.cwd}"]
        argv = [*python("-I", "-S", shim.__file__), str(os.getpid()), *folder, *argv]
    program.log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log = os.open(program.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        log_from = os.fstat(log).st_size
        pid = os.posix_spawn(
            argv[0],
            argv,
            {**inherited(program.without), **program.env, STACK_VARIABLE: stack},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
                if stdin is None
                else (os.POSIX_SPAWN_DUP2, stdin, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
            ],
            setsid=True,
            setsigmask=[],
            setsigdef=[signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP],
        )
    finally:
        os.close(log)
    identity = identify(pid)
    if identity is None:
        # It ended within microseconds; nothing will ever match this one.
        identity = Identity(pid=pid, start_ticks=-1, boot_id="")
    return Child(program, pid=pid, identity=identity, log_from=log_from)
