"""Answers of a peer: how they end, what of them is passed on, and when a connection is kept."""

from functools import partial

import pytest

from cacheroute.core.errors import UpstreamClosed
from cacheroute.core.limits import Limits
from cacheroute.dataplane import sockets
from tests.cacheroute.dataplane.peer_parts import at, pooled, raw, send
from tests.cacheroute.dataplane.wire_parts import both_loops
from tests.support.backend import scripted
from tests.support.script import (
    Close,
    Freeze,
    Gate,
    HalfClose,
    Reset,
    Write,
    answer,
    chunk,
    head,
    stream,
    stream_head,
)
from tests.support.waiting import eventually

OK = b"HTTP/1.1 200 OK\r\n"
HELLO = OK + b"Content-Length: 5\r\n\r\nhello"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

WHOLE = {
    "length": HELLO,
    "chunked": CHUNKED + b"3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\nX-Sum: 1\r\n\r\n",
    "length with blanks": OK + b"Content-Length: \t 5 \r\n\r\nhello",
    "coding with blanks": OK + b"Transfer-Encoding: Chunked \r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "no reason": b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
    "an interim answer before it": b"HTTP/1.1 100 Continue\r\n\r\n" + HELLO,
    "several interim answers before it": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"
        b"Content-Type: text/early\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + HELLO
    ),
}


@pytest.mark.parametrize("kind", WHOLE)
async def test_an_answer_may_be_cut_at_every_byte(kind: str) -> None:
    data = WHOLE[kind]
    async with scripted() as backend, pooled() as pool:
        peer = at(pool, backend)
        for cut in range(1, len(data)):
            gate = Gate()
            backend.reply = (Write(data[:cut]), gate, Write(data[cut:]))
            notes = send(peer)
            await eventually(partial(getattr, notes.outbound, "heard"), every_s=0)
            gate.open()
            assert await notes.succeeded() == b"hello"
            assert notes.outbound.status == 200
            assert notes.outbound.lines == []
        assert backend.connections == 1


@pytest.mark.parametrize("kind", WHOLE)
async def test_an_answer_may_come_byte_by_byte(kind: str) -> None:
    data = WHOLE[kind]
    async with (
        scripted(raw(*(bytes([byte]) for byte in data))) as backend,
        pooled() as pool,
    ):
        assert await send(at(pool, backend)).succeeded() == b"hello"


async def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    async with (
        scripted((Write(OK + b"\r\nhel"), Write(b"lo"), Close())) as backend,
        pooled() as pool,
    ):
        peer = at(pool, backend)
        notes = send(peer)
        assert await notes.succeeded() == b"hello"
        assert notes.outbound.content_length is None
        assert notes.outbound.until_close
        assert not peer.idle
        assert await send(peer).succeeded() == b"hello"
        assert backend.connections == 2


@both_loops
async def test_an_answer_without_a_length_that_is_reset_has_failed() -> None:
    gate = Gate()
    async with scripted((Write(OK + b"\r\nhello"), gate, Reset())) as backend, pooled() as pool:
        notes = send(at(pool, backend))
        await notes.heard(5)
        gate.open()
        error = await notes.failed()
        assert isinstance(error, UpstreamClosed)
        assert error.message.endswith("was reset in the middle of its answer.")


BROKEN_OFF = {
    "before any byte": (b"", "without an answer"),
    "in the head": (OK + b"Content-Le", "in the middle of its answer"),
    "after an interim answer": (
        b"HTTP/1.1 100 Continue\r\n\r\n",
        "in the middle of its answer",
    ),
    "after the head": (OK + b"Content-Length: 5\r\n\r\n", "in the middle of its answer"),
    "one byte short": (HELLO[:-1], "in the middle of its answer"),
    "without a last chunk": (CHUNKED + b"5\r\nhello\r\n", "in the middle of its answer"),
    "in the last chunk": (CHUNKED + b"5\r\nhello\r\n0\r\n", "in the middle of its answer"),
}


@both_loops
@pytest.mark.parametrize("how", ["closed", "was reset"])
@pytest.mark.parametrize("case", BROKEN_OFF)
async def test_an_answer_that_breaks_off_has_failed(case: str, how: str) -> None:
    data, what = BROKEN_OFF[case]
    gate = Gate()
    ending = Close() if how == "closed" else Reset()
    script = (Write(data), gate, ending) if data else (ending,)
    async with scripted(script) as backend, pooled() as pool:
        notes = send(at(pool, backend), b"x")
        if data:
            await eventually(lambda: notes.outbound.heard)
        gate.open()
        error = await notes.failed()
        assert isinstance(error, UpstreamClosed)
        assert error.retryable
        assert error.peer == backend.authority
        assert error.message == f"The connection to {backend.authority} {how} {what}."
        assert len(backend.requests) == 1


