"""The registry in a file."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from cacheroute.core.orders import Orders
from cacheroute.stores.base import StoreError
from cacheroute.stores.rows import to_row
from cacheroute.stores.sqlite import ASIDE, SCHEMA_VERSION, SqliteRegistry
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.stores.store_parts import (
    REPORT,
    WHOLE,
    check_a_registry,
    check_orders,
    remembered,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "hp_127.0.0.1:8001" / "registry.sqlite3"


def opened(path: Path) -> SqliteRegistry:
    """Open a registry that must be fine."""
    outcome = SqliteRegistry.open(path)
    assert outcome.warning is None
    return outcome.store


def test_it_does_what_a_registry_does(path: Path) -> None:
    with closing(opened(path)) as store:
        check_a_registry(store)


def test_it_survives_a_restart(path: Path) -> None:
    with closing(opened(path)) as store:
        store.save(WHOLE)
        store.save_links("i-1", REPORT)
    with closing(opened(path)) as store:
        assert remembered(store) == [WHOLE]
        assert store.load_all().links == {"i-1": REPORT}


@pytest.mark.parametrize("version", [0, 1])
def test_a_file_of_the_version_before_keeps_its_rows_and_takes_links(
    path: Path, version: int
) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE instances "
            "(instance_id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID"
        )
        connection.execute("INSERT INTO instances VALUES ('i-1', ?)", (to_row(WHOLE),))
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
    with closing(opened(path)) as store:
        assert remembered(store) == [WHOLE]
        assert store.load_all().links == {}
        store.save_links("i-1", REPORT)
    with closing(opened(path)) as store:
        assert remembered(store) == [WHOLE]
        assert store.load_all().links == {"i-1": REPORT}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


def test_it_survives_a_process_that_was_killed(path: Path) -> None:
    first = opened(path)
    first.save(WHOLE)
    with closing(opened(path)) as second:
        assert remembered(second) == [WHOLE]
    first.close()


def test_it_is_for_its_owner_only(path: Path) -> None:
    with closing(opened(path)) as store:
        store.save(WHOLE)
        files = sorted(path.parent.iterdir())
        assert len(files) == 3
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    opened(path).close()
    path.chmod(0o644)
    opened(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_key_is_in_any_byte_of_it(path: Path) -> None:
    with closing(opened(path)) as store:
        store.save(an_instance(api_key="sk-secret"))
        assert all(b"sk-secret" not in file.read_bytes() for file in path.parent.iterdir())


def moved_aside(path: Path) -> str:
    """Open a file that cannot be used; return the warning."""
    outcome = SqliteRegistry.open(path)
    with closing(outcome.store) as store:
        assert remembered(store) == []
        store.save(WHOLE)
        assert remembered(store) == [WHOLE]
    assert outcome.warning is not None
    assert str(path) + ASIDE in outcome.warning
    return outcome.warning


def test_a_file_that_is_no_database_is_moved_aside(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this was never a database, but it is somebody's file" * 40)
    assert "not a database" in moved_aside(path)
    assert path.with_name(path.name + ASIDE).read_bytes().startswith(b"this was never")


def test_a_file_that_cannot_be_moved_aside_is_an_error_that_says_so(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this was never a database" * 40)
    path.with_name(path.name + ASIDE).mkdir()
    with pytest.raises(StoreError, match=r"not a database.* cannot be moved aside"):
        SqliteRegistry.open(path)
    assert path.read_bytes().startswith(b"this was never")


def test_a_damaged_file_is_moved_aside(path: Path) -> None:
    with closing(opened(path)) as store:
        for number in range(200):
            store.save(an_instance(f"i-{number}", port=number + 1, meta={"x": "x" * 500}))
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)
    moved_aside(path)


def test_a_file_of_a_later_version_is_moved_aside_whole(path: Path) -> None:
    opened(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    assert f"schema {SCHEMA_VERSION + 1}" in moved_aside(path)


def test_a_table_of_another_shape_is_moved_aside(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE instances (something TEXT)")
        connection.commit()
    assert "another shape" in moved_aside(path)
    with closing(sqlite3.connect(path.with_name(path.name + ASIDE))) as connection:
        assert len(connection.execute("PRAGMA table_info (instances)").fetchall()) == 1


def test_what_was_moved_aside_before_makes_room(path: Path) -> None:
    path.parent.mkdir(parents=True)
    for text in (b"first" * 300, b"second" * 300):
        path.write_bytes(text)
        moved_aside(path)
    assert path.with_name(path.name + ASIDE).read_bytes().startswith(b"second")


def test_a_row_that_makes_no_sense_is_told_and_left_out(path: Path) -> None:
    with closing(opened(path)) as store:
        store.save(WHOLE)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE instances SET links = '{\"links\": 7}'")
            connection.execute(
                "INSERT INTO instances (instance_id, body) VALUES "
                "('bad', '{\"host\": 7}'), ('blob', x'ff00')"
            )
            connection.commit()
        loaded = store.load_all()
    assert (loaded.instances, loaded.links) == ((WHOLE,), {})
    assert [
        name in text for name, text in zip(("bad", "blob", "i-1"), loaded.skipped, strict=True)
    ] == [True] * 3
    assert loaded.skipped[2].startswith("The saved links of 'i-1' make no sense: ")


def test_a_row_that_is_no_text_costs_nobody_else_anything(path: Path) -> None:
    with closing(opened(path)) as store:
        for instance_id in ("i-1", "i-2"):
            store.save(an_instance(instance_id))
            store.save_orders(instance_id, Orders(draining=True))
        damaged = "UPDATE {} SET body = CAST(x'7bff7d' AS TEXT) WHERE instance_id = 'i-1'"
        for table in ("instances", "orders"):
            store._connection.execute(damaged.format(table))
        store._connection.execute(
            "INSERT INTO orders VALUES (CAST(x'69ff' AS TEXT), '{\"draining\": true}')"
        )
    with closing(opened(path)) as store:
        loaded = store.load_all()
        assert [each.instance_id for each in loaded.instances] == ["i-2"]
        assert [text.startswith("The saved Instance 'i-1'") for text in loaded.skipped] == [True]
        assert store.load_orders() == {"i-2": Orders(draining=True)}


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"registry\.sqlite3 cannot be written: .*/file\)"):
        SqliteRegistry.open(tmp_path / "file" / "registry.sqlite3")
    (tmp_path / "registry.sqlite3").mkdir()
    with pytest.raises(StoreError, match="Is a directory"):
        SqliteRegistry.open(tmp_path / "registry.sqlite3")


def test_a_file_somebody_else_is_writing_is_an_error_and_not_a_wait(path: Path) -> None:
    with closing(opened(path)) as store, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked"):
            store.save(WHOLE)
        other.rollback()
        store.save(WHOLE)
        assert remembered(store) == [WHOLE]


def test_only_the_first_of_many_writes_waits_for_somebody_else(path: Path) -> None:
    def wait_ms() -> int:
        (row,) = store._connection.execute("PRAGMA busy_timeout").fetchall()
        return int(row[0])

    with closing(opened(path)) as store, closing(sqlite3.connect(path)) as other:
        assert wait_ms() == 250
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked"):
            store.save(WHOLE)
        assert wait_ms() == 0, "or a thousand of them would hold everything up for minutes"
        other.rollback()
        store.save(WHOLE)
        assert wait_ms() == 250


def test_who_writes_after_the_end_is_told_so(path: Path) -> None:
    store = opened(path)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.save(WHOLE)


def test_orders_outlive_the_process_and_those_of_before_are_kept(path: Path) -> None:
    with closing(opened(path)) as store:
        assert check_orders(store)
    with closing(opened(path)) as store:
        assert list(store.load_orders()) == ["not-registered"]


def test_an_order_that_makes_no_sense_is_left_out(path: Path) -> None:
    with closing(opened(path)) as store:
        store.save_orders("i-1", Orders(draining=True))
        for body in ("{}", "[", '{"weight": -1}'):
            statement = "INSERT INTO orders (instance_id, body) VALUES (?, ?)"
            store._connection.execute(statement, (f"odd {body}", body))
        assert store.load_orders() == {"i-1": Orders(draining=True), "odd {}": Orders()}
