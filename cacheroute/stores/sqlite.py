"""The registry in an SQLite file: private, small, and never a reason not to start.

A file that cannot be used is moved aside with a warning, since Instances register again
anyway. A place that cannot be written is an error, since the operator chose it.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cacheroute.core.instance import Instance
from cacheroute.core.orders import Orders
from cacheroute.stores.base import Loaded, SavedLinks, StoreError
from cacheroute.stores.rows import (
    from_row,
    links_from_row,
    links_to_row,
    orders_from_row,
    orders_to_row,
    to_row,
)

SCHEMA_VERSION = 3
"""1 had no links and 2 no orders; a file of either gets their place and keeps its rows."""
ASIDE = ".unusable"
"""What a file that was moved aside is called from then on; the one before it is replaced."""

_BUSY_S = 0.25
"""How long the event loop may wait, once, for another process that writes the same file."""
_UNUSABLE = ("SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_ERROR", "SQLITE_FORMAT", "SQLITE_SCHEMA")
_SIDES = ("", "-wal", "-shm")

_T = TypeVar("_T")
_Fetched = tuple[str, str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A registry that is ready."""

    store: "SqliteRegistry"
    warning: str | None = None
    """Set when what was there could not be used: a sentence that says where it is now."""


class SqliteRegistry:
    """One row for each registered Instance: itself and its links, each as JSON."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._is_patient = True

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
            try:
                aside = _moved_aside(path)
                _make_private(path)
            except OSError as error:
                raise StoreError(
                    f"The registry {path} {unusable}, and cannot be moved aside: {error.strerror}."
                ) from error
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

    def save_links(self, instance_id: str, report: SavedLinks | None) -> None:
        """Remember the links of an Instance that is remembered, or that it has none."""
        self._run(
            "UPDATE instances SET links = ? WHERE instance_id = ?",
            (None if report is None else links_to_row(report), instance_id),
        )

    def remove(self, instance_id: str) -> None:
        """Forget an Instance and its links; nothing happens when it was not remembered."""
        self._run("DELETE FROM instances WHERE instance_id = ?", (instance_id,))

    def load_all(self) -> Loaded:
        """Return everything that makes sense, and a sentence for what does not."""
        instances: list[Instance] = []
        reports: dict[str, SavedLinks] = {}
        skipped: list[str] = []
        for instance_id, body, links in self._run(
            "SELECT instance_id, body, links FROM instances", ()
        ):
            try:
                instances.append(from_row(body or ""))
            except (ValueError, TypeError) as error:
                skipped.append(f"The saved Instance {instance_id!r} makes no sense: {error}.")
                continue
            try:
                if links is not None:
                    reports[instances[-1].instance_id] = links_from_row(links)
            except (ValueError, TypeError) as error:
                skipped.append(f"The saved links of {instance_id!r} make no sense: {error}.")
        instances.sort(key=lambda it: (it.registered_wall_s, it.instance_id))
        return Loaded(instances=tuple(instances), links=reports, skipped=tuple(skipped))

    def save_orders(self, instance_id: str, orders: Orders) -> bool:
        """Remember the orders of an id, or that it has none."""
        if orders.is_empty:
            self._run("DELETE FROM orders WHERE instance_id = ?", (instance_id,))
        else:
            self._run(
                "INSERT INTO orders (instance_id, body) VALUES (?, ?) "
                "ON CONFLICT (instance_id) DO UPDATE SET body = excluded.body",
                (instance_id, orders_to_row(orders)),
            )
        return True

    def load_orders(self) -> dict[str, Orders]:
        """Return all orders that make sense, by id."""
        found: dict[str, Orders] = {}
        for instance_id, body, _ in self._run("SELECT instance_id, body, NULL FROM orders", ()):
            with contextlib.suppress(ValueError, TypeError):
                instance_id.encode()
                found[instance_id] = orders_from_row(body or "")
        return found

    def close(self) -> None:
        """Fold the write-ahead log into the file and let it go."""
        self._connection.close()

    def _run(self, statement: str, values: tuple[str | None, ...]) -> list[_Fetched]:
        try:
            rows = _guarded(
                self.path, lambda: self._connection.execute(statement, values).fetchall()
            )
        except StoreError:
            self._wait_for_others(patiently=False)  # a thousand rows would be a thousand waits
            raise
        self._wait_for_others(patiently=True)
        return rows

    def _wait_for_others(self, *, patiently: bool) -> None:
        if patiently is not self._is_patient:
            self._is_patient = patiently
            wait_ms = int(_BUSY_S * 1000) if patiently else 0
            with contextlib.suppress(sqlite3.Error):  # it is closed
                self._connection.execute(f"PRAGMA busy_timeout = {wait_ms}")


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
    # One row that is no UTF-8 must not cost all the others: it fails where it is read.
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in range(SCHEMA_VERSION + 1):
        raise _Unusable(f"has schema {version}, and this version knows {SCHEMA_VERSION}")
    # NORMAL loses no row when the process is killed, only when the power fails.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    # One step, so that no other process finds half of it.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS instances "
        "(instance_id TEXT PRIMARY KEY, body TEXT NOT NULL, links TEXT) WITHOUT ROWID"
    )
    columns = {name for _, name, *_ in connection.execute("PRAGMA table_info (instances)")}
    if not columns >= {"instance_id", "body"}:
        raise _Unusable("has a table of another shape")
    if "links" not in columns:
        connection.execute("ALTER TABLE instances ADD COLUMN links TEXT")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS orders "
        "(instance_id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID"
    )
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")
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
