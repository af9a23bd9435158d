"""C079, C080: what a backend accepts is not refused, renamed or tidied on the way."""

import json
from typing import Any

import pytest

from tests.support.backend import scripted
from tests.support.client import post
from tests.support.openai_shapes import CHAT, COMPLETIONS, DONE, MODEL
from tests.support.proxy import running_proxy
from tests.support.script import stream

TOOL_CALLS = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
HISTORIES: dict[str, dict[str, Any]] = {
    "content null": {"content": None},
    "content absent": {},
    "content empty": {"content": ""},
    "a refusal": {"content": None, "refusal": None},
    "content in parts": {"content": [{"type": "text", "text": "x"}]},
    "no parts": {"content": []},
    "reasoning kept": {"content": None, "reasoning_content": "hm"},
}


async def assert_forwarded_as_sent(body: bytes, path: str = CHAT) -> None:
    """The backend gets these very bytes, and its answer comes back, in both modes."""
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, body, path)
        assert got.status == 200, got.body
        assert backend.requests[0].body == body
        backend.reply = stream(DONE)
        got = await post(proxy.service_port, body, path)
        assert got.body == DONE
        assert backend.requests[1].body == body


@pytest.mark.parametrize("assistant", HISTORIES.values(), ids=HISTORIES)
async def test_c079_a_history_with_tool_calls_goes_on_as_sent(assistant: dict[str, Any]) -> None:
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": TOOL_CALLS, **assistant},
        {"role": "tool", "tool_call_id": "c1", "content": "42"},
    ]
    await assert_forwarded_as_sent(json.dumps({"model": MODEL, "messages": messages}).encode())


# That the follow-up turn keeps its affinity joins with prefix routing and sessions.

FIELDS: dict[str, dict[str, Any]] = {
    "a tool without parameters": {"tools": [{"type": "function", "function": {"name": "f"}}]},
    "both token limits": {"max_tokens": 5, "max_completion_tokens": 6},
    "template arguments": {"chat_template_kwargs": {"enable_thinking": False}},
    "a cache salt": {"cache_salt": "s", "priority": -1, "user": "u", "kv_transfer_params": {}},
    "a guided output": {"guided_json": {"type": "object"}, "structured_outputs": {"regex": "a+"}},
    "integer logprobs": {"logprobs": 5},
    "a vendor's object": {"x_vendor": {"deep": [{"a": None}, 1.0, "é"]}},
    "a fraction of n": {"n": 1.5, "seed": 2**63},
}
CHECKED: dict[str, dict[str, Any]] = {
    "a model that is no text": {"model": 5},
    "no model": {"model": None},
    "stream null": {"stream": None},
    "stream as text": {"stream": "yes"},
    "messages null": {"messages": None},
    "messages of another type": {"messages": "x"},
}
"""Model, stream and the message list are the only fields we may have a word on."""


def with_fields(fields: dict[str, Any]) -> bytes:
    """Return a chat request with these fields."""
    messages = [{"role": "user", "content": "x"}]
    return json.dumps({"model": MODEL, "messages": messages, **fields}).encode()


@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
async def test_c080_unknown_and_odd_fields_reach_the_backend(fields: dict[str, Any]) -> None:
    await assert_forwarded_as_sent(with_fields(fields))


@pytest.mark.parametrize("fields", CHECKED.values(), ids=CHECKED)
async def test_c080_what_we_do_check_is_forwarded_as_sent_or_refused_in_words(
    fields: dict[str, Any],
) -> None:
    raw = with_fields(fields)
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, raw)
        if got.status == 200:
            assert backend.requests[0].body == raw
        else:
            assert got.status in (400, 404)
            assert got.error["message"]
            assert not backend.requests


async def test_c080_everything_at_once_and_on_the_completions_path() -> None:
    every = {key: value for fields in FIELDS.values() for key, value in fields.items()}
    await assert_forwarded_as_sent(with_fields(every))
    await assert_forwarded_as_sent(with_fields({**every, "prompt": [[1, 2, 3], [4]]}), COMPLETIONS)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/embeddings", {"model": MODEL, "input": ["a", [1, 2]], "encoding_format": "base64"}),
        ("/v1/rerank", {"model": MODEL, "query": "q", "documents": ["a"]}),
        ("/v1/responses", {"model": MODEL, "input": [{"type": "message"}]}),
        ("/v1/messages", {"model": MODEL, "max_tokens": 1, "messages": []}),
        ("/tokenize", {"model": MODEL, "prompt": "x"}),
        ("/detokenize", {"model": MODEL, "tokens": [1]}),
        ("/v1/score", {"model": MODEL, "text_1": "a", "text_2": ["b"]}),
    ],
)
async def test_c080_other_inference_paths_go_through_as_sent(
    path: str, body: dict[str, Any]
) -> None:
    await assert_forwarded_as_sent(json.dumps(body).encode(), path)


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b'{"model":"m"', b"{'model': 'm'}", b"NaN"],
    ids=repr,
)
async def test_c080_what_is_no_json_object_is_refused_in_words(raw: bytes) -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, raw)
        assert got.status == 400
        assert got.error["type"]
        assert got.error["message"]
        assert not backend.requests
