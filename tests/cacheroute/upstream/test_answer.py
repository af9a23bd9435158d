"""Usage, tokens and the course of a stream, beside real captures of vLLM 0.32."""

from typing import Any

import pytest

from cacheroute.upstream.answer import (
    JSON_INSPECTED_BYTES,
    UNWATCHED,
    JsonWatch,
    Watch,
    has_content,
)
from cacheroute.upstream.usage import Usage
from tests.cacheroute.upstream.answer_builders import (
    DEEP,
    captured,
    delta,
    event,
    read,
    watched,
)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("chat", Usage(31, 8, None)),
        ("completions", Usage(5, 6, None)),
        ("messages", Usage(13, 4, 0)),
        ("responses", Usage(13, 4, 0)),
        ("err-bad-temp", None),
    ],
)
def test_real_json_answers_tell_their_usage(name: str, told: Usage | None) -> None:
    body = captured(name)
    assert read(body) == told
    assert read(*(body[n : n + 7] for n in range(0, len(body), 7)), b"") == told


def test_a_json_answer_beyond_the_limit_is_not_kept() -> None:
    watch = JsonWatch()
    piece = b" " * (1 << 20)
    for _ in range(2 + JSON_INSPECTED_BYTES // len(piece)):
        watch.feed(piece)
    watch.feed(b'{"usage":{"prompt_tokens":1}}')
    watch.close()
    assert watch.usage is None
    assert not watch._pieces


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b'"x"', b"{", b"not json", b"\xff\xfe", b'{"usage":"\xff"}',
        b'{"usage":' + DEEP + b"}", b'{"x":' + DEEP + b',"usage":{}}', DEEP,
        b'{"usage":{"prompt_tokens_details":' + DEEP + b"}}",
    ],
    ids=range(12),
)  # fmt: skip
def test_an_answer_that_is_no_answer_has_no_usage_and_raises_nothing(body: bytes) -> None:
    assert read(body) is None


# The stream as a whole


@pytest.mark.parametrize(
    ("name", "events", "usage"),
    [
        ("chat-stream", 8, Usage(19, 5, None)),
        ("chat-stream-continuous", 6, Usage(19, 3, None)),
        ("chat-stream-nousage", 5, None),
        ("completions-stream", 6, Usage(5, 4, None)),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_real_streams_are_read_alike_however_they_are_cut(
    name: str, events: int, usage: Usage | None, size: int
) -> None:
    body = captured(name)
    watch = watched(*(body[n : n + size] for n in range(0, len(body), size)))
    assert (watch.events, watch.done_marks, watch.usage) == (events, 1, usage)
    assert (watch.error, watch.is_open, watch.is_amid_event) == (None, True, False)
    assert watch.first_token_s is not None


def test_the_first_token_of_a_real_chat_is_its_second_event() -> None:
    role, token, *_ = captured("chat-stream").split(b"\n\n")
    watch = watched(role + b"\n\n")
    assert watch.first_token_s is None
    watch.feed(token + b"\n\n")
    assert watch.first_token_s == 1.0


def test_later_tokens_do_not_move_the_first() -> None:
    watch = watched(*(event(delta(content="x")) for _ in range(5)))
    assert watch.first_token_s == 1.0
    assert watch.events == 5


def test_usage_that_grows_ends_at_its_last_value() -> None:
    watch = watched(
        event({**delta(content="a"), "usage": {"prompt_tokens": 9, "completion_tokens": 1}}),
        event({**delta(content="b"), "usage": {"prompt_tokens": 9, "completion_tokens": 2}}),
        event(delta(content="c")),
    )
    assert watch.usage == Usage(9, 2, None)


def test_usage_that_is_null_but_in_the_last_event_is_found_in_any_company() -> None:
    some = event({**delta(content="a"), "usage": None}).replace(b": null", b":null")
    last = event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}})
    apart, together = watched(some, some, some, last), watched(some, some + some + last)
    assert apart.usage == together.usage == Usage(9, 2, None)
    assert apart.events == together.events == 4


def test_a_messages_stream_tells_its_usage_in_two_halves() -> None:
    start = {
        "type": "message_start",
        "message": {"usage": {"input_tokens": 12, "output_tokens": 1}},
    }
    end = {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": {"output_tokens": 9},
    }
    watch = watched(event(start, "message_start"), event(end, "message_delta"))
    assert watch.usage == Usage(12, 9, None)


def test_a_responses_stream_tells_its_usage_at_the_end() -> None:
    usage = {"input_tokens": 12, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 8}}
    end = {"type": "response.completed", "response": {"usage": usage}}
    assert watched(event(end, "response.completed")).usage == Usage(12, 3, 8)


# What counts as a token


@pytest.mark.parametrize(
    "value",
    [
        delta(content="x"),
        delta(role="assistant", content="x"),
        delta(reasoning_content="x"),
        delta(tool_calls=[{"index": 0}]),
        {"choices": [{"index": 0, "text": "x"}]},
        {"choices": [{"delta": {}}, {"delta": {"content": "second choice"}}]},
        {"type": "response.output_text.delta", "delta": "x"},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}},
    ],
)
def test_generated_content_is_a_token(value: dict[str, Any]) -> None:
    assert has_content(value)


@pytest.mark.parametrize(
    "value",
    [
        {},
        delta(role="assistant"),
        delta(role="assistant", content=""),
        delta(content=None, tool_calls=[], function_call={}),
        {"choices": []},
        {"choices": [], "usage": {"prompt_tokens": 3}},
        {"choices": [{"index": 0, "text": ""}]},
        {"choices": [None, 7, {"delta": None}, {"delta": "x"}]},
        {"choices": None},
        {"type": "message_start", "message": {"role": "assistant"}},
        {"type": "ping"},
        {"type": 7},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 0},
        },
    ],
)
def test_a_role_a_usage_or_an_end_alone_is_no_token(value: dict[str, Any]) -> None:
    assert not has_content(value)


def test_text_that_is_no_json_is_a_token_all_the_same() -> None:
    assert watched(b"data: hello\n\n").first_token_s == 1.0
    assert watched(b": ping\n\n").first_token_s is None
    assert watched(b"data: [DONE]\n\n").first_token_s is None


def test_an_answer_that_nobody_looks_into_tells_nothing() -> None:
    for watch in (Watch(), UNWATCHED):
        watch.feed(b'data: {"error":1}\n\n')
        watch.close()
        assert watch.is_open
        assert (watch.error, watch.usage, watch.first_token_s) == (None, None, None)
        assert not watch.is_cut_off
        assert not watch.too_large
