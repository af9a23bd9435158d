"""Where a bug leaves its traceback: in a file, not on an operator's screen."""

import os
import tempfile
import time
import traceback
from pathlib import Path

from cacheroute_cli.diagnostics import Exit, report
from cacheroute_cli.supervisor.state import state_root

_KEPT = 20


def keep_crash(problem: BaseException) -> Path:
    """Write the traceback to a file and return its path; the oldest files make room."""
    folder = state_root() / "crash"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="cacheroute-crash-"))
    path = folder / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}.txt"
    path.write_text("".join(traceback.format_exception(problem)), encoding="utf-8")
    for old in sorted(folder.glob("*.txt"))[:-_KEPT]:
        old.unlink(missing_ok=True)
    return path


def report_crash(problem: Exception, *, as_json: bool) -> int:
    """Say in one line that this is a bug, and where its traceback is; returns the exit code."""
    report(
        f"this is a bug: {type(problem).__name__}: {problem}",
        code="bug",
        exit_code=Exit.FAILED,
        hint=f"the details are in {keep_crash(problem)}",
        as_json=as_json,
    )
    return Exit.FAILED
