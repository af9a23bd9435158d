"""C010, C011: a stream that fails says so; nothing is dressed as a success."""

import pytest

from tests.support.backend import scripted
from tests.support.client import Answer, connected, post
from tests.support.openai_shapes import (
    CHAT,
    DONE,
    chat,
    chunk_object,
    completion,
    sse,
    token,
    tokens,
)
from tests.support.proxy import LONG_REST, running_proxy
from tests.support.script import (
    END,
    JSON,
    SSE,
    Close,
    Freeze,
    Gate,
    Pause,
    Reset,
    Script,
    Step,
    Write,
    chunk,
    head,
    stream,
    stream_head,
)
from tests.support.sse import error_of, events

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

DEATHS: dict[str, tuple[Step, ...]] = {
    "reset": (Pause(0.05), Reset()),
    "closed": (Close(),),
    "garbage for a chunk size": (Write(b"garbage\r\n"), Freeze()),
    "cut inside a chunk": (Write(b"40\r\ndata: "), Close()),
}
each_death = pytest.mark.parametrize("death", DEATHS.values(), ids=DEATHS)


def assert_told(answer: Answer, said: bytes) -> None:
    """The client got what was said, then an error event, then a cut connection."""
    assert answer.status == 200
    assert answer.body.startswith(said)
    error = error_of(answer.events[-1])
    assert error is not None, answer.body
    assert error["message"]
    assert {"message", "type", "param", "code"} <= error.keys()
    assert b"[DONE]" not in answer.body
    assert answer.cut


@each_death
async def test_c011_an_upstream_lost_mid_stream_is_told(death: Script) -> None:
    said = tokens(3)
    async with (
        scripted((stream_head(), *map(chunk, said), *death)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert_told(answer, b"".join(said))
        assert [event.json() for event in answer.events[:3]] == [
            event.json() for event in events(b"".join(said))
        ]
        assert await proxy.failures() == 1
        await proxy.idle()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("kept", [1, 6, 20, -3, -2, -1], ids=str)
async def test_c011_an_error_event_never_hides_in_half_an_event(kept: int, end: bytes) -> None:
    whole, half = (event.replace(b"\n", end) for event in (token("a"), token("b")))
    said = whole + half[:kept]
    async with (
        scripted(
            (stream_head(), chunk(whole), chunk(half[:kept]), Pause(0.05), Reset())
        ) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert_told(answer, said)


async def test_c011_a_stream_with_a_length_that_falls_short_is_told() -> None:
    said = b"".join(tokens(3))
    lines = [("Content-Type", SSE), ("Content-Length", str(len(said) + 100))]
    async with (
        scripted((Write(head(200, lines)), Write(said), Close())) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body.startswith(said)
        assert answer.cut
        assert b"[DONE]" not in answer.body
        await proxy.idle()


async def test_c011_a_stream_ended_by_closing_and_reset_is_told() -> None:
    said = b"".join(tokens(3))
    lines = [("Content-Type", SSE), ("Connection", "close")]
    async with (
        scripted((Write(head(200, lines)), Write(said), Pause(0.05), Reset())) as backend,
        running_proxy(backend.url) as proxy,
    ):
        assert_told(await post(proxy.service_port, chat(stream=True)), said)
        await proxy.idle()


async def test_c011_an_end_without_done_gets_no_done_from_us() -> None:
    said = b"".join(tokens(3))
    async with (
        scripted((stream_head(), chunk(said), END)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body.startswith(said)
        assert b"[DONE]" not in answer.body
        await proxy.idle()


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("death", [(Close(),), (Pause(0.05), Reset())], ids=["closed", "reset"])
async def test_c011_json_cut_midway_is_no_whole_answer(framing: str, death: Script) -> None:
    half = b'{"id": "chatcmpl-1", "choices": ['
    if framing == "length":
        lines = [("Content-Type", JSON), ("Content-Length", "500")]
        begin: Script = (Write(head(200, lines) + half),)
    else:
        begin = (stream_head(content_type=JSON), chunk(half))
    async with (
        scripted((*begin, *death)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat())
        told = answer.cut or answer.status == 502
        assert told, (answer.status, answer.body)
        assert await proxy.failures() == 1
        await proxy.idle()


async def test_c011_silence_in_the_middle_is_told_with_the_limit_that_fired() -> None:
    said = tokens(3)
    async with (
        scripted((stream_head(), *map(chunk, said), Freeze())) as backend,
        running_proxy(backend.url, timeouts__between_bytes_s=0.3) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert_told(answer, b"".join(said))
        assert "between_bytes" in answer.body.decode()
        await backend.requests[0].gone.wait()
        await proxy.idle()


async def test_c011_a_client_with_a_kept_connection_sees_the_cut_too() -> None:
    gate = Gate()
    async with (
        scripted() as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.ask("POST", CHAT, body=chat())
        assert (await client.over()).json() == completion()
        backend.reply = (stream_head(), chunk(token("a")), gate, Reset())
        client.ask("POST", CHAT, body=chat(stream=True))
        await client.body_of(len(token("a")))
        gate.open()
        assert_told(await client.disconnected(), token("a"))
