"""What was started and where, kept in files so that another command can find it.

A folder for each process, by its name: `NAME/proxy.json`, `NAME/proxy.log`. A record is
written beside and renamed over, so a reader never sees half of one. It is a claim, not a fact:
only a matching identity makes it one.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import TextIOWrapper
from pathlib import Path
from urllib.parse import quote

from cacheroute_cli.supervisor.faults import StateLocked, StateUnwritable
from cacheroute_cli.supervisor.identity import Identity, is_running

_LOCK_WAIT_S = 5.0
_LOCK_POLL_S = 0.05
_MAX_RECORD_BYTES = 256 * 1024
_PROBE_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One process as it was started."""

    name: str
    kind: str
    """`proxy`, `instance` or `agent`."""
    pid: int
    start_ticks: int
    boot_id: str
    argv: tuple[str, ...]
    urls: dict[str, str]
    """Where it listens, by what for: `service`, `control`."""
    log: str | None
    """Path of its log; None when it writes to its caller's terminal."""
    started_at_s: float
    """Wall clock, seconds since the epoch."""
    stack: str | None = None
    """Mark in the environment of the process and of all it starts."""

    @property
    def identity(self) -> Identity:
        """Who it is."""
        return Identity(pid=self.pid, start_ticks=self.start_ticks, boot_id=self.boot_id)

    def is_running(self) -> bool:
        """Whether this very process still runs."""
        return is_running(self.identity)


def state_root() -> Path:
    """Return the folder of all state: CACHEROUTE_STATE_DIR, or below XDG_STATE_HOME."""
    if own := os.environ.get("CACHEROUTE_STATE_DIR"):
        return Path(own)
    if xdg := os.environ.get("XDG_STATE_HOME"):
        return Path(xdg) / "cacheroute"
    return Path.home() / ".local" / "state" / "cacheroute"


def file_name(name: str) -> str:
    """Return the name as a file's name: one path element, never hidden, never `..`."""
    safe = quote(name, safe=":@+,=")
    return "%2E" + safe[1:] if safe.startswith(".") else safe


def prove_writable(folder: Path) -> None:
    """Write a file there and take it away again; raises OSError, on a full disk too."""
    probe = folder / f".{os.getpid()}.probe"
    try:
        probe.write_bytes(b"x" * _PROBE_BYTES)
    finally:
        # A disk that is full has room for its name.
        probe.unlink(missing_ok=True)


class State:
    """The state folder, one record per process, by kind and name."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root if root is not None else state_root()

    def log_path(self, kind: str, name: str) -> Path:
        """Return where a process writes its log."""
        return self.root / file_name(name) / f"{kind}.log"

    def read(self, kind: str, name: str) -> Record | None:
        """Return what is recorded; None when nothing readable is."""
        return _read(self._path(kind, name))

    def records(self, kind: str) -> list[Record]:
        """Return all records of a kind, oldest first."""
        found = [_read(path) for path in sorted(self.root.glob(f"*/{kind}.json"))]
        return sorted((r for r in found if r is not None), key=lambda r: r.started_at_s)

    def running(self, kind: str) -> list[Record]:
        """Return the records of processes that still run."""
        return [record for record in self.records(kind) if record.is_running()]

    def write(self, record: Record) -> None:
        """Keep a record, over an earlier one of the same name; raises StateUnwritable."""
        path = self._path(record.kind, record.name)
        beside = path.with_suffix(f".{os.getpid()}.new")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            beside.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")
            beside.replace(path)
        except OSError as problem:
            raise self._unwritable(problem) from problem

    def forget(self, record: Record) -> None:
        """Drop a record, unless another process has taken its place meanwhile."""
        path = self._path(record.kind, record.name)
        if _read(path) == record:
            path.unlink(missing_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the state for one change; raises StateLocked when another command keeps it."""
        with self._lock_file() as lock:
            deadline = time.monotonic() + _LOCK_WAIT_S
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        raise StateLocked(
                            f"another command has held {lock.name} for {_LOCK_WAIT_S:g} s",
                            hint="wait for it to end, and try again",
                        ) from None
                time.sleep(_LOCK_POLL_S)
            yield

    def _lock_file(self) -> TextIOWrapper:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            return (self.root / "lock").open("a")
        except OSError as problem:
            raise self._unwritable(problem) from problem

    def _unwritable(self, problem: OSError) -> StateUnwritable:
        return StateUnwritable(
            f"the state folder {self.root} cannot be used ({problem.strerror or problem})",
            hint="make room there, or name another one in CACHEROUTE_STATE_DIR",
        )

    def _path(self, kind: str, name: str) -> Path:
        return self.root / file_name(name) / f"{kind}.json"


def _read(path: Path) -> Record | None:
    try:
        with path.open("rb") as file:
            fields = json.loads(file.read(_MAX_RECORD_BYTES))
        return Record(**{**fields, "argv": tuple(fields["argv"]), "urls": dict(fields["urls"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
