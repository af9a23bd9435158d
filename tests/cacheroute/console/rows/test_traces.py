"""The last requests as rows."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from cacheroute.console.rows.traces import TRACES, TraceRow, slower_than, trace_rows
from cacheroute.wire.traces import TracesReply

ROOMS = [
    {"room": "place", "start_ms": 0, "end_ms": 1},
    {"room": "prepare", "start_ms": 1, "end_ms": 20},
    {"room": "lookup", "start_ms": 2, "end_ms": 9, "within": "prepare"},
    {"room": "prefill", "start_ms": 20, "end_ms": 120, "predicted_ms": 90},
    {"room": "decode", "start_ms": 120, "end_ms": 400},
]


def a_trace(**changes: Any) -> TraceRow:
    one = {
        "seq": 1, "at": 0.5, "request_id": "r-1", "endpoint": "chat/completions", "model": "m",
        "stream": True, "caller": "scheduler", "instance_id": "i-1", "attempts": 1, "status": 200,
        "outcome": "ok", "sent_ms": 20.0, "ttft_ms": 120.0, "e2e_ms": 400.0, "prompt_tokens": 10,
        "completion_tokens": 40, "path": "kv_inject", "predicted_ttft_ms": 108.0,
        "actual_ttft_ms": 120.0, "predict_error_ratio": 0.1, "has_story": True, "rooms": ROOMS,
        "decisions": [
            {"seq": 1, "at": 0.5, "request_id": "r-1", "strategy": "least_load", "endpoint": "e",
             "reason": "It was due."}
        ],
        **changes,
    }  # fmt: skip
    [row] = trace_rows(msgspec.convert({"ok": True, "traces": [one]}, TracesReply))
    return row


def texts(row: TraceRow) -> dict[str, str]:
    return {column.key: column.text(row) for column in TRACES.columns}


def test_a_request_has_its_moment_its_rooms_and_its_decisions() -> None:
    row = a_trace()

    assert row.at == datetime(1970, 1, 1, 0, 0, 0, 500_000, UTC)
    assert [(span.room, span.took_ms) for span in row.spans][:2] == [("place", 1), ("prepare", 19)]
    assert row.spans[2].within == "prepare"
    assert [decision.reason for decision in row.decisions] == ["It was due."]
    assert texts(row)["predict_error_ratio"] == "10.0%"


def test_what_is_not_known_of_a_request_is_a_dash() -> None:
    row = a_trace(ttft_ms=None, predicted_ttft_ms=None, predict_error_ratio=None, status=None)

    said = texts(row)
    assert {said[key] for key in ("ttft_ms", "predicted_ttft_ms", "status", "error")} == {"—"}


def test_a_failure_stands_out_and_a_client_that_left_a_little() -> None:
    tone = TRACES.column("outcome").tone
    assert tone is not None

    assert [tone(a_trace(outcome=word)) for word in ("ok", "client_gone", "queue_full")] == [
        "plain", "warn", "bad",
    ]  # fmt: skip


def test_slow_ones_can_be_picked_out() -> None:
    rows = [a_trace(e2e_ms=ms) for ms in (100.0, 2_000.0, 2_001.0)]

    assert [row.e2e_ms for row in slower_than(rows, 2.0)] == [2_001.0]
