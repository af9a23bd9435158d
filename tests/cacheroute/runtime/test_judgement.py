"""The table of what an answer means, row by row."""

import json
from dataclasses import replace

import pytest

from cacheroute.runtime.judgement import OK, Verdict, judge
from cacheroute.upstream.answer import Watch
from tests.cacheroute.runtime.runtime_parts import a_json_watch, a_stream_watch, an_exchange

BUSY = Verdict("upstream_busy", try_another=True, is_pressure=True)
FAULT = Verdict("upstream_status", try_another=True, is_fault=True)
CALLER = Verdict("client_error")
TOKEN = b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'
NOW_S = 784_111_777.0


def judged(
    status: int = 200, watch: Watch | None = None, retry_after: bytes | None = None
) -> Verdict:
    fields = {} if retry_after is None else {b"retry-after": retry_after}
    return judge(an_exchange(watch, status=status, fields=fields), lambda: NOW_S)


def error_event(code: object) -> bytes:
    return b"data: " + json.dumps({"error": {"message": "boom", "code": code}}).encode() + b"\n\n"


@pytest.mark.parametrize("status", [200, 201, 204, 206, 299, 301, 304, 307])
def test_success_and_redirects_are_good(status: int) -> None:
    assert judged(status) is OK


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415, 418, 422, 451])
def test_a_mistake_of_the_caller_says_nothing_of_the_instance(status: int) -> None:
    assert judged(status) == CALLER


@pytest.mark.parametrize("status", [408, 500, 501, 502, 504, 507, 520, 529, 599])
def test_a_failure_counts_and_another_is_asked(status: int) -> None:
    assert judged(status) == FAULT


@pytest.mark.parametrize("status", [429, 503])
def test_pressure_is_no_fault_and_another_is_asked(status: int) -> None:
    assert judged(status) == BUSY


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("hint", "wait_s"),
    [
        (b"7", 7.0), (b"0", 0.0), (b"soon", None), (b"-1", None), (b"", None),
        (b"Sun, 06 Nov 1994 08:49:47 GMT", 10.0), (b"Sun, 06 Nov 1994 08:49:00 GMT", 0.0),
    ],
)  # fmt: skip
def test_how_long_it_wants_to_be_left_alone_is_read(
    status: int, hint: bytes, wait_s: float | None
) -> None:
    assert judged(status, retry_after=hint) == replace(BUSY, wait_s=wait_s)


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_hint_on_another_status_is_none(status: int) -> None:
    assert judged(status, retry_after=b"7").wait_s is None


@pytest.mark.parametrize(
    ("code", "like"),
    [(503, BUSY), (429, BUSY), (500, FAULT), (None, FAULT), ("overloaded", FAULT), (408, FAULT),
     (400, CALLER), (404, CALLER)],
)  # fmt: skip
def test_an_error_as_the_first_event_is_judged_by_the_status_in_it(
    code: object, like: Verdict
) -> None:
    verdict = judged(watch=a_stream_watch(error_event(code), b"data: [DONE]\n\n"))
    assert verdict.outcome == "error_event"
    assert verdict.try_another == like.try_another
    assert verdict.is_fault == like.is_fault
    assert verdict.is_pressure == like.is_pressure


@pytest.mark.parametrize(
    ("code", "is_fault"), [(500, True), (None, True), (503, False), (400, False)]
)
def test_an_error_after_a_token_is_not_tried_elsewhere(code: object, is_fault: bool) -> None:
    verdict = judged(watch=a_stream_watch(TOKEN, error_event(code)))
    assert verdict == Verdict("error_event", is_fault=is_fault)


def test_a_stream_that_went_well_is_good() -> None:
    assert judged(watch=a_stream_watch(TOKEN, b"data: [DONE]\n\n")) is OK


def test_a_json_answer_that_speaks_of_errors_is_good() -> None:
    assert judged(watch=a_json_watch(b'{"error":"boom"}')) is OK


def test_the_clock_is_asked_only_where_a_hint_has_to_be_read() -> None:
    asked: list[float] = []

    def wall_s() -> float:
        asked.append(NOW_S)
        return NOW_S

    for status in (200, 400, 500, 503):
        judge(an_exchange(status=status), wall_s)
    assert not asked
