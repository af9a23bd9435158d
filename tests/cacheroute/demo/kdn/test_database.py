import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from cacheroute.demo.kdn.database import Database


def insert(db: sqlite3.Connection, kid: str = "ab") -> None:
    db.execute(
        "INSERT INTO texts (kid, content, length, created_at_s) VALUES (?, 'x', 1, 0)", (kid,)
    )


def count(database: Database, table: str = "texts") -> int:
    [held] = database.reader.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - names of ours
    assert isinstance(held, int)
    return held


async def test_a_temporary_file_goes_with_it() -> None:
    database = Database(None)
    await database.open()
    await database.work(insert)
    assert count(database) == 1

    await database.close()

    assert not Path(database.path).parent.exists()


async def test_a_named_file_stays(tmp_path: Path) -> None:
    file = str(tmp_path / "k.sqlite3")
    database = Database(file)
    await database.open()
    await database.work(insert)
    await database.close()

    again = Database(file)
    await again.open()

    assert count(again) == 1
    await again.close()


async def test_work_that_fails_leaves_nothing(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "k.sqlite3"))
    await database.open()

    def half(db: sqlite3.Connection) -> None:
        insert(db)
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError):
        await database.work(half)
    await database.work(lambda db: insert(db, "cd"))

    assert count(database) == 1
    await database.close()


async def test_a_read_waits_for_no_write() -> None:
    database = Database(None)
    await database.open()
    began, go_on = threading.Event(), threading.Event()

    def long_write(db: sqlite3.Connection) -> None:
        insert(db)
        began.set()
        assert go_on.wait(10)

    writing = asyncio.ensure_future(database.work(long_write))
    await asyncio.to_thread(began.wait, 10)

    assert count(database) == 0

    go_on.set()
    await writing
    assert count(database) == 1
    await database.close()


async def test_kv_that_was_half_built_is_forgotten_at_the_start(tmp_path: Path) -> None:
    for _ in range(2):
        database = Database(str(tmp_path / "k.sqlite3"))
        await database.open()
        assert count(database, "kv_blobs") == 0
        await database.work(
            lambda db: db.execute("INSERT INTO kv_blobs VALUES ('ab', x'00', x'00')").rowcount
        )
        await database.close()


async def test_a_file_that_cannot_be_is_an_error_and_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all, " * 100)
    for path in (tmp_path / "text", tmp_path / "no" / "folder"):
        database = Database(str(path))
        with pytest.raises(sqlite3.Error):
            await database.open()
        await database.close()
