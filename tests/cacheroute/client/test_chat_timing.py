"""One streamed answer, timed by instants that are handed in."""

import json

import pytest

from cacheroute.client import chat_timing
from cacheroute.client.chat_timing import ChatTiming, tpot_ms


def event(**chunk: object) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def text(content: str = "word ", **delta: object) -> bytes:
    return event(choices=[{"delta": {"content": content, **delta}}], usage=None)


def usage(prompt: int = 10, completion: int = 5, **more: object) -> bytes:
    return event(
        choices=[], usage={"prompt_tokens": prompt, "completion_tokens": completion, **more}
    )


def timed(*at_s: float, completion_tokens: int | None = None) -> ChatTiming:
    timing = ChatTiming()
    for instant_s in at_s:
        timing.take(text(), instant_s)
    timing.completion_tokens = len(at_s) if completion_tokens is None else completion_tokens
    return timing


def test_only_events_with_text_are_pieces_of_the_answer() -> None:
    timing = ChatTiming()
    timing.take(text("", role="assistant"), 1.0)
    timing.take(b": still here\n\n" + text("a"), 2.0)
    timing.take(text("b") + usage() + b"data: [DONE]\n\n", 3.0)

    assert timing.text_at_s == [2.0, 3.0]
    assert (timing.prompt_tokens, timing.completion_tokens) == (10, 5)
    assert timing.is_done


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning": "hm"},
        {"reasoning_content": "hm"},
        {"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]},
    ],
)
def test_thinking_and_calling_tools_are_answers_too(delta: dict[str, object]) -> None:
    timing = ChatTiming()
    timing.take(text("", **delta), 1.5)

    assert timing.text_at_s == [1.5]


def test_an_event_counts_when_its_end_has_come() -> None:
    timing = ChatTiming()
    whole = text()
    timing.take(whole[:-1], 1.0)
    timing.take(whole[-1:], 2.0)

    assert timing.text_at_s == [2.0]


def test_the_cache_is_only_told_where_it_is_told() -> None:
    silent, telling = ChatTiming(), ChatTiming()
    silent.take(usage(prompt_tokens_details=None), 1.0)
    telling.take(usage(prompt_tokens_details={"cached_tokens": 16}), 1.0)

    assert silent.cached_tokens is None
    assert telling.cached_tokens == 16


@pytest.mark.parametrize("count", [-1, 1.5, True, "12", None])
def test_a_count_that_is_none_is_not_known(count: object) -> None:
    timing = ChatTiming()
    timing.take(event(usage={"prompt_tokens": count}), 1.0)

    assert timing.prompt_tokens is None


def test_an_error_is_kept_in_its_own_words() -> None:
    timing = ChatTiming()
    timing.take(event(error={"message": "out of memory", "code": 500}), 1.0)

    assert timing.error == "out of memory"


@pytest.mark.parametrize("chunk", [{"choices": 3}, {"choices": [None, {"delta": []}]}, {}])
def test_what_has_another_shape_is_no_text(chunk: dict[str, object]) -> None:
    timing = ChatTiming()
    timing.take(event(**chunk), 1.0)

    assert timing.text_at_s == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"data: {nope\n\n", "an event is no JSON: b'{nope'"),
        (b"data: [1]\n\n", "an event is no JSON object"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "an event is no JSON"),
    ],
)
def test_what_is_no_stream_of_chunks_is_said(data: bytes, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        ChatTiming().take(data, 1.0)

    assert words in str(caught.value)


def test_an_answer_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_timing, "MAX_BYTES", 100)
    timing = ChatTiming()
    timing.take(b": x\n\n" * 20, 1.0)

    with pytest.raises(ValueError, match="larger than 100 bytes"):
        timing.take(b": x\n\n" * 20, 1.0)


def test_time_per_token_is_that_of_the_tokens_after_the_first() -> None:
    timing = timed(1.00, 1.01, 1.02, 1.03, 1.04)

    assert tpot_ms(timing, [timing]) == pytest.approx(10)


def test_an_event_of_two_tokens_is_two_tokens() -> None:
    timing = timed(1.00, 1.02, 1.04, 1.06, completion_tokens=8)

    assert tpot_ms(timing, [timing]) == pytest.approx(10)


def test_only_the_time_in_which_all_were_decoding_counts() -> None:
    early = timed(1.00, 1.05, 1.06, 1.07, 1.08, 1.20)
    late = timed(1.05, 1.06, 1.07, 1.08)

    assert tpot_ms(early, [early, late]) == pytest.approx(10)
    assert tpot_ms(late, [early, late]) == pytest.approx(10)


@pytest.mark.parametrize(
    "timing",
    [
        timed(),
        timed(1.0, 1.1, 1.2),
        timed(1.0, 1.0, 1.0, 1.0),
        timed(1.0, 1.1, 1.2, 1.3, completion_tokens=0),
    ],
)
def test_too_short_an_answer_has_no_pace(timing: ChatTiming) -> None:
    assert tpot_ms(timing, [timing]) is None


def test_without_a_count_there_is_no_pace() -> None:
    timing = timed(1.0, 1.1, 1.2, 1.3)
    timing.completion_tokens = None

    assert tpot_ms(timing, [timing]) is None
