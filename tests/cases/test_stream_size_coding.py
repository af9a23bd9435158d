"""C019, C020: events may be large, and a body and what its headers say of it agree."""

import gzip
import json
import zlib

import pytest

from tests.support.backend import scripted
from tests.support.client import Answer, connected, post
from tests.support.openai_shapes import CHAT, DONE, chat, completion, sse, token, tokens
from tests.support.proxy import running_proxy
from tests.support.received import Received
from tests.support.script import (
    END,
    JSON,
    Close,
    Gate,
    Script,
    Step,
    Write,
    answer,
    chunk,
    head,
    json_answer,
    stream,
    stream_head,
)
from tests.support.sse import error_of

MIB = 1024 * 1024


def in_writes(data: bytes, size: int = 16 * 1024) -> list[Write]:
    """Cut data into chunks of an answer."""
    return [chunk(data[at : at + size]) for at in range(0, len(data), size)]


@pytest.mark.parametrize("which", ["first", "later"])
async def test_c019_a_line_of_two_mebibytes_arrives_whole_and_step_by_step(which: str) -> None:
    big = token("x" * 2 * MIB)
    before = tokens(2) if which == "later" else []
    gate = Gate()
    script: Script = (
        stream_head(), *map(chunk, before), *in_writes(big[:MIB]),
        gate, *in_writes(big[MIB:]), *map(chunk, tokens(3)), chunk(DONE), END,
    )  # fmt: skip
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat(stream=True))
            # The event is not over yet, but its first half has to be on its way.
            await client.body_of(len(b"".join(before)) + MIB // 2)
            gate.open()
            got = await client.over()
        assert got.whole
        assert got.body == b"".join([*before, big, *tokens(3), DONE])
        await proxy.idle()


async def test_c019_the_default_cap_leaves_room_for_sixteen_mebibytes() -> None:
    big = token("x" * (16 * MIB - 4096))
    async with (
        scripted((stream_head(), *in_writes(big, 256 * 1024), chunk(DONE), END)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=True))
        assert got.whole
        assert got.body == big + DONE


@pytest.mark.parametrize("which", ["first", "later"])
async def test_c019_an_event_above_the_cap_ends_in_a_clear_error(which: str) -> None:
    before = tokens(2) if which == "later" else []
    big = token("x" * 256 * 1024)
    async with (
        scripted(
            (stream_head(), *map(chunk, before), *in_writes(big), chunk(DONE), END)
        ) as backend,
        running_proxy(backend.url, limits__event_bytes=64 * 1024) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=True))
        await proxy.idle()
        if got.status != 200:
            assert which == "first"
            message = got.error["message"]
        else:
            error = error_of(got.events[-1])
            assert error is not None, got.body[-300:]
            message = error["message"]
            assert got.cut
            assert b"[DONE]" not in got.body
        assert "event_bytes" in message
        assert "65536" in message


async def test_c019_many_events_that_are_small_each_never_meet_the_cap() -> None:
    said = [token("x" * 900) for _ in range(300)]
    async with (
        scripted((stream_head(), *in_writes(b"".join(said)), chunk(DONE), END)) as backend,
        running_proxy(backend.url, limits__event_bytes=64 * 1024) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=True))
        assert got.body == b"".join(said) + DONE


OFFERS = [("Accept-Encoding", "gzip, br")]


def decoded(got: Answer) -> bytes:
    """Return the body as the headers say it is coded."""
    coding = got.header("content-encoding")
    if coding in (None, "identity"):
        return got.body
    assert coding == "gzip"
    return gzip.decompress(got.body)


