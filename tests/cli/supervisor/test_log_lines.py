"""Several logs read as one, by the time at which their lines came."""

import os
from pathlib import Path
from shutil import copyfileobj as shutil_copy
from typing import BinaryIO

import pytest

from cacheroute_cli.supervisor.log_files import LogFile
from cacheroute_cli.supervisor.log_lines import (
    MAX_LINE_BYTES,
    LogLine,
    Tail,
    last_lines,
    lines_of,
    merged,
)


def written(log: Path, *batches: tuple[float, str], max_bytes: int = 1_000_000) -> Path:
    """Write batches, each seen at its time."""
    keeper = LogFile(log, max_bytes=max_bytes)
    for at_s, text in batches:
        with log.open("a") as file:
            file.write(text)
        keeper.look(at_s)
    return log


def texts(lines: "list[LogLine]") -> list[str]:
    return [f"{line.at_s:g} {line.name} {line.text}" for line in lines]


def test_lines_are_merged_by_time_and_stay_in_their_own_order(tmp_path: Path) -> None:
    a = written(tmp_path / "a.log", (1.0, "a1\na2\n"), (3.0, "a3\n"))
    b = written(tmp_path / "b.log", (2.0, "b1\n"), (3.0, "b2\n"))

    assert texts(list(merged({"a": a, "b": b}))) == [
        "1 a a1",
        "1 a a2",
        "2 b b1",
        "3 a a3",
        "3 b b2",
    ]


def test_older_files_come_first(tmp_path: Path) -> None:
    batches = [(float(n), f"line {n} of many\n") for n in range(1, 4)]
    log = written(tmp_path / "a.log", *batches, max_bytes=10)
    with log.open("a") as file:
        file.write("newest\n")
    os.utime(log, (9.0, 9.0))

    assert texts(list(lines_of("a", log))) == [
        "1 a line 1 of many",
        "2 a line 2 of many",
        "3 a line 3 of many",
        "9 a newest",
    ]


def test_since_and_last_leave_out_what_is_older(tmp_path: Path) -> None:
    a = written(tmp_path / "a.log", (1.0, "a1\n"), (2.0, "a2\n"), (3.0, "a3\n"))

    assert texts(list(merged({"a": a}, since_s=2.0))) == ["2 a a2", "3 a a3"]
    assert texts(list(merged({"a": a}, last=1))) == ["3 a a3"]
    assert texts(list(merged({"a": a}, last=0))) == []
    assert len(list(merged({"a": a}, last=10**20))) == len(list(merged({"a": a})))


def test_a_tail_gives_what_is_added_and_whole_lines_only(tmp_path: Path) -> None:
    log = written(tmp_path / "a.log", (1.0, "before\n"))
    tail = Tail("a", log)

    assert tail.look(2.0) == []
    written(log, (2.0, "one\ntw"))
    assert texts(tail.look(3.0)) == ["3 a one"]
    written(log, (3.0, "o\n"))
    assert texts(tail.look(4.0)) == ["4 a two"]


def test_a_tail_loses_nothing_when_the_log_is_set_aside(tmp_path: Path) -> None:
    log = written(tmp_path / "a.log", (1.0, "seen\n"))
    tail = Tail("a", log)
    written(log, (2.0, "just before\n"), max_bytes=10)
    assert log.stat().st_size == 0
    written(log, (3.0, "after, and longer than what was read before\n"))

    assert [line.text for line in tail.look(4.0)] == [
        "just before",
        "after, and longer than what was read before",
    ]


def test_a_log_that_comes_later_is_read_from_its_start(tmp_path: Path) -> None:
    tail = Tail("a", tmp_path / "a.log", from_start=True)
    assert tail.look(1.0) == []

    written(tmp_path / "a.log", (1.0, "first\n"))
    assert texts(tail.look(2.0)) == ["2 a first"]


def test_a_line_without_end_is_cut_and_odd_bytes_are_shown(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"x" * (MAX_LINE_BYTES + 5) + b"\n\xff\xfe\r\n")

    lengths = [len(line.text) for line in lines_of("a", log)]
    assert lengths == [MAX_LINE_BYTES, 5, 2]

    tail = Tail("a", log, from_start=True)
    assert [len(line.text) for line in tail.look(1.0)] == [MAX_LINE_BYTES + 5, 2]


def test_the_last_lines_are_those_that_say_something(tmp_path: Path) -> None:
    log = written(tmp_path / "a.log", (1.0, "one\n\ntwo\n  \nthree\n"))

    assert last_lines(log, 2) == ["two", "three"]
    assert last_lines(tmp_path / "none.log", 2) == []


def test_a_look_while_the_log_is_set_aside_reads_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "a.log"
    log.write_text("first\n")
    tail = Tail("a", log, from_start=True)
    seen = [line.text for line in tail.look(1.0)]

    def copied_and_looked(source: BinaryIO, copy: BinaryIO, length: int) -> None:
        shutil_copy(source, copy, length)
        copy.flush()
        seen.extend(line.text for line in tail.look(2.0))

    monkeypatch.setattr("shutil.copyfileobj", copied_and_looked)
    written(log, (2.0, "second, longer\n"), max_bytes=10)
    written(log, (3.0, "third\n"))
    seen.extend(line.text for line in tail.look(3.0))

    assert seen == ["first", "second, longer", "third"]
