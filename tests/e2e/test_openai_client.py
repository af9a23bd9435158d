"""The official client sees the same Instance, whether it asks it straight or through a Proxy."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from tests.support.client import connected, fetch
from tests.support.demo import demo_instance
from tests.support.openai_shapes import CHAT
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.waiting import eventually_is

QUESTION: Any = [
    {"role": "system", "content": "You are terse."},
    {"role": "user", "content": "What does a proxy do?"},
]
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tell the weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}


@pytest.fixture(scope="module")
def demo() -> Iterator[str]:
    """One demo Instance for all of these tests."""
    with demo_instance() as url:
        yield url


def client_of(base_url: str) -> AsyncOpenAI:
    """Return an official client that does not try again by itself."""
    return AsyncOpenAI(base_url=f"{base_url}/v1", api_key="k", max_retries=0, timeout=20)


@asynccontextmanager
async def both_ways(demo: str) -> AsyncIterator[tuple[AsyncOpenAI, AsyncOpenAI, RunningProxy]]:
    """Yield a client straight to the Instance, one through a Proxy, and the Proxy."""
    async with (
        running_proxy(demo) as proxy,
        client_of(demo) as straight,
        client_of(proxy.service_url) as through,
    ):
        yield straight, through, proxy
        await proxy.idle()


def same(value: Any) -> Any:
    """Return an answer without what the Instance makes anew each time."""
    dumped = value.model_dump()
    for name in ("id", "created"):
        dumped.pop(name, None)
    return dumped


async def read_stream(client: AsyncOpenAI, **fields: Any) -> list[Any]:
    """Ask for a stream and read all of its chunks."""
    asked: dict[str, Any] = {"model": "demo", "messages": QUESTION, "stream": True, **fields}
    return [same(part) async for part in await client.chat.completions.create(**asked)]


def said(chunks: list[Any]) -> str:
    """Return the text of a stream."""
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    return "".join(delta["content"] or "" for delta in deltas)


async def test_the_model_list_names_the_same_models(demo: str) -> None:
    async with both_ways(demo) as (straight, through, _):

        async def listed() -> list[str]:
            return [model.id async for model in through.models.list()]

        names = await eventually_is(listed, bool)
        assert names == [model.id async for model in straight.models.list()] == ["demo"]
        assert (await through.models.retrieve("demo")).id == "demo"


async def test_a_chat_gets_the_same_answer(demo: str) -> None:
    async with both_ways(demo) as (straight, through, _):
        answers = [
            await client.chat.completions.create(model="demo", messages=QUESTION)
            for client in (straight, straight, through)
        ]
        assert answers[2].choices[0].message.content
        # The first one fills the prefix cache, which usage tells; the others find it warm.
        assert same(answers[1]) == same(answers[2])


async def test_a_legacy_completion_gets_the_same_answer(demo: str) -> None:
    async with both_ways(demo) as (straight, through, _):
        answers = [
            await client.completions.create(model="demo", prompt="Once upon", max_tokens=20)
            for client in (straight, straight, through)
        ]
        assert answers[2].choices[0].text
        assert same(answers[1]) == same(answers[2])


async def test_a_stream_says_the_same(demo: str) -> None:
    async with both_ways(demo) as (straight, through, _):
        ours, theirs = await read_stream(through), await read_stream(straight)
        assert said(ours) == said(theirs)
        assert said(ours)
        assert [c["choices"][0]["finish_reason"] for c in ours][-1] == "stop"
        assert all(chunk["usage"] is None for chunk in ours)


async def test_a_stream_ends_with_usage_where_it_is_asked_for(demo: str) -> None:
    async with both_ways(demo) as (straight, through, _):
        options = {"include_usage": True}
        await read_stream(straight, stream_options=options)
        theirs = await read_stream(straight, stream_options=options)
        ours = await read_stream(through, stream_options=options)
        assert ours[-1]["choices"] == []
        assert ours[-1]["usage"] == theirs[-1]["usage"]
        assert ours[-1]["usage"]["completion_tokens"] > 0
        assert [chunk["usage"] for chunk in ours[:-1]] == [None] * (len(ours) - 1)


@pytest.mark.parametrize("streamed", [False, True], ids=["JSON", "stream"])
async def test_tool_calls_come_out_the_same(demo: str, streamed: bool) -> None:
    asked: dict[str, Any] = {"tools": [WEATHER], "tool_choice": "required"}
    async with both_ways(demo) as (straight, through, _):
        calls = []
        for client in (straight, through):
            if streamed:
                chunks = await read_stream(client, **asked)
                parts = [
                    call
                    for chunk in chunks
                    for choice in chunk["choices"]
                    for call in choice["delta"]["tool_calls"] or []
                ]
                name = "".join(part["function"]["name"] or "" for part in parts)
                arguments = "".join(part["function"]["arguments"] or "" for part in parts)
                calls.append((name, arguments))
            else:
                whole = await client.chat.completions.create(
                    model="demo", messages=QUESTION, **asked
                )
                assert whole.choices[0].finish_reason == "tool_calls"
                [call] = whole.choices[0].message.tool_calls or []
                assert call.type == "function"
                calls.append((call.function.name, call.function.arguments))
        assert calls[0] == calls[1]
        assert calls[0][0] == "weather"
        assert "city" in json.loads(calls[0][1])


async def test_a_model_nobody_serves_is_not_found(demo: str) -> None:
    async with both_ways(demo) as (straight, through, _):
        for client in (straight, through):
            with pytest.raises(openai.NotFoundError) as refused:
                await client.chat.completions.create(model="nobody", messages=QUESTION)
            assert "nobody" in refused.value.message
            assert refused.value.status_code == 404


@pytest.mark.parametrize(
    "fields",
    [{"max_tokens": -1}, {"temperature": -3}, {"n": 0}, {"messages": []}, {"top_p": 7}],
    ids=str,
)
@pytest.mark.parametrize("streamed", [False, True], ids=["JSON", "stream"])
async def test_a_bad_request_is_refused_in_the_instances_words(
    demo: str, streamed: bool, fields: dict[str, Any]
) -> None:
    asked: dict[str, Any] = {"model": "demo", "messages": QUESTION, "stream": streamed, **fields}
    async with both_ways(demo) as (straight, through, _):
        refusals = []
        for client in (straight, through):
            with pytest.raises(openai.APIStatusError) as refused:
                await client.chat.completions.create(**asked)
            refusals.append((refused.value.status_code, refused.value.body))
        assert refusals[0] == refusals[1]
        assert 400 <= refusals[0][0] < 500


async def test_without_an_instance_the_client_is_told_so() -> None:
    async with running_proxy() as proxy, client_of(proxy.service_url) as client:
        with pytest.raises(openai.InternalServerError) as refused:
            await client.chat.completions.create(model="demo", messages=QUESTION)
        assert refused.value.status_code == 503
        assert refused.value.code == "no_instance"


async def test_eight_streams_at_once_say_what_they_say_alone(demo: str) -> None:
    async with both_ways(demo) as (straight, through, _):
        questions: list[Any] = [[{"role": "user", "content": f"Number {n}?"}] for n in range(8)]
        alone = [said(await read_stream(straight, messages=each)) for each in questions]
        at_once = await asyncio.gather(*(read_stream(through, messages=each) for each in questions))
        assert [said(chunks) for chunks in at_once] == alone
        assert len(set(alone)) == 8


async def running_at(demo: str) -> float:
    """Return how many requests the Instance says it is working on."""
    host, port = demo.removeprefix("http://").split(":")
    page = (await fetch(int(port), "GET", "/metrics", host=host)).body.decode()
    [value] = re.findall(r"^vllm:num_requests_running\{[^}]*\} (\S+)$", page, re.MULTILINE)
    return float(value)


@pytest.mark.parametrize("leave", ["mid-stream", "before the first token", "JSON"])
async def test_a_client_that_aborts_ends_the_work_at_the_instance(leave: str) -> None:
    # Slow, so that the answer is far from its end when the client leaves, or from its start.
    with demo_instance(speed=0.05 if leave == "before the first token" else 1) as slow:
        async with both_ways(slow) as (_, through, proxy):
            long: Any = [{"role": "user", "content": "word " * 5000}]
            asked: dict[str, Any] = {"model": "demo", "messages": long, "max_tokens": 4000}
            if leave == "mid-stream":
                stream = await through.chat.completions.create(**asked, stream=True)
                async for _part in stream:
                    break
                assert await running_at(slow) == 1
                await stream.close()
            else:
                task = asyncio.ensure_future(
                    through.chat.completions.create(**asked, stream=leave != "JSON")
                )
                await eventually_is(lambda: running_at(slow), lambda count: count == 1)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            await eventually_is(lambda: running_at(slow), lambda count: count == 0, within_s=3)
            await proxy.idle(within_s=3)
            assert await proxy.failures() == 0


RAW: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": (CHAT, {"messages": QUESTION}),
    "chat stream": (CHAT, {"messages": QUESTION, "stream": True}),
    "stream with usage": (
        CHAT,
        {"messages": QUESTION, "stream": True, "stream_options": {"include_usage": True}},
    ),
    "two choices": (CHAT, {"messages": QUESTION, "n": 2, "stream": True}),
    "completion": ("/v1/completions", {"prompt": "Once", "max_tokens": 9}),
    "completion stream": ("/v1/completions", {"prompt": "Once", "max_tokens": 9, "stream": True}),
    "embeddings": ("/v1/embeddings", {"input": ["a", "b"]}),
    "tokenize": ("/tokenize", {"prompt": "one two"}),
    "messages": (
        "/v1/messages",
        {"messages": [{"role": "user", "content": "x"}], "max_tokens": 9, "stream": True},
    ),
    "responses": ("/v1/responses", {"input": "x", "stream": True}),
    "rerank": ("/v1/rerank", {"query": "q", "documents": ["a", "b"]}),
    "an error": (CHAT, {"messages": QUESTION, "max_tokens": -1}),
}
_TIMES = re.compile(rb'"(created|created_at|completed_at)": ?[0-9.]+')


@pytest.mark.parametrize(("path", "fields"), RAW.values(), ids=RAW)
async def test_the_bytes_are_the_instances(demo: str, path: str, fields: dict[str, Any]) -> None:
    body = json.dumps({"model": "demo", **fields}).encode()
    _, port = demo.removeprefix("http://").split(":")
    async with running_proxy(demo) as proxy:
        answers = []
        for at in (int(port), int(port), proxy.service_port):
            async with connected(at) as client:
                client.ask("POST", path, [("X-Request-Id", "same-1")], body)
                answers.append(await client.over())
        _, straight, through = answers
        assert through.status == straight.status
        assert through.header("content-type") == straight.header("content-type")
        assert _TIMES.sub(b"", through.body) == _TIMES.sub(b"", straight.body)
        assert through.whole
