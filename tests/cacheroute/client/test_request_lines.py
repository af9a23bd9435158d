"""A request log read back: real lines, torn ones, and what was never a request."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cacheroute.client import request_lines
from cacheroute.client.request_lines import read_request_line, read_request_logs
from cacheroute.core.predict.lessons import LoggedKnowledge, LoggedRequest
from cacheroute.runtime.request_log import KnowledgeRecord, RequestLog, RequestRecord
from tests.cacheroute.runtime.test_request_log import a_record

KNOWLEDGE = KnowledgeRecord(
    path="text_inject",
    predicted_ttft_ms=100.0,
    ttft_ms=120.0,
    service_ms=90.5,
    predicted_service_ms=80.0,
    residual_tokens=400,
    reused_tokens=0,
    alone=True,
)


def written(path: Path, *records: RequestRecord) -> Path:
    log = RequestLog(max_bytes=1 << 20, keep=1)
    log.path = path
    for record in records:
        log.add(record)
    log.flush()
    return path


def test_what_the_proxy_writes_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "requests.jsonl", a_record(), a_record(knowledge=KNOWLEDGE))

    lines = read_request_logs([path])

    assert (lines.skipped, lines.forgotten) == (0, 0)
    plain, scheduled = lines.requests
    assert plain == LoggedRequest(
        at=1.7e9, endpoint="chat/completions", model="m", stream=True, instance="i-1", attempts=1,
        outcome="ok", ttft_ms=12.5, e2e_ms=80.0, prompt_tokens=7, completion_tokens=3,
        cached_tokens=None, knowledge=None,
    )  # fmt: skip
    assert scheduled.knowledge == LoggedKnowledge(
        service_ms=90.5, residual_tokens=400, reused_tokens=0, alone=True
    )


@pytest.mark.parametrize(
    ("ours", "theirs"), [(LoggedRequest, RequestRecord), (LoggedKnowledge, KnowledgeRecord)]
)
def test_every_field_that_is_read_is_one_that_is_written(
    ours: type, theirs: type[msgspec.Struct]
) -> None:
    read = {field.name for field in msgspec.inspect.type_info(ours).fields}  # type: ignore[attr-defined]

    assert read <= set(theirs.__struct_fields__)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"{}",
        b"null",
        b"[1,2]",
        b"not json at all",
        b'{"at": 1.0, "msg": "a line of another program"}',
        b"\xff\xfe",
        b"[" * 5000,
        msgspec.json.encode(a_record())[:-20],
        msgspec.json.encode(a_record())[20:],
        msgspec.json.encode(a_record(e2e_ms=-1.0)),
        msgspec.json.encode(a_record(ttft_ms=-1.0)),
    ],
)
def test_what_is_no_request_is_none(line: bytes) -> None:
    assert read_request_line(line) is None


def test_torn_and_foreign_lines_are_counted_and_empty_ones_are_not(tmp_path: Path) -> None:
    path = written(tmp_path / "requests.jsonl", a_record(), a_record())
    with path.open("ab") as file:
        file.write(b'\n\n{"level": "info"}\n' + msgspec.json.encode(a_record())[:40])

    lines = read_request_logs([path])

    assert (len(lines.requests), lines.skipped) == (2, 2)


def test_a_line_of_any_length_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_lines, "MAX_LINE_BYTES", 1000)
    path = tmp_path / "requests.jsonl"
    good = msgspec.json.encode(a_record()) + b"\n"
    path.write_bytes(b'{"x": "' + b"y" * 10_000 + b'"}\n' + good + b"z" * 5000)

    lines = read_request_logs([path])

    assert (len(lines.requests), lines.skipped) == (1, 2)


def test_several_logs_are_one_and_the_last_requests_are_kept(tmp_path: Path) -> None:
    older = written(tmp_path / "a", *[a_record(at=float(n)) for n in range(5)])
    newer = written(tmp_path / "b", *[a_record(at=float(n)) for n in range(5, 8)])

    lines = read_request_logs([older, newer], keep=4)

    assert [request.at for request in lines.requests] == [4.0, 5.0, 6.0, 7.0]
    assert lines.forgotten == 4


def test_fields_that_come_later_do_no_harm() -> None:
    record: dict[str, Any] = json.loads(msgspec.json.encode(a_record()))

    assert read_request_line(json.dumps({**record, "colour": "red"}).encode()) is not None


def test_a_log_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_request_logs([tmp_path / "none"])
