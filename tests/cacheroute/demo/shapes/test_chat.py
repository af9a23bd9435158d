"""Chat completions; the expected bytes are those of a captured vLLM 0.32, texts apart."""

import json
from typing import Any

import pytest

from cacheroute.demo import tokens
from cacheroute.demo.refusal import Refusal
from cacheroute.demo.shapes.chat import ChatShape, read_chat
from tests.cacheroute.demo.live import chat_body
from tests.cacheroute.demo.shapes.draw import MODEL, stream, whole

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {"type": "object", "properties": {"city": {"enum": ["Oslo"]}}},
        },
    },
    {"type": "function", "function": {"name": "time"}},
]
HEAD = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1796010190,'
    b'"model":"tiny","choices":['
)


def test_a_stream_has_the_bytes_of_vllm() -> None:
    body = chat_body("hi", max_tokens=2, stream=True, stream_options={"include_usage": True})
    assert stream(read_chat, ChatShape, body) == [
        HEAD + b'{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,'
        b'"finish_reason":null}],"prompt_token_ids":null,"prompt_text":null}\n\n',
        HEAD + b'{"index":0,"delta":{"content":"This"},"logprobs":null,"finish_reason":null,'
        b'"token_ids":null}]}\n\n',
        HEAD + b'{"index":0,"delta":{"content":" is "},"logprobs":null,"finish_reason":"length",'
        b'"stop_reason":null,"token_ids":null}]}\n\n',
        HEAD + b'],"usage":{"prompt_tokens":4,"total_tokens":6,"completion_tokens":2,'
        b'"prompt_tokens_details":{"cached_tokens":0}},'
        b'"system_fingerprint":"vllm-0.32.0-demo"}\n\n',
        b"data: [DONE]\n\n",
    ]


@pytest.mark.parametrize("choice", ["required", {"function": {"name": "weather"}}])
def test_tools_that_are_no_list_are_refused_before_one_is_looked_for(choice: object) -> None:
    with pytest.raises(Refusal, match="Input should be a valid list"):
        read_chat(chat_body("hi", tools=7, tool_choice=choice), MODEL)


def test_without_usage_the_last_chunk_carries_the_fingerprint() -> None:
    events = stream(read_chat, ChatShape, chat_body("hi", max_tokens=2, stream=True))
    assert events[-2].endswith(b'"token_ids":null}],"system_fingerprint":"vllm-0.32.0-demo"}\n\n')
    assert b"usage" not in b"".join(events)


def test_continuous_usage_grows_with_every_chunk() -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}
    body = chat_body("hi", max_tokens=3, stream=True, stream_options=options)
    chunks = [json.loads(event[6:]) for event in stream(read_chat, ChatShape, body)[:-1]]
    assert [chunk["usage"]["completion_tokens"] for chunk in chunks] == [0, 1, 2, 3, 3]


def test_a_whole_answer_has_the_fields_of_vllm_in_their_order() -> None:
    answer = whole(read_chat, ChatShape, chat_body("hi", max_tokens=2))
    assert list(answer) == [
        "id", "object", "created", "model", "choices", "service_tier", "system_fingerprint",
        "usage", "prompt_logprobs", "prompt_token_ids", "prompt_text", "kv_transfer_params",
        "ec_transfer_params", "metrics",
    ]  # fmt: skip
    (choice,) = answer["choices"]
    assert choice["message"] == {
        "role": "assistant", "content": "This is ", "refusal": None, "annotations": None,
        "audio": None, "function_call": None, "reasoning": None,
    }  # fmt: skip
    assert (choice["finish_reason"], choice["stop_reason"]) == ("length", None)


def test_several_choices_differ() -> None:
    answer = whole(read_chat, ChatShape, chat_body("hi", n=3))
    texts = [choice["message"]["content"] for choice in answer["choices"]]
    assert len(set(texts)) == 3
    assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2]


@pytest.mark.parametrize(
    ("choice", "name", "arguments"),
    [
        ("required", "weather", {"city": "Oslo"}),
        ({"type": "function", "function": {"name": "weather"}}, "weather", {"city": "Oslo"}),
        ({"type": "function", "function": {"name": "time"}}, "time", {}),
    ],
)
def test_a_tool_call_that_is_forced_comes(choice: Any, name: str, arguments: object) -> None:
    body = chat_body("hi", tools=TOOLS, tool_choice=choice)
    (answer,) = whole(read_chat, ChatShape, body)["choices"]
    (call,) = answer["message"]["tool_calls"]
    assert answer["finish_reason"] == "tool_calls"
    assert answer["message"]["content"] is None
    assert (call["type"], call["function"]["name"]) == ("function", name)
    assert json.loads(call["function"]["arguments"]) == arguments


def test_a_tool_call_is_streamed_in_pieces_that_join_to_its_arguments() -> None:
    body = chat_body("hi", tools=TOOLS, tool_choice="required", stream=True)
    chunks = [json.loads(event[6:]) for event in stream(read_chat, ChatShape, body)[:-1]]
    calls = [chunk["choices"][0]["delta"]["tool_calls"][0] for chunk in chunks[1:]]
    assert calls[0]["function"]["name"] == "weather"
    assert calls[0]["id"]
    assert all("id" not in call for call in calls[1:])
    joined = "".join(call["function"]["arguments"] for call in calls)
    assert json.loads(joined) == {"city": "Oslo"}


@pytest.mark.parametrize("choice", [None, "auto", "none"])
def test_a_tool_call_that_is_not_forced_does_not_come(choice: Any) -> None:
    body = chat_body("hi", tools=TOOLS, tool_choice=choice)
    (answer,) = whole(read_chat, ChatShape, body)["choices"]
    assert "tool_calls" not in answer["message"]


@pytest.mark.parametrize(
    "wanted",
    [
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"schema": {"const": {"a": 1}}},
            }
        },
        {"structured_outputs": {"json": {"const": {"a": 1}}}},
    ],
)
def test_a_structured_answer_fits_its_schema(wanted: dict[str, Any]) -> None:
    (answer,) = whole(read_chat, ChatShape, chat_body("hi", **wanted))["choices"]
    assert json.loads(answer["message"]["content"]) == {"a": 1}
    assert answer["finish_reason"] == "stop"


def test_any_json_is_an_object() -> None:
    body = chat_body("hi", response_format={"type": "json_object"})
    (answer,) = whole(read_chat, ChatShape, body)["choices"]
    assert json.loads(answer["message"]["content"]) == {}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"model": "tiny"}, "body.messages"),
        ({"messages": "hi"}, "body.messages"),
        ({"messages": []}, "messages"),
        ({"messages": ["hi"]}, "body.messages.0"),
        ({"messages": [{"content": "hi"}]}, "body.messages.0.role"),
        (chat_body("hi", tools="none"), "body.tools"),
        (chat_body("hi", tool_choice="required"), "tools"),
        (chat_body("hi", tools=TOOLS, tool_choice="sometimes"), "tool_choice"),
        (
            chat_body("hi", tools=TOOLS, tool_choice={"function": {"name": "gone"}}),
            "tool_choice",
        ),
    ],
)
def test_what_is_no_chat_is_a_400_that_names_the_field(body: dict[str, Any], param: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_chat(body, MODEL)
    assert (caught.value.status, caught.value.param) == (400, param)


def test_a_prompt_beyond_the_context_is_refused() -> None:
    with pytest.raises(Refusal, match="maximum context length is 8192 tokens"):
        read_chat(chat_body("x" * tokens.TOKEN_BYTES * 8192), MODEL)
