"""The shipped slice has conversations in it, and its prompts keep what they share."""

import pytest

from cacheroute.demo.trace import (
    CHARS_PER_TOKEN,
    Scale,
    TraceRequest,
    block_text,
    parse_trace,
    prompt_text,
    repeated_share_ratio,
    shipped_trace,
)


def a_request(*blocks: int, input_tokens: int | None = None, output: int = 80) -> TraceRequest:
    return TraceRequest(
        arrives_ms=0,
        input_tokens=len(blocks) * 512 if input_tokens is None else input_tokens,
        output_tokens=output,
        blocks=blocks,
    )


def test_the_slice_has_about_three_hundred_requests_in_order_of_arrival() -> None:
    requests = shipped_trace()

    assert len(requests) >= 300
    arrivals = [request.arrives_ms for request in requests]
    assert arrivals == sorted(arrivals)


def test_the_slice_is_made_of_conversations_that_share_deep_prefixes() -> None:
    assert repeated_share_ratio(shipped_trace()) > 0.6


def test_every_prompt_of_the_slice_has_the_blocks_its_length_needs() -> None:
    for request in shipped_trace():
        assert len(request.blocks) == -(-request.input_tokens // 512)


def test_equal_blocks_are_equal_text_and_others_differ_from_their_first_characters() -> None:
    assert block_text(7, 128) == block_text(7, 128)
    assert block_text(7, 128)[:4] != block_text(8, 128)[:4]


@pytest.mark.parametrize("tokens", [16, 128, 512])
def test_a_block_has_four_characters_for_each_of_its_tokens(tokens: int) -> None:
    assert len(block_text(123_456, tokens)) == tokens * CHARS_PER_TOKEN


def test_the_next_turn_of_a_conversation_begins_with_the_text_of_the_one_before() -> None:
    scale = Scale()

    first = prompt_text(a_request(0, 5, 6), scale)
    second = prompt_text(a_request(0, 5, 6, 9), scale)

    assert second.startswith(first)


def test_a_partly_filled_last_block_is_a_shorter_text() -> None:
    scale = Scale(block_tokens=128)

    text = prompt_text(a_request(0, 1, input_tokens=512 + 256), scale)

    assert len(text) == (128 + 64) * CHARS_PER_TOKEN


def test_a_request_never_shrinks_to_nothing_and_answers_are_capped() -> None:
    scale = Scale(block_tokens=1, output_ratio=0.001, output_cap_tokens=10)

    assert scale.prompt_tokens(a_request(0, input_tokens=3)) == 1
    assert scale.answer_tokens(a_request(0, output=1)) == 1
    assert scale.answer_tokens(a_request(0, output=1_000_000)) == 10


def test_a_line_that_is_no_request_is_named_by_its_number() -> None:
    good = '{"timestamp":0,"input_length":1,"output_length":1,"hash_ids":[0]}'

    with pytest.raises(ValueError, match="line 2 is not a trace request"):
        parse_trace([good, '{"timestamp":0}'])


def test_the_repeated_share_counts_prefixes_and_not_blocks_met_elsewhere() -> None:
    assert repeated_share_ratio([]) == 0.0
    assert repeated_share_ratio([a_request(1, 2), a_request(1, 2)]) == 0.5
    assert repeated_share_ratio([a_request(1, 2), a_request(3, 2)]) == 0.0
