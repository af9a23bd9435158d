"""Text completions; the expected bytes are those of a captured vLLM 0.32, texts apart."""

from typing import Any

import pytest

from cacheroute.demo import tokens
from cacheroute.demo.refusal import Refusal
from cacheroute.demo.shapes.completions import CompletionsShape, prompt_streams, read_completions
from tests.cacheroute.demo.shapes.draw import MODEL, stream, whole

HEAD = (
    b'data: {"id":"chatcmpl-1","object":"text_completion","created":1796010190,"model":"tiny",'
    b'"choices":['
)


def test_a_stream_has_the_bytes_of_vllm() -> None:
    body = {
        "prompt": "def f(x):", "max_tokens": 2, "stream": True,
        "stream_options": {"include_usage": True},
    }  # fmt: skip
    assert stream(read_completions, CompletionsShape, body) == [
        HEAD + b'{"index":0,"text":"This","logprobs":null,"finish_reason":null,'
        b'"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}\n\n',
        HEAD + b'{"index":0,"text":" is ","logprobs":null,"finish_reason":"length",'
        b'"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}\n\n',
        HEAD + b'],"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2,'
        b'"prompt_tokens_details":{"cached_tokens":0}},'
        b'"system_fingerprint":"vllm-0.32.0-demo"}\n\n',
        b"data: [DONE]\n\n",
    ]


def test_an_answer_has_sixteen_tokens_unless_it_is_told_otherwise() -> None:
    answer = whole(read_completions, CompletionsShape, {"prompt": "x"})
    assert answer["usage"]["completion_tokens"] == 16
    assert answer["choices"][0]["finish_reason"] == "length"


def test_a_whole_answer_has_the_fields_of_vllm_in_their_order() -> None:
    answer = whole(read_completions, CompletionsShape, {"prompt": "x"})
    assert list(answer) == [
        "id", "object", "created", "model", "choices", "service_tier", "system_fingerprint",
        "usage", "kv_transfer_params", "ec_transfer_params", "metrics",
    ]  # fmt: skip
    assert list(answer["choices"][0]) == [
        "index", "text", "logprobs", "finish_reason", "stop_reason", "token_ids",
        "prompt_logprobs", "prompt_token_ids", "routed_experts",
    ]  # fmt: skip


def test_every_prompt_of_a_list_has_its_choices() -> None:
    body = {"prompt": ["a", "b"], "n": 2, "echo": True, "max_tokens": 1}
    answer = whole(read_completions, CompletionsShape, body)
    assert [choice["text"][0] for choice in answer["choices"]] == ["a", "a", "b", "b"]
    assert answer["usage"]["prompt_tokens"] == 2


@pytest.mark.parametrize(
    ("prompt", "streams"),
    [
        ("abcd", [b"abcd"]),
        (["abcd", "efgh"], [b"abcd", b"efgh"]),
        (tokens.ids(b"abcdefgh"), [b"abcdefgh"]),
        ([tokens.ids(b"abcd"), tokens.ids(b"efgh")], [b"abcd", b"efgh"]),
    ],
)
def test_a_prompt_is_text_or_tokens_or_a_list_of_either(prompt: Any, streams: list[bytes]) -> None:
    assert prompt_streams({"prompt": prompt}, "prompt") == streams


@pytest.mark.parametrize(
    "prompt", [None, "", [], [""], [[]], 5, {"a": 1}, [1.5], ["a", 1], [[-1]], [True], ["x"] * 65]
)
def test_what_is_no_prompt_is_a_400(prompt: Any) -> None:
    with pytest.raises(Refusal) as caught:
        read_completions({"prompt": prompt}, MODEL)
    assert caught.value.status == 400
