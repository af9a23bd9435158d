"""Logs are bounded, and know when each part of them came."""

import os
from pathlib import Path

import pytest

from cacheroute_cli.supervisor.log_files import (
    LogFile,
    files_of,
    older,
    read_times,
    remove_log,
    times_path,
)


def grow(log: Path, text: str) -> None:
    with log.open("a") as file:
        file.write(text)


def test_growth_is_noted_once_with_its_time(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    keeper = LogFile(log)
    keeper.look(1.0)
    grow(log, "one\n")
    keeper.look(2.0)
    keeper.look(3.0)
    grow(log, "two\n")
    keeper.look(4.0)

    assert read_times(log) == [(2.0, 4), (4.0, 8)]


def test_a_log_that_is_too_large_is_set_aside_and_its_writer_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    keeper = LogFile(log, max_bytes=10)
    with log.open("ab", buffering=0) as writer:
        for number in range(6):
            writer.write(b"%d: 0123456789\n" % number)
            keeper.look(float(number))
            assert log.stat().st_size == 0
        writer.write(b"end\n")
        keeper.look(9.0)

    assert log.read_bytes() == b"end\n"
    assert [path.name for path in files_of(log)] == ["a.log.3", "a.log.2", "a.log.1", "a.log"]
    assert [older(log, n).read_bytes()[:1] for n in (1, 2, 3)] == [b"5", b"4", b"3"]
    assert read_times(older(log, 1)) == [(5.0, 14)]
    assert read_times(log) == [(9.0, 4)]
    assert older(log, 1).stat().st_mode & 0o777 == 0o600


def test_no_room_for_a_copy_does_not_let_the_log_grow_on(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    grow(log, "x" * 100)
    log.with_name("a.log.new").symlink_to("/dev/full")

    LogFile(log, max_bytes=10).look(1.0)

    assert log.stat().st_size == 0
    assert files_of(log) == [log]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_log_on_a_full_disk_is_looked_at_without_harm(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    grow(log, "hello\n")
    times_path(log).symlink_to("/dev/full")

    LogFile(log).look(1.0)

    assert log.read_text() == "hello\n"


def test_a_log_that_is_not_there_yet_is_looked_at_without_harm(tmp_path: Path) -> None:
    LogFile(tmp_path / "none.log").look(1.0)

    assert files_of(tmp_path / "none.log") == []


def test_a_log_is_removed_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    keeper = LogFile(log, max_bytes=2)
    for _ in range(3):
        grow(log, "text\n")
        keeper.look(1.0)

    remove_log(log)

    assert list(tmp_path.iterdir()) == []
