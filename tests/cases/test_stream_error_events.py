"""C010: an error inside a 200 stream passes as sent and is a failure, or another is asked."""

import pytest

from tests.support.backend import scripted
from tests.support.client import post
from tests.support.openai_shapes import (
    DONE,
    chat,
    chunk_object,
    sse,
    token,
    tokens,
)
from tests.support.proxy import LONG_REST, running_proxy
from tests.support.script import (
    stream,
)

QUEUE_FULL = {"error": {"message": "queue full", "type": "overloaded", "param": None, "code": 429}}
ERROR_EVENTS = {
    "an error object": sse(QUEUE_FULL),
    "CRLF": sse(QUEUE_FULL).replace(b"\n", b"\r\n"),
    "bare CR": sse(QUEUE_FULL).replace(b"\n", b"\r"),
    "no blank after the colon": b"data:" + sse(QUEUE_FULL)[6:],
    "a named event": b"event: error\n" + sse(QUEUE_FULL),
    "an old vLLM": sse({"object": "error", "message": "boom", "type": "X", "code": 500}),
    "error as text": sse({"error": "boom"}),
    "after a blank line": b"\n" + sse(QUEUE_FULL),
    "over two lines": b'data: {"error":\ndata: {"message":"boom"}}\n\n',
    "an Anthropic error": b'event: error\ndata: {"type":"error","error":{"message":"x"}}\n\n',
}
each_error_event = pytest.mark.parametrize("event", ERROR_EVENTS.values(), ids=ERROR_EVENTS)


@each_error_event
async def test_c010_an_error_event_with_nobody_else_to_ask_passes_as_sent(event: bytes) -> None:
    async with scripted(stream(event, DONE)) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.status == 200
        assert answer.body == event + DONE
        assert len(backend.requests) == 1
        assert await proxy.failures() == 1
        await proxy.idle()


@each_error_event
async def test_c010_an_error_as_the_first_event_is_tried_elsewhere(event: bytes) -> None:
    async with (
        scripted(stream(event, DONE)) as bad,
        scripted(stream(token("ok"), DONE)) as good,
        running_proxy(bad.url, good.url) as proxy,
    ):
        for _ in range(2):
            answer = await post(proxy.service_port, chat(stream=True))
            assert answer.body == token("ok") + DONE
            assert answer.header("x-cacheroute-instance") == good.instance_id
        assert 1 <= len(bad.requests) <= 2
        assert len(good.requests) == 2
        await proxy.idle()


async def test_c010_such_errors_are_failures_and_take_the_instance_out() -> None:
    async with (
        scripted(stream(sse({"error": {"message": "boom", "code": 500}}), DONE)) as bad,
        scripted(stream(token("ok"), DONE)) as good,
        running_proxy(bad.url, good.url, pool__ejection__failures=3, **LONG_REST) as proxy,
    ):
        for _ in range(20):
            assert (await post(proxy.service_port, chat(stream=True))).whole
        assert len(bad.requests) == 3
        assert len(good.requests) == 20


async def test_c010_an_error_after_the_first_token_passes_as_sent_and_is_counted() -> None:
    said = [*tokens(2), sse(QUEUE_FULL), DONE]
    async with (
        scripted(stream(*said)) as bad,
        scripted() as other,
        running_proxy(bad.url, other.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body == b"".join(said)
        assert not other.requests
        assert await proxy.failures() == 1
        await proxy.idle()


@pytest.mark.parametrize(
    "event",
    [
        sse(chunk_object({"content": "x"}, error=None)),
        sse(chunk_object({"content": 'an "error": {"message"} in the text'})),
        sse(chunk_object({"content": "x"}, errors=[])),
        sse(chunk_object({"content": "x", "error": "not at the top"})),
        b": error\n\n" + token("x"),
        b"event: errors\n" + token("x"),
    ],
    ids=["null", "in the text", "another key", "nested", "a comment", "another name"],
)
async def test_c010_what_only_mentions_an_error_is_none(event: bytes) -> None:
    async with (
        scripted(stream(event, DONE)) as backend,
        scripted() as other,
        running_proxy(backend.url, other.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body == event + DONE
        assert not other.requests
        assert await proxy.failures() == 0


# That a failed stream pins no prefix and feeds no session joins with pins and sessions.
