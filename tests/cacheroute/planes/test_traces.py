"""What is told of the last requests: rooms that add up, with predictions beside them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.planes.traces import (
    ROOMS,
    Traced,
    rooms_of_any,
    rooms_of_story,
    trace_page,
    traced_row,
    traces_page,
)
from cacheroute.runtime.request_log import KnowledgeRecord, RequestRecord
from cacheroute.runtime.traces import Traces

CAME_MS = 1_700_000_000_000
WHOLE: dict[str, int | str] = {
    "proxy_recv_ms": CAME_MS,
    "proxy_enqueue_ms": CAME_MS + 1,
    "prepare_queue_enqueue_ms": CAME_MS + 1,
    "prepare_dequeue_ms": CAME_MS + 5,
    "prepare_start_ms": CAME_MS + 5,
    "kdn_fetch_start_ms": CAME_MS + 6,
    "kdn_fetch_end_ms": CAME_MS + 9,
    "ready_enqueue_ms": CAME_MS + 20,
    "forward_start_ms": CAME_MS + 30,
    "first_token_ms": CAME_MS + 130,
    "forward_end_ms": CAME_MS + 400,
    "predict_know_prepare_ms": 18,
    "predict_wait_ms": 8,
    "predict_vllm_internal_ms": 90,
    "predict_decode_ms": 300,
}


def a_record(**changes: Any) -> RequestRecord:
    fields: dict[str, Any] = {
        "at": 1.0, "request_id": "r-1", "endpoint": "chat/completions", "model": "m",
        "stream": True, "caller": "native", "instance": "i-1", "attempts": 1, "status": 200,
        "outcome": "ok", "ttft_ms": 12.5, "e2e_ms": 40.0, "prompt_tokens": 3,
        "completion_tokens": 4, "cached_tokens": None, "bytes_in": 2, "bytes_out": 5,
        "error": None,
    }  # fmt: skip
    return RequestRecord(**{**fields, **changes})


def doors(rooms: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [(room["room"], room["start_ms"], room["end_ms"]) for room in rooms]


def test_a_plain_request_has_the_rooms_that_are_known_of_any() -> None:
    assert doors(rooms_of_any(2.0, 12.5, 40.0)) == [
        ("place", 0.0, 2.0),
        ("prefill", 2.0, 12.5),
        ("decode", 12.5, 40.0),
    ]


def test_an_answer_in_one_piece_has_no_first_token_and_one_that_was_not_sent_no_answer() -> None:
    assert doors(rooms_of_any(2.0, None, 40.0)) == [("place", 0.0, 2.0), ("answer", 2.0, 40.0)]
    assert doors(rooms_of_any(None, None, 7.0)) == [("place", 0.0, 7.0)]


def test_a_story_has_every_room_with_what_was_predicted_of_it() -> None:
    rooms = rooms_of_story(WHOLE, 400.0)

    assert doors(rooms) == [
        ("place", 0, 1),
        ("prepare queue", 1, 5),
        ("prepare", 5, 20),
        ("lookup", 6, 9),
        ("ready queue", 20, 30),
        ("prefill", 30, 130),
        ("decode", 130, 400),
    ]
    predicted = {room["room"]: room["predicted_ms"] for room in rooms}
    assert (predicted["prepare"], predicted["prefill"], predicted["decode"]) == (18, 90, 300)
    assert [room["within"] for room in rooms if room["room"] == "lookup"] == ["prepare"]


def test_the_room_that_a_request_did_not_leave_ends_with_it() -> None:
    waiting = {k: v for k, v in WHOLE.items() if k in ("proxy_recv_ms", "proxy_enqueue_ms",
                                                       "prepare_queue_enqueue_ms")}  # fmt: skip
    sent = {k: v for k, v in WHOLE.items() if k not in ("first_token_ms", "forward_end_ms")}

    assert doors(rooms_of_story(waiting, 70.0))[-1] == ("prepare queue", 1, 70.0)
    assert doors(rooms_of_story(sent, 70.0))[-1] == ("answer", 30, 70.0)
    assert rooms_of_story({}, 70.0) == []


@given(
    st.dictionaries(
        st.sampled_from([each for room in ROOMS for each in (room.begin, room.end)]),
        st.integers(CAME_MS, CAME_MS + 1_000) | st.text(max_size=3),
    )
)
def test_whatever_a_story_holds_no_room_ends_before_it_begins(marks: dict[str, int | str]) -> None:
    for room in rooms_of_story(marks, 500.0):
        assert float(str(room["end_ms"])) >= float(str(room["start_ms"]))


def test_a_row_has_predicted_and_actual_side_by_side() -> None:
    knowledge = KnowledgeRecord(
        path="kv_inject", predicted_ttft_ms=100.0, ttft_ms=125.0, service_ms=None,
        predicted_service_ms=None, residual_tokens=None, reused_tokens=None, alone=True,
    )  # fmt: skip
    row = traced_row(Traced(7, a_record(knowledge=knowledge), 0.03, WHOLE))

    assert (row["path"], row["predicted_ttft_ms"], row["actual_ttft_ms"]) == (
        "kv_inject", 100.0, 125.0,
    )  # fmt: skip
    assert row["predict_error_ratio"] == pytest.approx(0.2)
    assert (row["seq"], row["sent_ms"], row["has_story"]) == (7, 30.0, True)


def test_a_page_says_how_many_of_those_since_are_not_on_it() -> None:
    traces = Traces()
    for number in range(10):
        traces.add(a_record(request_id=f"r-{number}"), 0.001)

    page: Any = traces_page(traces, last=3, since=4)

    assert [row["seq"] for row in page["traces"]] == [10, 9, 8]
    assert (page["total"], page["missed"]) == (10, 3)
    # A number that lies ahead is of a Proxy that has started anew.
    assert len(traces_page(traces, last=50, since=99)["traces"]) == 10  # type: ignore[arg-type]


def test_one_request_is_told_with_its_story_and_its_decisions() -> None:
    traces = Traces()
    traces.add(a_record(), 0.001)

    page: Any = trace_page(traces, "r-1", [{"reason": "So."}])

    assert page["traces"][0]["marks"] is None
    assert page["traces"][0]["decisions"] == [{"reason": "So."}]
    assert trace_page(traces, "r-2", []) is None