async def test_a_half_closed_answer_that_is_whole_is_whole() -> None:
    async with scripted((Write(OK + b"\r\nhello"), HalfClose())) as backend, pooled() as pool:
        assert await send(at(pool, backend)).succeeded() == b"hello"


async def test_header_lines_are_passed_on_as_written_but_for_those_of_the_connection() -> None:
    lines = [
        ("Content-Type", "text/plain"),
        ("x-ODD", "a  b"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("Content-Length", "5"),
        ("Connection", "keep-alive, X-Private"),
        ("Connection", "x-also"),
        ("X-Private", "1"),
        ("X-ALSO", "1"),
        ("Keep-Alive", "timeout=5"),
        ("Proxy-Authenticate", "Basic"),
        ("Proxy-Connection", "close"),
        ("TE", "trailers"),
        ("Trailer", "X-Sum"),
        ("Upgrade", "h2c"),
        ("X-Withheld", "secret"),
        ("Retry-After", "7"),
    ]
    async with (
        scripted(raw(head(200, lines) + b"hello")) as backend,
        pooled(withheld=frozenset({b"x-withheld"})) as pool,
    ):
        notes = send(at(pool, backend))
        assert await notes.succeeded() == b"hello"
        assert notes.outbound.lines == [
            b"Content-Type: text/plain\r\n",
            b"x-ODD: a  b\r\n",
            b"Set-Cookie: a=1\r\n",
            b"Set-Cookie: b=2\r\n",
            b"Retry-After: 7\r\n",
        ]
        assert notes.outbound.fields[b"content-type"] == b"text/plain"
        assert notes.outbound.fields[b"retry-after"] == b"7"
        assert notes.outbound.content_length == 5


async def test_header_lines_named_in_one_answer_are_passed_on_in_the_next() -> None:
    named = answer(headers=[("Connection", "X-Trace"), ("X-Trace", "1")], content_type=None)
    plain = answer(headers=[("X-Trace", "2")], content_type=None)
    async with scripted() as backend, pooled() as pool:
        for script, lines in ((named, []), (plain, [b"X-Trace: 2\r\n"])):
            backend.reply = script
            notes = await send(at(pool, backend)).over()
            assert notes.outbound.lines == lines
        assert backend.connections == 1


async def test_headers_of_an_interim_answer_are_not_those_of_the_answer() -> None:
    async with (
        scripted(raw(WHOLE["several interim answers before it"])) as backend,
        pooled() as pool,
    ):
        notes = await send(at(pool, backend)).over()
        assert notes.told == ["head", "end"]
        assert notes.outbound.lines == []
        assert b"content-type" not in notes.outbound.fields


async def test_the_answer_to_head_has_no_body_whatever_it_says() -> None:
    async with scripted(raw(OK + b"Content-Length: 500\r\n\r\n")) as backend, pooled() as pool:
        for _ in range(2):
            notes = send(at(pool, backend), method="HEAD")
            assert await notes.succeeded() == b""
            assert notes.outbound.content_length == 500


@pytest.mark.parametrize("lines", [b"", b"Content-Length: 5\r\n"], ids=["bare", "with a length"])
@pytest.mark.parametrize("status", [204, 304])
async def test_an_answer_that_cannot_have_a_body_does_not_spoil_the_next_one(
    status: int, lines: bytes
) -> None:
    async with scripted() as backend, pooled() as pool:
        backend.reply = raw(b"HTTP/1.1 %d X\r\n%b\r\n" % (status, lines))
        notes = send(at(pool, backend))
        assert await notes.succeeded() == b""
        assert notes.outbound.status == status
        backend.reply = raw(HELLO)
        assert await send(at(pool, backend)).succeeded() == b"hello"


@both_loops
@pytest.mark.parametrize(
    "script",
    [
        answer(b"hello", headers=[("Connection", "close")]),
        (Write(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"), Freeze()),
        answer(b"hello", headers=[("Connection", "keep-alive, Close")]),
    ],
    ids=["close", "HTTP/1.0", "keep-alive, Close"],
)
async def test_a_connection_that_the_peer_will_close_is_not_used_again(script: object) -> None:
    async with scripted() as backend, pooled() as pool:
        backend.reply = script  # type: ignore[assignment]
        for _ in range(2):
            assert await send(at(pool, backend)).succeeded() == b"hello"
        assert backend.connections == 2
        await backend.closed_down_to(0)


async def test_a_peer_of_http_1_0_may_keep_its_connection() -> None:
    data = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello"
    async with scripted(raw(data)) as backend, pooled() as pool:
        for _ in range(2):
            assert await send(at(pool, backend)).succeeded() == b"hello"
        assert backend.connections == 1


BEHIND = {
    "a second answer": HELLO,
    "half a second answer": OK + b"X-Evil: ",
    "its first byte": b"H",
    "an interim answer": b"HTTP/1.1 100 Continue\r\n\r\n",
    "nonsense": b"\x00\xff nonsense",
    "the rest of a longer body": b" and more",
}


@pytest.mark.parametrize("first", [HELLO, WHOLE["chunked"]], ids=["length", "chunked"])
@pytest.mark.parametrize("case", BEHIND)
async def test_bytes_behind_an_answer_are_no_part_of_it_nor_of_the_next(
    case: str, first: bytes
) -> None:
    async with scripted() as backend, pooled() as pool:
        peer = at(pool, backend)
        backend.reply = raw(first + BEHIND[case])
        notes = send(peer)
        assert await notes.succeeded() == b"hello"
        assert notes.told == ["head", "end"]
        backend.reply = raw(OK + b"Content-Length: 2\r\n\r\nok")
        notes = send(peer)
        assert await notes.succeeded() == b"ok"
        assert notes.outbound.lines == []
        assert backend.connections == 2


async def test_bytes_that_nobody_asked_for_end_an_idle_connection() -> None:
    gate = Gate()
    async with scripted((*raw(HELLO), gate, Write(HELLO))) as backend, pooled() as pool:
        peer = at(pool, backend)
        await send(peer).over()
        assert len(peer.idle) == 1
        gate.open()
        await backend.closed_down_to(0)
        assert not peer.idle


LARGE = bytes(8 << 20)


@both_loops
async def test_an_answer_before_the_whole_request_was_sent_is_heard() -> None:
    early = answer(b"too large", status=413)
    async with scripted(early=early) as backend, pooled() as pool:
        notes = send(at(pool, backend), LARGE)
        assert await notes.succeeded() == b"too large"
        assert notes.outbound.status == 413


async def test_a_connection_whose_request_was_not_all_sent_is_ended_at_once() -> None:
    async with scripted(early=answer(b"no", status=413)) as backend, pooled() as pool:
        peer = at(pool, backend)
        backend.on_accept = "serve"
        notes = send(peer, LARGE)
        transports = []

        def stop_reading() -> None:
            # The peer says no, and does not read the rest of what it is sent.
            for connection in backend.open:
                connection._transport.pause_reading()
                transports.append(connection._transport)

        await eventually(lambda: backend.open, every_s=0)
        stop_reading()
        for transport in transports:
            transport.write(b"HTTP/1.1 413 X\r\nContent-Length: 2\r\n\r\nno")
        assert await notes.succeeded() == b"no"
        assert not peer.idle
        await eventually(lambda: all(map(sockets.is_reset, transports)))
        for transport in transports:
            transport.abort()


async def test_a_head_that_is_too_large_fails_the_answer() -> None:
    large = OK + b"X: " + b"a" * 5000 + b"\r\nContent-Length: 5\r\n\r\nhello"
    async with pooled(limits=Limits(head_bytes=1024)) as pool:
        for script in (raw(large), raw(large[:2000], large[2000:]), raw(large[:3000])):
            async with scripted((*script, Freeze())) as backend:
                error = await send(at(pool, backend)).failed()
                assert "its head is larger than 1024 bytes" in error.message
                await backend.closed_down_to(0)


async def test_endless_interim_answers_fail_the_answer() -> None:
    interim = b"HTTP/1.1 102 Processing\r\n\r\n" * 20
    async with (
        scripted((*raw(*[interim] * 10), Freeze())) as backend,
        pooled(limits=Limits(head_bytes=1024)) as pool,
    ):
        error = await send(at(pool, backend)).failed()
        assert "its head is larger than 1024 bytes" in error.message


@pytest.mark.parametrize(
    ("first", "more"),
    [(b"0\r\nX: ", b"a" * 512), (b"0\r\n", b"X: y\r\n" * 80), (b"5;a=", b"b" * 512)],
    ids=["trailer value", "trailers", "chunk extension"],
)
async def test_what_is_endless_around_a_chunked_answer_fails_it(first: bytes, more: bytes) -> None:
    async with (
        scripted((*raw(CHUNKED, first, *[more] * 100), Freeze())) as backend,
        pooled(limits=Limits(head_bytes=1024)) as pool,
    ):
        notes = send(at(pool, backend))
        await eventually(lambda: notes.told)
        assert (await notes.failed()).message
        await backend.closed_down_to(0)


async def test_a_long_body_is_never_taken_for_a_head() -> None:
    async with (
        scripted(stream(*[b"x" * 700] * 50)) as backend,
        pooled(limits=Limits(head_bytes=1024)) as pool,
    ):
        assert len(await send(at(pool, backend)).succeeded()) == 35_000
        backend.reply = (stream_head(), *[chunk(b"x")] * 2000, Write(b"0\r\n\r\n"))
        assert len(await send(at(pool, backend)).succeeded()) == 2000
