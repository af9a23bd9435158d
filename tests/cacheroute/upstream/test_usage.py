"""Usage is read in every API's words, and only where it can be true."""

import json

import pytest

from cacheroute.upstream.usage import Usage, read_usage, usage_in
from tests.cacheroute.upstream.answer_builders import event, read, watched

USAGES = [
    ({"prompt_tokens": 7, "completion_tokens": 3}, Usage(7, 3, None)),
    ({"prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(7, None, 4)),
    (
        {"prompt_tokens": 0, "completion_tokens": 0, "prompt_tokens_details": None},
        Usage(0, 0, None),
    ),
    ({"input_tokens": 7, "output_tokens": 3}, Usage(7, 3, None)),
    ({"input_tokens": 7, "input_tokens_details": {"cached_tokens": 0}}, Usage(7, None, 0)),
    ({"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": 5}, Usage(7, 1, 5)),
    ({"output_tokens": 9}, Usage(None, 9, None)),
    ({"completion_tokens": 5, "prompt_tokens": None}, Usage(None, 5, None)),
]
NO_USAGES: list[object] = [
    None, 7, "x", [], {}, True, {"total_tokens": 4}, {"prompt_tokens": "7"}, {"prompt_tokens": 7.0},
    {"prompt_tokens": True}, {"prompt_tokens": -1},
]  # fmt: skip


@pytest.mark.parametrize(("usage", "told"), USAGES)
def test_usage_is_read_in_the_words_of_each_api(usage: object, told: Usage) -> None:
    assert read_usage(usage) == told
    assert read(json.dumps({"id": "x", "usage": usage}).encode()) == told
    assert watched(event({"choices": [], "usage": usage})).usage == told


@pytest.mark.parametrize("usage", NO_USAGES)
def test_what_is_no_usage_is_not_known(usage: object) -> None:
    assert read_usage(usage) is None
    assert read(json.dumps({"id": "x", "usage": usage}).encode()) is None
    assert watched(event({"choices": [], "usage": usage})).usage is None


@pytest.mark.parametrize("count", [-4, 10**30, True, 1.5, "3"])
@pytest.mark.parametrize("key", ["completion_tokens", "cached_tokens"])
def test_a_count_that_cannot_be_one_is_not_counted(key: str, count: object) -> None:
    """A counter that falls, or outgrows a float, breaks the metrics page for good."""
    usage: dict[str, object] = {"prompt_tokens": 7, "completion_tokens": 3}
    if key == "cached_tokens":
        usage["prompt_tokens_details"] = {key: count}
    else:
        usage[key] = count
    for found in (
        read(json.dumps({"usage": usage}).encode()),
        watched(event({"usage": usage})).usage,
    ):
        assert found is not None
        assert found.prompt_tokens == 7
        assert getattr(found, key) is None


def test_a_prompt_of_more_tokens_than_a_float_holds_is_not_known() -> None:
    body = b'{"usage":{"prompt_tokens":' + b"9" * 400 + b',"completion_tokens":3}}'
    assert read(body) == Usage(None, 3, None)


def test_a_whole_answer_without_usage_has_none() -> None:
    assert usage_in(b'{"id": "x"}') is None
    assert usage_in(b"not JSON") is None
    assert usage_in(b'{"usage": {"prompt_tokens": 1, "completion_tokens": 2}}') == Usage(1, 2, None)


def test_a_usage_of_a_million_empty_lists_is_not_built() -> None:
    """It would take a tenth of a second, in which no stream moves."""
    assert usage_in(b'{"usage":[' + b"[]," * 300_000 + b"1]}") is None
    assert usage_in(b'{"usage":{"prompt_tokens":1,"x":[' + b"[]," * 300_000 + b"1]}}") == Usage(
        1, None, None
    )
