"""C011: a stream that is cut off says so; nothing is dressed as a success."""

import pytest

from tests.support.backend import scripted
from tests.support.client import Answer, connected, post
from tests.support.openai_shapes import (
    CHAT,
    DONE,
    chat,
    completion,
    token,
    tokens,
)
from tests.support.proxy import running_proxy
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


async def test_c011_a_stream_ended_by_closing_inside_an_event_is_told() -> None:
    lines = [("Content-Type", SSE), ("Connection", "close")]
    said = token("a") + b'data: {"choices": [{"delta": {"con'
    async with (
        scripted((Write(head(200, lines)), Write(said), Close())) as backend,
        running_proxy(backend.url) as proxy,
    ):
        assert_told(await post(proxy.service_port, chat(stream=True)), said)
        await proxy.idle()


@pytest.mark.parametrize("last", [b"data: [DONE]", b"data: [DONE]\n", b"data: [DONE]\r\n"])
async def test_c011_a_last_line_that_is_not_quite_ended_is_no_loss(last: bytes) -> None:
    lines = [("Content-Type", SSE), ("Connection", "close")]
    for script in (
        (Write(head(200, lines)), Write(token("a") + last), Close()),
        stream(token("a"), last),
    ):
        async with scripted(script) as backend, running_proxy(backend.url) as proxy:
            answer = await post(proxy.service_port, chat(stream=True))
            assert answer.whole
            assert answer.body == token("a") + last
            assert await proxy.failures() == 0


@pytest.mark.parametrize(
    "after", [(Pause(0.05), Reset()), (Close(),), (Freeze(),)], ids=["reset", "closed", "frozen"]
)
async def test_c011_what_happens_after_done_spoils_nothing(after: Script) -> None:
    said = [*tokens(3), DONE]
    async with (
        scripted((stream_head(), *map(chunk, said), *after)) as backend,
        running_proxy(backend.url, timeouts__between_bytes_s=0.3) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body == b"".join(said)
        assert answer.whole
        await proxy.idle()
        assert await proxy.failures() == 0


@pytest.mark.parametrize("kind", ["Text/Event-Stream", "text/event-stream;charset=UTF-8"])
async def test_c011_the_content_type_may_be_written_in_other_ways(kind: str) -> None:
    said = tokens(3)
    script: Script = (stream_head(content_type=kind), *map(chunk, said), Close())
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, chat(stream=True))
        assert_told(answer, b"".join(said))
        assert answer.header("content-type") == kind


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
