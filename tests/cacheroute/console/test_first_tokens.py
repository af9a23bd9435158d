"""How long first tokens take at each Instance, kept from look to look."""

from dataclasses import replace
from datetime import UTC, datetime

from cacheroute.console.first_tokens import (
    KEPT_REQUESTS,
    WINDOW_S,
    FirstToken,
    FirstTokens,
    first_tokens_of,
)
from cacheroute.console.rows.traces import TraceRow
from tests.tui.screens.requests import request

NOW_S = 1_764_512_581.0


def a_request(seq: int, instance_id: str | None = "i-1", **changes: object) -> TraceRow:
    ago_s = changes.pop("ago_s", 1.0)
    assert isinstance(ago_s, float)
    at = datetime.fromtimestamp(NOW_S - ago_s, UTC)
    return replace(request(seq, f"r-{seq}"), instance_id=instance_id, at=at, **changes)  # type: ignore[arg-type]


def some(count: int, *, first: int = 1, **changes: object) -> list[TraceRow]:
    return [
        a_request(seq, **{"ttft_ms": float(seq), **changes})  # type: ignore[arg-type]
        for seq in range(first, first + count)
    ]


def test_nobody_has_told_anything_yet() -> None:
    assert FirstTokens().told == {}
    assert first_tokens_of([], now_s=NOW_S) == {}


def test_a_percentile_comes_with_the_number_of_its_requests() -> None:
    told = first_tokens_of([*some(20), *some(1, first=30, instance_id="i-2")], now_s=NOW_S)

    assert told == {
        "i-1": FirstToken(p95_ms=19.0, requests=20),
        "i-2": FirstToken(p95_ms=30.0, requests=1),
    }


def test_what_was_heard_before_counts_once() -> None:
    heard = FirstTokens()
    heard.hear(some(10), now_s=NOW_S)
    heard.hear(some(15), now_s=NOW_S)

    assert heard.told["i-1"].requests == 15


def test_what_was_told_is_not_changed_by_what_is_heard_later() -> None:
    heard = FirstTokens()
    heard.hear(some(10), now_s=NOW_S)
    before = heard.told
    heard.hear(some(15), now_s=NOW_S)

    assert before["i-1"].requests == 10


def test_a_request_that_failed_or_had_no_token_or_no_instance_tells_nothing() -> None:
    rows = [
        a_request(1, outcome="timeout"),
        a_request(2, ttft_ms=None),
        a_request(3, instance_id=None),
        a_request(4, ago_s=WINDOW_S + 1),
        replace(a_request(5), at=None),
    ]

    assert first_tokens_of(rows, now_s=NOW_S) == {}


def test_the_newest_requests_of_each_count_and_old_ones_are_dropped() -> None:
    heard = FirstTokens()
    heard.hear(some(KEPT_REQUESTS + 10), now_s=NOW_S)
    assert heard.told["i-1"].requests == KEPT_REQUESTS
    assert heard.told["i-1"].p95_ms > KEPT_REQUESTS * 0.95

    heard.hear([], now_s=NOW_S + WINDOW_S)
    assert heard.told == {}


def test_a_proxy_that_starts_anew_or_a_recording_wound_back_begins_anew() -> None:
    heard = FirstTokens()
    heard.hear(some(10, first=500), now_s=NOW_S)
    heard.hear(some(3), now_s=NOW_S)

    assert heard.told["i-1"].requests == 3


def test_a_recording_wound_back_to_before_its_first_request_has_told_nothing() -> None:
    heard = FirstTokens()
    heard.hear(some(20), now_s=NOW_S)
    heard.hear([], now_s=NOW_S - 5.0)
    assert heard.told["i-1"].requests == 20, "a clock that was set is no recording"

    heard.hear([], now_s=NOW_S - 300.0)
    assert heard.told == {}


def test_requests_of_the_future_of_a_recording_are_not_heard() -> None:
    told = first_tokens_of([a_request(1), a_request(2, ago_s=-900.0)], now_s=NOW_S)

    assert told["i-1"].requests == 1
