"""C016, C017: deltas keep every field, index and order, tool calls and reasoning included."""

import json
from typing import Any

import pytest
from openai import AsyncOpenAI

from tests.support.backend import scripted
from tests.support.client import post
from tests.support.openai_shapes import DONE, STOP, chat, chunk_object, completion, sse
from tests.support.proxy import running_proxy
from tests.support.script import json_answer, stream


def call(index: int, arguments: str, **first: object) -> dict[str, Any]:
    """Return a fragment of one tool call; its first one has id and name."""
    function = {"arguments": arguments}
    if "name" in first:
        function["name"] = str(first.pop("name"))
    return {"index": index, **first, "function": function}


def calls(*fragments: dict[str, Any]) -> bytes:
    """Return the event of one delta with these fragments."""
    return sse(chunk_object({"tool_calls": list(fragments)}))


INTERLEAVED = [
    sse(chunk_object({"role": "assistant", "content": None})),
    calls(call(0, "", id="call_a", type="function", name="weather")),
    calls(call(1, "", id="call_b", type="function", name="time")),
    calls(call(0, '{"city"')),
    calls(call(1, '{"zone":')),
    calls(call(1, '"CET"}'), call(0, ': "Z\\u00fcrich, [0]"')),
    calls(call(0, "}")),
    STOP,
]


async def test_c016_interleaved_tool_calls_arrive_as_sent() -> None:
    async with (
        scripted(stream(*INTERLEAVED, DONE)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body == b"".join(INTERLEAVED) + DONE


async def test_c016_the_official_client_rebuilds_two_calls() -> None:
    built: dict[int, dict[str, str]] = {}
    async with (
        scripted(stream(*INTERLEAVED, DONE)) as backend,
        running_proxy(backend.url) as proxy,
        AsyncOpenAI(base_url=f"{proxy.service_url}/v1", api_key="k", max_retries=0) as client,
    ):
        chunks = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "x"}], stream=True
        )
        async for part in chunks:
            for fragment in part.choices[0].delta.tool_calls or []:
                mine = built.setdefault(fragment.index, {"id": "", "name": "", "arguments": ""})
                assert fragment.function is not None
                mine["id"] += fragment.id or ""
                mine["name"] += fragment.function.name or ""
                mine["arguments"] += fragment.function.arguments or ""
    assert [(mine["id"], mine["name"]) for _, mine in sorted(built.items())] == [
        ("call_a", "weather"),
        ("call_b", "time"),
    ]
    assert [json.loads(built[n]["arguments"]) for n in (0, 1)] == [
        {"city": "Zürich, [0]"},
        {"zone": "CET"},
    ]


# That our own recorder rebuilds the calls joins with sessions.

DELTAS: dict[str, dict[str, Any]] = {
    "reasoning_content": {"content": "", "reasoning_content": "think"},
    "reasoning": {"content": None, "reasoning": "think", "reasoning_details": [{"id": 1}]},
    "vendor only": {"x_vendor": {"deep": [1, {"a": None}]}},
    "empty": {},
    "refusal": {"refusal": "no"},
    "audio": {"audio": {"id": "a", "data": "AAAA"}},
    "annotations": {"content": "x", "annotations": [{"type": "url_citation"}]},
    "function_call": {"function_call": {"name": "f", "arguments": "{"}},
}
TOP: dict[str, Any] = {"system_fingerprint": "fp", "x_top": {"k": 1}, "service_tier": None}


async def test_c017_unknown_fields_survive_in_streams() -> None:
    said = [sse(chunk_object(delta, **TOP)) for delta in DELTAS.values()]
    async with scripted(stream(*said, DONE)) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, chat(stream=True))
        got = [event.json() for event in answer.events[:-1]]
        assert got == [chunk_object(delta, **TOP) for delta in DELTAS.values()]
        assert answer.body == b"".join(said) + DONE


@pytest.mark.parametrize("message", DELTAS.values(), ids=DELTAS)
async def test_c017_unknown_fields_survive_in_plain_answers(message: dict[str, Any]) -> None:
    whole = {**completion("x"), **TOP}
    whole["choices"][0]["message"] |= message
    async with scripted(json_answer(whole)) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, chat())
        assert answer.json() == whole
        assert answer.body == json.dumps(whole).encode()
