"""The folder of one stack: who supervises it, what it started, and what that has written.

    stacks/NAME/supervisor.json    who, since when, from which file, marked with what
    stacks/NAME/procs/PROC.json    one process as it was last seen
    stacks/NAME/logs/PROC.log      its words; .1 to .3 are older
    stacks/NAME/lock               held by the supervisor for as long as it lives

Whoever holds the lock is the supervisor; everything else is a claim that an identity proves.
"""

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from time import sleep
from typing import TypeVar

import msgspec

from cacheroute_cli.supervisor.faults import StateUnwritable
from cacheroute_cli.supervisor.identity import Identity, is_running
from cacheroute_cli.supervisor.state import prove_writable, state_root

T = TypeVar("T")

_MAX_RECORD_BYTES = 1024 * 1024
_MAX_STACKS = 1000
_LOCK_ATTEMPTS = 10
_LOCK_PAUSE_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisorRecord:
    """The supervisor of a stack, and what it was asked to run."""

    stack: str
    pid: int
    start_ticks: int
    boot_id: str
    mark: str
    """In the environment of everything it starts."""
    socket: str
    started_at_s: float
    """Wall clock, seconds since the epoch."""
    file: str | None = None
    instances: int | None = None
    """How many were asked for, where the file's count does not hold."""
    port_offset: int = 0
    digest: str | None = None
    """Of all its processes."""

    @property
    def identity(self) -> Identity:
        """Who it is."""
        return Identity(pid=self.pid, start_ticks=self.start_ticks, boot_id=self.boot_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStatus:
    """One process of a stack as its supervisor sees it; what nobody knows is None."""

    name: str
    kind: str
    stack: str | None
    state: str
    """waiting, starting, running, backoff, stopping, stopped, exited, failed or reused."""
    ready: bool | None = None
    pid: int | None = None
    start_ticks: int | None = None
    boot_id: str | None = None
    argv: tuple[str, ...] = ()
    cwd: str | None = None
    urls: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[str, int] = field(default_factory=dict)
    log: str | None = None
    restarts: int = 0
    started_at_s: float | None = None
    last_exit: int | None = None
    """Negative: by which signal."""
    why: str | None = None
    """What stands in the way of it being ready."""
    digest: str | None = None
    cpu_percent: float | None = None
    """Of one core, over the last seconds, with everything it started."""
    rss_bytes: int | None = None

    @property
    def identity(self) -> Identity | None:
        """Who it is, or was."""
        if self.pid is None or self.start_ticks is None or self.boot_id is None:
            return None
        return Identity(pid=self.pid, start_ticks=self.start_ticks, boot_id=self.boot_id)

    def is_running(self) -> bool:
        """Whether this very process still runs."""
        return self.identity is not None and is_running(self.identity)


class StackHome:
    """One stack's folder."""

    def __init__(self, name: str, root: Path | None = None) -> None:
        self.name = name
        self.root = root if root is not None else state_root()
        self.folder = self.root / "stacks" / name
        self.logs = self.folder / "logs"
        self.supervisor_log = self.folder / "supervisor.log"

    def log_of(self, process: str) -> Path:
        """Return where a process writes."""
        return self.logs / f"{process}.log"

    def socket(self, environ: Mapping[str, str] | None = None) -> Path:
        """Return where the supervisor is spoken to: below XDG_RUNTIME_DIR, or here."""
        runtime = (os.environ if environ is None else environ).get("XDG_RUNTIME_DIR")
        if not runtime or not Path(runtime).is_dir():
            return self.folder / "supervisor.sock"
        # Two state folders may have stacks of the same name; the socket is in neither.
        here = hashlib.sha256(str(self.folder.absolute()).encode()).hexdigest()[:8]
        return Path(runtime) / "cacheroute" / f"{self.name}-{here}.sock"

    def prepare(self) -> None:
        """Make the folders; raises StateUnwritable when they cannot be written to."""
        try:
            for folder in (self.folder, self.folder / "procs", self.logs):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            prove_writable(self.folder)
        except OSError as problem:
            raise StateUnwritable(
                f"the state folder {self.folder} cannot be written to ({problem.strerror})",
                hint="make room there, or name another one in CACHEROUTE_STATE_DIR",
            ) from problem

    @contextlib.contextmanager
    def supervising(self) -> Iterator[bool]:
        """Try to be the one supervisor; gives False when somebody else is."""
        with (self.folder / "lock").open("a") as lock:
            yield _take(lock)

    def is_supervised(self) -> bool:
        """Whether a supervisor lives."""
        try:
            lock = (self.folder / "lock").open("r")
        except OSError:
            return False
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

    def supervisor(self) -> SupervisorRecord | None:
        """Return who supervises or did so last; None when nothing readable is recorded."""
        return _read(self.folder / "supervisor.json", SupervisorRecord)

    def processes(self) -> list[ProcessStatus]:
        """Return every process as it was last recorded, by name."""
        found = (
            _read(path, ProcessStatus) for path in sorted((self.folder / "procs").glob("*.json"))
        )
        return [status for status in found if status is not None]

    def write_supervisor(self, record: SupervisorRecord) -> None:
        """Record the supervisor; raises OSError."""
        _write(self.folder / "supervisor.json", record)

    def write_process(self, status: ProcessStatus) -> None:
        """Record a process, over what was recorded of it before; raises OSError."""
        _write(self.folder / "procs" / f"{status.name}.json", status)

    def forget_process(self, name: str) -> None:
        """Drop the record of a process."""
        (self.folder / "procs" / f"{name}.json").unlink(missing_ok=True)

    def forget_all(self) -> None:
        """Drop all records; logs stay."""
        for path in (self.folder / "procs").glob("*.json"):
            path.unlink(missing_ok=True)
        (self.folder / "supervisor.json").unlink(missing_ok=True)
        self.socket().unlink(missing_ok=True)


def homes(root: Path | None = None) -> list[StackHome]:
    """Return every stack that has a folder, by name."""
    root = root if root is not None else state_root()
    names = sorted(path.name for path in (root / "stacks").glob("*") if path.is_dir())
    return [StackHome(name, root) for name in names[:_MAX_STACKS]]


def _take(lock: TextIOWrapper) -> bool:
    """Take the lock, unless another supervisor has it; whether it was taken."""
    for attempt in range(_LOCK_ATTEMPTS):
        if attempt:
            # `is_supervised` cannot look at the lock without holding it for a moment.
            sleep(_LOCK_PAUSE_S)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_MAX_RECORD_BYTES), type=kind)
    except (OSError, msgspec.MsgspecError):
        return None


def _write(path: Path, record: object) -> None:
    beside = path.with_suffix(f".{os.getpid()}.new")
    beside.write_bytes(msgspec.json.encode(record) + b"\n")
    beside.replace(path)
