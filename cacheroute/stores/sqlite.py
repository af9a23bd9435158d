"""The registry in an SQLite file: private, small, and never a reason not to start.

A file that cannot be used is moved aside with a warning, since Instances register again
anyway. A place that cannot be written is an error, since the operator chose it.
"""

import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cacheroute.core.instance import Instance
from cacheroute.stores.base import Loaded, StoreError
from cacheroute.stores.rows import from_row, to_row

SCHEMA_VERSION = 1
ASIDE = ".unusable"
"""What a file that was moved aside is called from then on; the one before it is replaced."""

_BUSY_S = 0.25
"""How long the event loop may wait for another process that writes the same file."""
_UNUSABLE = ("SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_ERROR", "SQLITE_FORMAT", "SQLITE_SCHEMA")
_SIDES = ("", "-wal", "-shm")

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A registry that is ready."""

    store: "SqliteRegistry"
    warning: str | None = None
    """Set when what was there could not be used: a sentence that says where it is now."""


class SqliteRegistry:
    """One row of JSON for each registered Instance."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    def open(cls, path: Path) -> Opened:
        """Open or make the file; StoreError when its place cannot be written."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _make_private(path)
        except OSError as error:
            raise StoreError(
                f"The registry {path} cannot be written: {error.strerror} ({error.filename})."
            ) from error
        try:
            return Opened(store=cls(path, _connected(path)))
        except _Unusable as unusable:
            aside = _moved_aside(path)
            _make_private(path)
            return Opened(
                store=cls(path, _connected(path)),
                warning=f"The registry {path} {unusable}. It is now {aside}, and a new one begins.",
            )

    def save(self, instance: Instance) -> None:
        """Remember an Instance, or its new description; a static one is passed over."""
        if instance.origin == "static":
            return
        self._run(
            "INSERT INTO instances (instance_id, body) VALUES (?, ?) "
            "ON CONFLICT (instance_id) DO UPDATE SET body = excluded.body",
            (instance.instance_id, to_row(instance)),
        )

    def remove(self, instance_id: str) -> None:
        """Forget an Instance; nothing happens when it was not remembered."""
        self._run("DELETE FROM instances WHERE instance_id = ?", (instance_id,))

    def load_all(self) -> Loaded:
        """Return everything that makes sense, and a sentence for what does not."""
        instances: list[Instance] = []
        skipped: list[str] = []
        for instance_id, body in self._run("SELECT instance_id, body FROM instances", ()):
            try:
                instances.append(from_row(body))
            except (ValueError, TypeError) as error:
                skipped.append(f"The saved Instance {instance_id!r} makes no sense: {error}.")
        instances.sort(key=lambda it: (it.registered_wall_s, it.instance_id))
        return Loaded(instances=tuple(instances), skipped=tuple(skipped))

    def close(self) -> None:
        """Fold the write-ahead log into the file and let it go."""
        self._connection.close()

    def _run(self, statement: str, values: tuple[str, ...]) -> list[tuple[str, str]]:
        return _guarded(self.path, lambda: self._connection.execute(statement, values).fetchall())


class _Unusable(Exception):
    """What is in the file is no registry of ours; says so as the end of a sentence."""


def _guarded(path: Path, act: Callable[[], _T]) -> _T:
    try:
        return act()
    except sqlite3.Error as error:
        raise StoreError(f"The registry {path} failed: {error}.") from error


def _connected(path: Path) -> sqlite3.Connection:
    connection = _guarded(
        path, lambda: sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    )
    try:
        _prepare(connection)
    except sqlite3.Error as error:
        connection.close()
        if (error.sqlite_errorname or "").startswith(_UNUSABLE):
            raise _Unusable(f"cannot be read ({error})") from error
        raise StoreError(f"The registry {path} cannot be used: {error}.") from error
    except _Unusable:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, SCHEMA_VERSION):
        raise _Unusable(f"has schema {version}, and this version knows {SCHEMA_VERSION}")
    # NORMAL loses no row when the process is killed, only when the power fails.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS instances "
        "(instance_id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID"
    )
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("SELECT instance_id, body FROM instances LIMIT 0")
    (found,) = connection.execute("PRAGMA quick_check (1)").fetchone()
    if found != "ok":
        raise _Unusable(f"is damaged ({found})")


def _make_private(path: Path) -> None:
    # Made by us before SQLite sees it: it would take the umask's word for the mode, and its
    # side files copy the mode of the file.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    path.chmod(0o600)


def _moved_aside(path: Path) -> Path:
    aside = path.with_name(path.name + ASIDE)
    for side in _SIDES:
        source = path.with_name(path.name + side)
        target = aside.with_name(aside.name + side)
        if source.exists():
            source.replace(target)
        else:
            target.unlink(missing_ok=True)
    return aside
