"""The KV cache that a knowledge node keeps: Redis keys and values, as an engine wrote them.

Keys and values are opaque; only the nominal size of a value is read. Nothing is held in memory
beyond a batch, as real KV cache is larger than it.
"""

import sqlite3
from collections.abc import Mapping

from cacheroute.demo.kdn.database import Database
from cacheroute.demo.kdn.refused import Refused
from cacheroute.demo.kv_blob import nominal_bytes

BATCH_BYTES = 8 * 1024 * 1024
BATCH_KEYS = 512

Batch = list[tuple[bytes, bytes]]


class Kv:
    """The KV cache of every text that has some."""

    def __init__(self, database: Database, *, max_bytes: int) -> None:
        self._database = database
        self._max_bytes = max_bytes

    async def begin(self, kid: str, *, more_bytes: int) -> None:
        """Give up the KV of a text, as new KV of so many bytes is to come; raises Refused."""

        def write(db: sqlite3.Connection) -> None:
            held: int = db.execute(
                "SELECT coalesce(sum(stored_bytes), 0) FROM kv WHERE kid != ?", (kid,)
            ).fetchone()[0]
            if held + more_bytes > self._max_bytes:
                raise Refused(
                    507,
                    f"this node holds {held} bytes of KV cache and may hold {self._max_bytes}: "
                    f"no room for {more_bytes} more",
                )
            _forget(db, kid)

        await self._database.work(write)

    async def add(self, kid: str, batch: Mapping[bytes, bytes]) -> None:
        """Keep a piece of the KV of a text; it counts for nothing before `finish`."""

        def write(db: sqlite3.Connection) -> None:
            db.executemany(
                "INSERT OR REPLACE INTO kv_blobs (kid, key, value) VALUES (?,?,?)",
                [(kid, key, value) for key, value in batch.items()],
            )

        await self._database.work(write)

    async def finish(self, kid: str, *, model: str, now_s: int) -> tuple[int, int]:
        """Have the KV that was added count; returns its keys and nominal bytes."""

        def write(db: sqlite3.Connection) -> tuple[int, int]:
            keys = stored = nominal = 0
            for (value,) in db.execute("SELECT value FROM kv_blobs WHERE kid = ?", (kid,)):
                keys += 1
                stored += len(value)
                nominal += nominal_bytes(value)
            is_known = db.execute("SELECT 1 FROM texts WHERE kid = ?", (kid,)).fetchone()
            if not is_known or not keys:
                _forget(db, kid)
                return 0, 0
            db.execute(
                "INSERT OR REPLACE INTO kv VALUES (?,?,?,?,?,?)",
                (kid, model, keys, stored, nominal, now_s),
            )
            return keys, nominal

        return await self._database.work(write)

    async def forget(self, kid: str) -> None:
        """Give up what is there of the KV of a text."""
        await self._database.work(lambda db: _forget(db, kid))

    async def batch(self, kid: str, *, after: bytes = b"") -> Batch:
        """Return the next keys and values in the order of the keys; empty at the end."""

        def read(db: sqlite3.Connection) -> Batch:
            batch: Batch = []
            size = 0
            query = "SELECT key, value FROM kv_blobs WHERE kid = ? AND key > ? ORDER BY key"
            for key, value in db.execute(query, (kid, after)):
                batch.append((key, value))
                size += len(value)
                if size >= BATCH_BYTES or len(batch) >= BATCH_KEYS:
                    break
            return batch

        return await self._database.work(read)


def _forget(db: sqlite3.Connection, kid: str) -> None:
    db.execute("DELETE FROM kv WHERE kid = ?", (kid,))
    db.execute("DELETE FROM kv_blobs WHERE kid = ?", (kid,))
