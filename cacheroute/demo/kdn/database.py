"""The embedded database of a knowledge node: who reads and who writes.

Short reads happen on the event loop, over a connection of their own that nobody's writing
blocks; everything else is work for one thread, one piece after the other.
"""

import asyncio
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS texts (
    position INTEGER PRIMARY KEY,
    kid TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL,
    length INTEGER NOT NULL,
    meta TEXT,
    created_at_s INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS kv (
    kid TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    keys INTEGER NOT NULL,
    stored_bytes INTEGER NOT NULL,
    nominal_bytes INTEGER NOT NULL,
    updated_at_s INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS kv_blobs (
    kid TEXT NOT NULL,
    key BLOB NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (kid, key)
) WITHOUT ROWID;
"""

_FORGET_HALF_BUILT = "DELETE FROM kv_blobs WHERE kid NOT IN (SELECT kid FROM kv)"
"""KV whose build did not come to its end, as when the process died."""


class Database:
    """One SQLite file, or a temporary one that goes with the process."""

    def __init__(self, path: str | None) -> None:
        self._folder = None if path else tempfile.mkdtemp(prefix="cacheroute-kdn-")
        self.path = path or str(Path(self._folder or "") / "knowledge.sqlite3")
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kdn-database")
        self._writers: list[sqlite3.Connection] = []
        self._readers: list[sqlite3.Connection] = []

    @property
    def reader(self) -> sqlite3.Connection:
        """The connection for short reads on the event loop."""
        return self._readers[0]

    async def open(self) -> None:
        """Make the tables that are missing; raises sqlite3.Error where that cannot be."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._open_writer)
        self._readers.append(sqlite3.connect(self.path, isolation_level=None))

    async def work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do a piece of work in one transaction, off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work)

    async def close(self) -> None:
        """Let the work that has begun end, and close; a temporary file is removed."""
        while self._readers:
            self._readers.pop().close()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close_writer)
        self._thread.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    # In the thread.

    def _open_writer(self) -> None:
        writer = sqlite3.connect(self.path, isolation_level=None)
        self._writers.append(writer)
        # Readers are then blocked by no writer, however large the KV that it writes.
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("PRAGMA synchronous=NORMAL")
        writer.executescript(_SCHEMA)
        writer.execute(_FORGET_HALF_BUILT)

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        writer = self._writers[0]
        writer.execute("BEGIN IMMEDIATE")
        try:
            done = work(writer)
        except BaseException:
            writer.execute("ROLLBACK")
            raise
        writer.execute("COMMIT")
        return done

    def _close_writer(self) -> None:
        while self._writers:
            self._writers.pop().close()
