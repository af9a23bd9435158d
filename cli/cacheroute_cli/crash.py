"""Where a bug leaves its traceback: in a file, not on an operator's screen."""

import os
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path

from cacheroute_cli.diagnostics import Exit, report
from cacheroute_cli.supervisor.state import state_root

_KEPT = 20


def keep_crash(problem: BaseException) -> Path | None:
    """Write the traceback to a file and return its path; None where no file can be written."""
    told = "".join(traceback.format_exception(problem))
    name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}.txt"
    with suppress(OSError):
        return _kept(told, state_root() / "crash" / name)
    with suppress(OSError):
        return _kept(told, Path(tempfile.mkdtemp(prefix="cacheroute-crash-")) / name)
    return None


def _kept(told: str, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(told, encoding="utf-8")
    for old in sorted(path.parent.glob("*.txt"))[:-_KEPT]:
        old.unlink(missing_ok=True)
    return path


def report_crash(problem: Exception, *, as_json: bool) -> int:
    """Say in one line that this is a bug, and where its traceback is; returns the exit code."""
    kept = keep_crash(problem)
    report(
        f"this is a bug: {type(problem).__name__}: {problem}",
        code="bug",
        exit_code=Exit.FAILED,
        hint=f"the details are in {kept}" if kept else "--debug prints the details",
        as_json=as_json,
    )
    return Exit.FAILED
