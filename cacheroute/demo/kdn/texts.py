"""The texts of a knowledge node: kept, found, listed and given up.

Whether KV cache of a text is there is part of what is known of it.
"""

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from cacheroute.demo.kdn.content import kid_of, normalise
from cacheroute.demo.kdn.database import Database
from cacheroute.demo.kdn.refused import Refused

MAX_REPLY_CHARS = 16 * 1024 * 1024
"""Most text in one answer."""

_COLUMNS = (
    "t.kid, t.length, k.model, coalesce(k.keys, 0), coalesce(k.nominal_bytes, 0), k.updated_at_s"
)
_FROM = "FROM texts t LEFT JOIN kv k ON k.kid = t.kid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is known of one text."""

    kid: str
    length: int
    """Characters of the normalised text."""
    kv_model: str | None
    """Model whose KV cache is kept; None without any."""
    kv_keys: int
    kv_nominal_bytes: int
    """Size that the KV stands for."""
    kv_updated_at_s: int | None
    """Seconds since the epoch."""
    content: str | None = None
    """The text itself; None when it was not asked for."""

    @property
    def kv_ready(self) -> bool:
        """Whether there is KV cache to inject."""
        return self.kv_keys > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """How much a node holds."""

    texts: int
    kv_ready: int
    chars: int
    kv_keys: int
    kv_keys_max: int
    kv_nominal_bytes: int


class Texts:
    """The table of texts."""

    def __init__(self, database: Database, *, max_texts: int) -> None:
        self._database = database
        self._max_texts = max_texts

    async def register(
        self, text: str, *, meta: str | None, now_s: int
    ) -> tuple[Entry, bool]:  # fmt: skip
        """Keep a text; returns what is known of it and whether it is new. Raises Refused."""
        normal = normalise(text)
        kid = kid_of(normal)
        known = self.find([kid])
        if known:
            return known[kid], False

        def write(db: sqlite3.Connection) -> bool:
            if db.execute("SELECT 1 FROM texts WHERE kid = ?", (kid,)).fetchone():
                return False
            held: int = db.execute("SELECT count(*) FROM texts").fetchone()[0]
            if held >= self._max_texts:
                raise Refused(507, f"this node holds {held} texts, and may hold no more")
            db.execute(
                "INSERT INTO texts (kid, content, length, meta, created_at_s) VALUES (?,?,?,?,?)",
                (kid, normal, len(normal), meta, now_s),
            )
            return True

        is_new = await self._database.work(write)
        return self.find([kid])[kid], is_new

    def find(self, kids: Collection[str], *, with_content: bool = False) -> dict[str, Entry]:
        """Return what is known of each id; those that nobody knows are absent.

        Raises Refused when the contents together are more than an answer holds.
        """
        unique = list(dict.fromkeys(kids))
        marks = ",".join("?" * len(unique))
        columns = _COLUMNS + (", t.content" if with_content else "")
        found = {}
        chars = 0
        # No value is in the statement's text, only marks for them.
        query = f"SELECT {columns} {_FROM} WHERE t.kid IN ({marks})"
        for row in self._database.reader.execute(query, unique):
            entry = _entry(row)
            chars += entry.length if with_content else 0
            if chars > MAX_REPLY_CHARS:
                raise Refused(
                    413, f"these texts have more than {MAX_REPLY_CHARS} characters: ask for fewer"
                )
            found[entry.kid] = entry
        return found

    def page(self, *, limit: int, offset: int) -> list[Entry]:
        """Return entries in the order they were registered, without their contents."""
        query = f"SELECT {_COLUMNS} {_FROM} ORDER BY t.position LIMIT ? OFFSET ?"
        return [_entry(row) for row in self._database.reader.execute(query, (limit, offset))]

    def totals(self) -> Totals:
        """Count everything."""
        row = self._database.reader.execute(
            "SELECT count(*), count(k.kid), coalesce(sum(t.length), 0), coalesce(sum(k.keys), 0),"
            f" coalesce(max(k.keys), 0), coalesce(sum(k.nominal_bytes), 0) {_FROM}"
        ).fetchone()
        texts, kv_ready, chars, kv_keys, kv_keys_max, kv_nominal_bytes = row
        return Totals(
            texts=texts,
            kv_ready=kv_ready,
            chars=chars,
            kv_keys=kv_keys,
            kv_keys_max=kv_keys_max,
            kv_nominal_bytes=kv_nominal_bytes,
        )

    async def delete(self, kids: Sequence[str]) -> tuple[list[str], list[str]]:
        """Give up texts with their KV; returns those that were known, and those with KV."""

        def write(db: sqlite3.Connection) -> tuple[list[str], list[str]]:
            deleted, with_kv = [], []
            for kid in dict.fromkeys(kids):
                if db.execute("DELETE FROM texts WHERE kid = ?", (kid,)).rowcount:
                    deleted.append(kid)
                if db.execute("DELETE FROM kv WHERE kid = ?", (kid,)).rowcount:
                    with_kv.append(kid)
                db.execute("DELETE FROM kv_blobs WHERE kid = ?", (kid,))
            return deleted, with_kv

        return await self._database.work(write)

    async def delete_all(self) -> None:
        """Give up everything."""

        def write(db: sqlite3.Connection) -> None:
            for table in ("texts", "kv", "kv_blobs"):
                db.execute(f"DELETE FROM {table}")  # noqa: S608 - the names stand above

        await self._database.work(write)


def _entry(row: tuple[Any, ...]) -> Entry:
    kid, length, kv_model, kv_keys, kv_nominal_bytes, kv_updated_at_s, *content = row
    return Entry(
        kid=kid,
        length=length,
        kv_model=kv_model,
        kv_keys=kv_keys,
        kv_nominal_bytes=kv_nominal_bytes,
        kv_updated_at_s=kv_updated_at_s,
        content=content[0] if content else None,
    )