def gzip_if_offered(received: Received) -> Script:
    """Compress whatever is asked for, if the request offers it."""
    offered = b",".join(received.head.all("accept-encoding"))
    asked = received.json()
    coded = b"gzip" in offered
    lines = [("Content-Encoding", "gzip")] if coded else []
    if asked["stream"]:
        squeeze = zlib.compressobj(wbits=31)
        pieces = []
        for event in [*tokens(3), DONE]:
            flushed = squeeze.compress(event) + squeeze.flush(zlib.Z_SYNC_FLUSH)
            pieces.append(flushed if coded else event)
        end = [chunk(squeeze.flush())] if coded else []
        return (stream_head(lines), *map(chunk, pieces), *end, END)
    status = 400 if asked.get("bad") else 200
    plain = json.dumps(completion() if status == 200 else {"error": {"message": "é"}}).encode()
    return answer(gzip.compress(plain) if coded else plain, status, headers=lines)


def gzip_always(received: Received) -> Script:
    """Compress, whether it was offered or not."""
    offering = Received(
        type(received.head)(
            start=received.head.start,
            headers=(*received.head.headers, (b"accept-encoding", b"gzip")),
            raw=received.head.raw,
        ),
        received.body,
        received.connection,
    )
    return gzip_if_offered(offering)


@pytest.mark.parametrize("backend_does", [gzip_if_offered, gzip_always])
@pytest.mark.parametrize(
    ("request_body", "plain"),
    [
        (chat(stream=True), b"".join(tokens(3)) + DONE),
        (chat(), json.dumps(completion()).encode()),
        (chat(bad=True), json.dumps({"error": {"message": "é"}}).encode()),
    ],
    ids=["stream", "JSON", "an error"],
)
async def test_c020_body_and_coding_header_agree(
    backend_does: object, request_body: bytes, plain: bytes
) -> None:
    assert callable(backend_does)
    async with scripted(backend_does) as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, request_body, headers=OFFERS)
        assert got.whole
        assert decoded(got) == plain
        assert got.status == (400 if b"bad" in request_body else 200)
        if (length := got.header("content-length")) is not None:
            assert int(length) == len(got.body)


async def test_c020_a_coded_stream_is_not_held_back() -> None:
    squeeze = zlib.compressobj(wbits=31)
    gates = [Gate() for _ in range(5)]
    steps: list[Step] = []
    sizes: list[int] = []
    for gate, event in zip(gates, tokens(5), strict=True):
        data = squeeze.compress(event) + squeeze.flush(zlib.Z_SYNC_FLUSH)
        sizes.append(len(data))
        steps += [gate, chunk(data)]
    script = (stream_head([("Content-Encoding", "gzip")]), *steps, chunk(squeeze.flush()), END)
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, OFFERS, chat(stream=True))
            for n, gate in enumerate(gates, start=1):
                gate.open()
                await client.body_of(sum(sizes[:n]), within_s=2)
            got = await client.over()
        assert decoded(got) == b"".join(tokens(5))


async def test_c020_a_coded_stream_that_is_cut_gets_no_plain_text_glued_on() -> None:
    data = zlib.compressobj(wbits=31).compress(token("x")) or b"\x1f\x8b\x08\x00"
    script = (stream_head([("Content-Encoding", "gzip")]), chunk(data), Close())
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, chat(stream=True), headers=OFFERS)
        assert got.cut
        assert got.body == data
        await proxy.idle()


async def test_c020_a_body_of_another_type_is_untouched() -> None:
    odd = bytes(range(256)) * 64
    lines = [("Content-Type", "audio/mpeg"), ("Content-Length", str(len(odd)))]
    async with (
        scripted((Write(head(200, lines)), *map(Write, (odd[:100], odd[100:])))) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, chat())
        assert (got.body, got.header("content-type")) == (odd, "audio/mpeg")


async def test_c020_a_stream_asked_for_but_answered_as_json_stays_json() -> None:
    async with scripted(json_answer(completion())) as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, chat(stream=True))
        assert got.header("content-type") == JSON
        assert got.json() == completion()


async def test_c020_a_stream_nobody_asked_for_passes_as_sent() -> None:
    said = stream(sse({"a": 1}), DONE)
    async with scripted(said) as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, chat())
        assert got.body == sse({"a": 1}) + DONE
