"""Lines of JSON in files of a bounded size, and no request that waits for a disk."""

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from cacheroute.runtime import request_log
from cacheroute.runtime.request_log import RequestLog, RequestRecord
from tests.support.waiting import eventually


def a_record(request_id: str = "req-1", **given: Any) -> RequestRecord:
    whole: dict[str, Any] = {
        "at": 1.7e9,
        "request_id": request_id,
        "endpoint": "chat/completions",
        "model": "m",
        "stream": True,
        "caller": "native",
        "instance": "i-1",
        "attempts": 1,
        "status": 200,
        "outcome": "ok",
        "ttft_ms": 12.5,
        "e2e_ms": 80.0,
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "cached_tokens": None,
        "bytes_in": 10,
        "bytes_out": 20,
        "error": None,
        **given,
    }
    return RequestRecord(**whole)


def a_log(folder: Path, *, max_bytes: int = 1 << 20, keep: int = 3) -> RequestLog:
    log = RequestLog(max_bytes=max_bytes, keep=keep)
    log.path = folder / "state" / "requests.jsonl"
    return log


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_record_is_one_line_with_every_key(tmp_path: Path) -> None:
    log = a_log(tmp_path)
    log.add(a_record())
    log.flush()
    assert log.path is not None
    assert lines(log.path) == [
        {
            "at": 1.7e9, "request_id": "req-1", "endpoint": "chat/completions", "model": "m",
            "stream": True, "caller": "native", "instance": "i-1", "attempts": 1, "status": 200,
            "outcome": "ok", "ttft_ms": 12.5, "e2e_ms": 80.0, "prompt_tokens": 7,
            "completion_tokens": 3, "cached_tokens": None, "bytes_in": 10, "bytes_out": 20,
            "error": None, "knowledge": None,
        }
    ]  # fmt: skip
    assert (log.written, log.dropped) == (1, 0)


def test_the_file_and_its_folder_are_private(tmp_path: Path) -> None:
    log = a_log(tmp_path)
    log.add(a_record())
    log.flush()
    assert log.path is not None
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


def test_without_a_file_nothing_is_kept(tmp_path: Path) -> None:
    log = RequestLog(max_bytes=100, keep=1)
    log.add(a_record())
    log.flush()
    assert (log.written, log.dropped) == (0, 0)
    assert list(tmp_path.iterdir()) == []


def test_lines_are_added_to_what_is_there(tmp_path: Path) -> None:
    for n in range(3):
        log = a_log(tmp_path)
        log.add(a_record(f"req-{n}"))
        log.flush()
    assert log.path is not None
    assert [line["request_id"] for line in lines(log.path)] == ["req-0", "req-1", "req-2"]


def test_files_are_rotated_by_size_and_only_so_many_are_kept(tmp_path: Path) -> None:
    log = a_log(tmp_path, max_bytes=1000, keep=2)
    for n in range(40):
        log.add(a_record(f"req-{n}"))
        log.flush()
    assert log.path is not None
    names = sorted(path.name for path in log.path.parent.iterdir())
    assert names == ["requests.jsonl", "requests.jsonl.1", "requests.jsonl.2"]
    for path in log.path.parent.iterdir():
        assert 0 < path.stat().st_size <= 1000
    ids = [
        line["request_id"] for name in reversed(names) for line in lines(log.path.with_name(name))
    ]
    assert ids == [f"req-{n}" for n in range(40 - len(ids), 40)]
    assert log.dropped == 0


def test_with_none_to_keep_the_file_begins_anew(tmp_path: Path) -> None:
    log = a_log(tmp_path, max_bytes=1000, keep=0)
    for n in range(20):
        log.add(a_record(f"req-{n}"))
        log.flush()
    assert log.path is not None
    assert [path.name for path in log.path.parent.iterdir()] == ["requests.jsonl"]
    assert lines(log.path)[-1]["request_id"] == "req-19"


def test_a_batch_larger_than_a_file_is_written_all_the_same(tmp_path: Path) -> None:
    log = a_log(tmp_path, max_bytes=100, keep=1)
    for n in range(10):
        log.add(a_record(f"req-{n}"))
    log.flush()
    assert log.path is not None
    assert len(lines(log.path)) == 10


def test_a_disk_that_fails_costs_lines_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = a_log(tmp_path)
    blocker = tmp_path / "state"
    blocker.write_text("not a folder")
    for _ in range(3):
        log.add(a_record())
        log.flush()
    assert (log.written, log.dropped) == (0, 3)
    blocker.unlink()
    log.add(a_record())
    log.flush()
    assert (log.written, log.dropped) == (1, 3)
    told = [record.getMessage().split(" ")[0] for record in caplog.records]
    assert told == ["request_log.failed", "request_log.recovered"]


def test_a_line_that_a_crash_has_torn_does_not_glue_to_the_next(tmp_path: Path) -> None:
    log = a_log(tmp_path)
    assert log.path is not None
    log.path.parent.mkdir()
    log.path.write_bytes(b'{"at":17')
    log.add(a_record("kept"))
    log.flush()
    torn, whole = log.path.read_bytes().splitlines()
    assert torn == b'{"at":17'
    assert json.loads(whole)["request_id"] == "kept"


def test_when_nobody_writes_lines_are_dropped_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "_WAITING_MAX", 5)
    log = a_log(tmp_path)
    for n in range(9):
        log.add(a_record(f"req-{n}"))
    assert log.dropped == 4
    log.flush()
    assert log.written == 5


def test_text_that_cannot_be_written_costs_its_line_and_no_other(tmp_path: Path) -> None:
    """One line that UTF-8 cannot hold must not end the log for good."""
    log = a_log(tmp_path)
    log.add(a_record("before"))
    log.add(a_record("odd", model="\ud800"))
    log.flush()
    log.add(a_record("after"))
    log.flush()
    assert log.path is not None
    assert {"before", "after"} <= {line["request_id"] for line in lines(log.path)}


async def test_the_loop_writes_what_has_gathered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "FLUSH_EVERY_S", 0.005)
    log = a_log(tmp_path)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(log.run())
        log.add(a_record())
        await eventually(lambda: log.written == 1)
        log.add(a_record("last"))
        task.cancel()
    assert log.path is not None
    assert [line["request_id"] for line in lines(log.path)] == ["req-1", "last"]
