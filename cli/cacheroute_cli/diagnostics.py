"""What went wrong and what is worth knowing: the only writer of stderr.

An error is one line and a hint; with `-o json` it is one JSON object. Exit codes are a
published table, so a script can tell "not there" from "said no".
"""

import json
import os
import sys
from enum import IntEnum
from typing import ClassVar

from cacheroute.console.cells import printable


class Exit(IntEnum):
    """What the process says with its exit code."""

    OK = 0
    FAILED = 1
    """Refused or failed by the server, or a bug."""
    USAGE = 2
    """Wrong usage or a bad configuration."""
    UNREACHABLE = 3
    """Nobody answers, or not in time."""
    NOT_FOUND = 4
    """No such Instance, process or request."""
    CONFLICT = 5
    """A port is taken, it runs already, or the state is locked."""
    BAD_ANSWER = 6
    """Ran fine, and the answer is bad."""
    WAIT_TIMED_OUT = 7
    NOT_ALLOWED = 8
    """Not authorised, or writes are refused here."""
    NOT_UNDERSTOOD = 9
    """The reply makes no sense: probably another version."""
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class Fault(Exception):
    """An expected way for a command to end badly; the message is a sentence with its values."""

    code: ClassVar[str] = "failed"
    """Stable name for scripts, as `area.what`."""
    exit: ClassVar[Exit] = Exit.FAILED

    def __init__(self, message: str, *, hint: str | None = None, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details
        """More values for `-o json`: a URL, a pid, a cause."""


class UsageFault(Fault):
    """What was typed cannot be done."""

    code = "usage"
    exit = Exit.USAGE


def report(
    message: str,
    *,
    code: str,
    exit_code: int,
    hint: str | None = None,
    details: dict[str, object] | None = None,
    as_json: bool,
) -> None:
    """Write one error to stderr."""
    if as_json:
        error = {"code": code, "message": message, "hint": hint, **(details or {})}
        _write(json.dumps({"error": {**error, "exit": int(exit_code)}}, ensure_ascii=False))
        return
    first, *more = message.splitlines() or [""]
    _write(f"cacheroute: error: {printable(first)}")
    for line in more:
        _write(f"  {printable(line)}")
    if hint:
        _write(f"  hint: {printable(hint)}")


def report_fault(fault: Fault, *, as_json: bool) -> None:
    """Write a fault to stderr."""
    report(
        fault.message,
        code=fault.code,
        exit_code=fault.exit,
        hint=fault.hint,
        details=fault.details,
        as_json=as_json,
    )


class _Voice:
    """How much is said beside data and errors."""

    quiet = False
    verbose = False


def speak(*, quiet: bool = False, verbose: bool = False) -> None:
    """Set how much is said from here on."""
    _Voice.quiet, _Voice.verbose = quiet, verbose


def note(message: str) -> None:
    """Say something that is not data, for whoever watches; with --quiet it is not said."""
    if not _Voice.quiet:
        _write(message)


def detail(message: str) -> None:
    """Say what only somebody who looks for a cause wants to know; said with --verbose."""
    if _Voice.verbose:
        _write(f"cacheroute: {printable(message)}")


def stderr_is_terminal() -> bool:
    """Whether somebody watches stderr on a terminal that can redraw a line."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _write(line: str) -> None:
    # A terminal that is gone must not turn a clean end into a second error.
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except OSError:
        return
