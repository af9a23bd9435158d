"""The log of one process: bounded in size, and with a note of when each part of it came.

The process writes straight to its file, so that neither a full pipe nor our death can stop it;
what it wrote is looked at from outside. A file that has grown too large is copied aside and cut
to nothing, which a writer that appends does not notice.
"""

import os
import shutil
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MAX_BYTES = 10 * 1024 * 1024
KEPT = 3
"""Older files beside the current one."""
_TIMES = struct.Struct("<dQ")
"""Wall clock in seconds, and the size that the file had then."""


def times_path(log: Path) -> Path:
    """Return the file that tells when each part of a log came."""
    return log.with_name(log.name + ".times")


def older(log: Path, number: int) -> Path:
    """Return an older file of a log; 1 is the latest of them."""
    return log.with_name(f"{log.name}.{number}")


def files_of(log: Path) -> list[Path]:
    """Return all files of a log that exist, oldest first."""
    paths = [*(older(log, number) for number in range(KEPT, 0, -1)), log]
    return [path for path in paths if path.exists()]


def remove_log(log: Path) -> None:
    """Delete a log with all that belongs to it."""
    for path in files_of(log):
        for each in (path, times_path(path)):
            each.unlink(missing_ok=True)


def read_times(log: Path) -> list[tuple[float, int]]:
    """Return when the file had which size, in order."""
    try:
        raw = times_path(log).read_bytes()
    except OSError:
        return []
    whole = len(raw) - len(raw) % _TIMES.size
    return list(_TIMES.iter_unpack(raw[:whole]))


class LogFile:
    """Looks after one log."""

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._size = 0

    def look(self, now_s: float) -> None:
        """Note that the log has grown by now, and rotate it when it is due.

        Nothing that goes wrong with it, a full disk above all, is allowed to matter.
        """
        with suppress(OSError):
            size = self.path.stat().st_size
            if size > self._size:
                with times_path(self.path).open("ab") as times:
                    times.write(_TIMES.pack(now_s, size))
            self._size = size
            if size > self._max_bytes:
                self._rotate()
                self._size = 0

    def _rotate(self) -> None:
        for number in range(KEPT, 0, -1):
            for path, next_path in self._moves(number):
                if number == KEPT:
                    path.unlink(missing_ok=True)
                elif path.exists():
                    path.replace(next_path)
        aside, half_done = older(self.path, 1), self.path.with_name(f"{self.path.name}.new")
        with self.path.open("r+b") as log:
            try:
                with half_done.open("wb") as copy:
                    os.fchmod(copy.fileno(), 0o600)
                    # Until nothing more comes: what is written during the cut alone is lost.
                    shutil.copyfileobj(log, copy, 1024 * 1024)
                # In place only now: who follows the log takes this for the sign of the cut.
                half_done.replace(aside)
            except OSError:
                # No room for a copy is no reason to let the log grow on.
                half_done.unlink(missing_ok=True)
            log.truncate(0)
        if times_path(self.path).exists():
            times_path(self.path).replace(times_path(aside))

    def _moves(self, number: int) -> Iterator[tuple[Path, Path]]:
        path, next_path = older(self.path, number), older(self.path, number + 1)
        yield path, next_path
        yield times_path(path), times_path(next_path)
