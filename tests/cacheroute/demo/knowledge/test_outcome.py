"""What is read out of an answer's stream, wherever the network cuts it."""

import json
from typing import Any

import pytest

from cacheroute.demo.knowledge.outcome import MAX_STREAM_BYTES, AnswerReader, Outcome

ROLE = {"choices": [{"delta": {"role": "assistant", "content": ""}}]}
TEXT = {"choices": [{"delta": {"content": "hi"}}]}
META: dict[str, Any] = {
    "trace": {
        "predict_total_ms": 210,
        "actual_total_ms": 200,
        "kvcache_actual_path": "kv_inject",
        "injection_reason": "kvcache_score_better",
    },
    "kv_ack": {"ok": True, "network_queue_ms": 7},
    "error": None,
}


def an_event(value: object, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def a_stream(*, meta: dict[str, Any] | None = META, text: bool = True, done: bool = True) -> bytes:
    events = [an_event(ROLE)]
    if text:
        events.append(an_event(TEXT))
    if meta is not None:
        events.append(an_event(meta, "cacheroute_meta"))
    if done:
        events.append(b"data: [DONE]\n\n")
    return b"".join(events)


def read(stream: bytes, *, failure: str | None = None) -> Outcome:
    reader = AnswerReader()
    reader.take(stream, 10.5)
    return reader.outcome(number=3, text_tokens=300, sent_s=10.0, failure=failure)


def with_trace(**facts: object) -> dict[str, Any]:
    trace = {**META["trace"], **facts}
    return {**META, "trace": {name: value for name, value in trace.items() if value is not None}}


def test_a_whole_answer_tells_everything() -> None:
    assert read(a_stream()) == Outcome(
        number=3,
        text_tokens=300,
        ttft_ms=500.0,
        predicted_ms=210,
        actual_ms=200,
        path="kv_inject",
        reason="kvcache_score_better",
        link_wait_ms=7.0,
        failure=None,
    )
    assert read(a_stream()).is_kv


@pytest.mark.parametrize("size", [1, 7, 64])
def test_it_is_the_same_in_pieces_and_timed_by_the_first_text(size: int) -> None:
    stream = a_stream()
    reader = AnswerReader()
    seen: list[float] = []
    for at in range(0, len(stream), size):
        reader.take(stream[at : at + size], float(at))
        if reader.first_text_s is not None and not seen:
            seen.append(float(at))

    outcome = reader.outcome(number=3, text_tokens=300, sent_s=0.0)
    assert outcome.failure is None
    assert outcome.ttft_ms == seen[0] * 1000
    assert 0 < seen[0] < len(stream) - size


def test_text_that_was_brought_as_text_has_its_path_too() -> None:
    meta = {**with_trace(kvcache_actual_path=None, text_actual_path="text_inject"), "kv_ack": {}}

    outcome = read(a_stream(meta=meta))

    assert (outcome.path, outcome.link_wait_ms, outcome.failure) == ("text_inject", None, None)
    assert not outcome.is_kv


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        (b"", "the answer held no text"),
        (a_stream(text=False), "the answer held no text"),
        (a_stream(done=False), "the stream ended without [DONE]"),
        (a_stream(meta=None), "the answer had no meta"),
        (a_stream(meta={**META, "error": "prepare_failed: gone"}), "prepare_failed: gone"),
        (
            a_stream(meta=with_trace(kvcache_actual_path="lookup_failed")),
            "answered without its knowledge (lookup_failed)",
        ),
        (
            a_stream(meta=with_trace(kvcache_actual_path=None)),
            "answered without its knowledge (None)",
        ),
        (an_event({"error": {"message": "died"}}), "error event: {'message': 'died'}"),
    ],
)
def test_what_a_user_would_call_a_failure_is_one(stream: bytes, words: str) -> None:
    assert read(stream).failure == words


def test_what_the_connection_says_outranks_what_the_stream_says() -> None:
    assert read(a_stream(), failure="HTTP 503: draining").failure == "HTTP 503: draining"


@pytest.mark.parametrize("meta", [{}, {"trace": None, "kv_ack": []}, {"trace": {"x": 1}}])
def test_a_meta_without_anything_is_a_failure_and_no_crash(meta: dict[str, Any]) -> None:
    outcome = read(a_stream(meta=meta))

    assert outcome.failure is not None
    assert (outcome.predicted_ms, outcome.actual_ms, outcome.path) == (None, None, None)


@pytest.mark.parametrize("data", [b"data: [1]\n\n", b"data: {\n\n", b"data: nan\n\n"])
def test_an_event_that_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        AnswerReader().take(data, 0.0)


def test_an_answer_without_end_is_refused() -> None:
    reader = AnswerReader()
    reader.take(b": " + b"x" * (MAX_STREAM_BYTES - 2), 0.0)

    with pytest.raises(ValueError, match="larger than"):
        reader.take(b"x", 0.0)
