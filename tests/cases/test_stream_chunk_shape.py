"""C013, C014: chunks of odd shapes pass unchanged, and nobody is sent usage unasked."""

from typing import Any

import pytest
from openai import AsyncOpenAI

from tests.support.backend import scripted
from tests.support.client import post
from tests.support.openai_shapes import (
    DONE,
    STOP,
    USAGE,
    chat,
    chunk_object,
    completion,
    sse,
    token,
)
from tests.support.proxy import running_proxy
from tests.support.received import Received
from tests.support.script import Script, json_answer, stream

NO_CHOICES = {key: value for key, value in chunk_object({}).items() if key != "choices"}
SHAPES = {
    "usage alone": [token("a"), STOP, sse({**NO_CHOICES, "choices": [], "usage": USAGE})],
    "no choices key": [token("a"), STOP, sse({**NO_CHOICES, "usage": USAGE})],
    "usage on the last content": [sse(chunk_object({"content": "a"}, usage=USAGE))],
    "usage null on each": [sse(chunk_object({"content": "a"}, usage=None)), STOP],
    "choices null": [sse({**NO_CHOICES, "choices": None, "usage": USAGE})],
    "delta null": [sse({**NO_CHOICES, "choices": [{"index": 0, "delta": None}]})],
    "no delta": [sse({**NO_CHOICES, "choices": [{"index": 0}]})],
    "two choices": [
        sse({**NO_CHOICES, "choices": [{"index": n, "delta": {"content": str(n)}} for n in (1, 0)]})
    ],
    "content filter first": [
        sse({**NO_CHOICES, "choices": [], "prompt_filter_results": [{"prompt_index": 0}]})
    ],
    "not an object": [b"data: 1\n\n", b"data: []\n\n", b"data: null\n\n", b'data: "x"\n\n'],
    "not JSON": [b"data: oops\n\n", b"data:\n\n", b"data: {\n\n"],
    "usage as text": [sse({**NO_CHOICES, "choices": [], "usage": "many"})],
    "usage absurd": [sse({**NO_CHOICES, "choices": [], "usage": {"prompt_tokens": -1e300}})],
    "usage deep": [sse({**NO_CHOICES, "usage": {"a": {"b": [{"c": None}] * 50}}})],
}


@pytest.mark.parametrize("said", SHAPES.values(), ids=SHAPES)
async def test_c013_every_shape_of_chunk_passes_unchanged(said: list[bytes]) -> None:
    async with scripted(stream(*said, DONE)) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.whole
        assert answer.body == b"".join(said) + DONE
        assert await proxy.failures() == 0
        await proxy.idle()


@pytest.mark.parametrize("name", ["usage alone", "usage on the last content", "two choices"])
async def test_c013_the_official_client_reads_them(name: str) -> None:
    async with (
        scripted(stream(*SHAPES[name], DONE)) as backend,
        running_proxy(backend.url) as proxy,
        AsyncOpenAI(base_url=f"{proxy.service_url}/v1", api_key="k", max_retries=0) as client,
    ):
        chunks = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "x"}], stream=True
        )
        assert len([part async for part in chunks]) == len(SHAPES[name])


def usage_when_asked(received: Received) -> Script:
    """Answer as an engine does: a usage chunk only for who asks for it."""
    asked = received.json()
    if not asked["stream"]:
        return json_answer(completion())
    options = asked.get("stream_options") or {}
    usage = [sse({**NO_CHOICES, "choices": [], "usage": USAGE})]
    return stream(token("a"), STOP, *(usage if options.get("include_usage") else []), DONE)


@pytest.mark.parametrize(
    ("options", "usage_chunks"),
    [
        ({}, 0),
        ({"stream_options": None}, 0),
        ({"stream_options": {}}, 0),
        ({"stream_options": {"include_usage": False}}, 0),
        ({"stream_options": {"include_usage": True}}, 1),
        ({"stream_options": {"include_usage": True, "continuous_usage_stats": False, "x": 1}}, 1),
        ({"stream_options": {"chunk_size": 3}}, 0),
    ],
    ids=str,
)
async def test_c014_usage_comes_to_those_who_ask(
    options: dict[str, Any], usage_chunks: int
) -> None:
    body = chat(stream=True, **options)
    async with scripted(usage_when_asked) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, body)
        assert answer.body.count(b'"usage"') == usage_chunks
        assert answer.events[-1].data == b"[DONE]"
        sent = backend.requests[0].json()
        assert sent.get("stream_options") == options.get("stream_options")


@pytest.mark.parametrize("name", ["usage alone", "no choices key", "usage on the last content"])
async def test_c013_usage_is_recorded_exactly_once(name: str) -> None:
    async with (
        scripted(stream(*SHAPES[name], DONE)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        await post(proxy.service_port, chat(stream=True))
        counted = await proxy.samples("tokens", "kind")
        assert (counted["prompt"], counted["completion"]) == (7, 3)


async def test_c013_usage_that_grows_chunk_by_chunk_is_recorded_as_its_last_value() -> None:
    said = [
        sse(chunk_object({"content": "a"}, usage={"prompt_tokens": 7, "completion_tokens": n}))
        for n in (1, 2, 3)
    ]
    async with scripted(stream(*said, DONE)) as backend, running_proxy(backend.url) as proxy:
        await post(proxy.service_port, chat(stream=True))
        counted = await proxy.samples("tokens", "kind")
        assert (counted["prompt"], counted["completion"]) == (7, 3)


async def test_c013_usage_of_plain_answers_is_recorded_as_well() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        for _ in range(2):
            await post(proxy.service_port, chat())
        counted = await proxy.samples("tokens", "kind")
        assert (counted["prompt"], counted["completion"]) == (14, 6)


# That usage is stripped where only we asked for it joins with cost tracking.
