"""Answers that could be read in two ways are failures of the peer, and end its connection."""

import asyncio
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cacheroute.core.errors import UpstreamProtocolError
from cacheroute.dataplane.upstream import UpstreamConnection
from tests.cacheroute.dataplane.peer_parts import at, noted, pooled, raw, send
from tests.cacheroute.dataplane.wire_parts import MemoryWire
from tests.support.backend import scripted
from tests.support.script import Freeze

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
NOT_VALID = "what it sent is not a valid HTTP/1.1 answer"
BODY = b"5\r\nhello\r\n0\r\n\r\n"

BROKEN = {
    "no HTTP": b"hello",
    "a request": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a TLS alert": b"\x15\x03\x01\x00\x02\x02\x0a",
    "HTTP/2": b"\x00\x00\x12\x04\x00\x00\x00\x00\x00",
    "bare LF": b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
    "NUL in a header": OK + b"X: \x00\r\nContent-Length: 5\r\n\r\nhello",
    "folded line": OK + b"X: a\r\n b\r\nContent-Length: 5\r\n\r\nhello",
    "blank before a colon": OK + b"Content-Length : 5\r\n\r\nhello",
    "no colon": OK + b"Content-Length\r\n\r\nhello",
    "two-digit status": b"HTTP/1.1 99 Low\r\nContent-Length: 0\r\n\r\n",
    "status below 100": b"HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n",
    "four-digit status": b"HTTP/1.1 2000 High\r\nContent-Length: 0\r\n\r\n",
    "negative length": OK + b"Content-Length: -5\r\n\r\nhello",
    "length with a plus": OK + b"Content-Length: +5\r\n\r\nhello",
    "hexadecimal length": OK + b"Content-Length: 0x5\r\n\r\nhello",
    "empty length": OK + b"Content-Length:\r\n\r\nhello",
    "two lengths in a line": OK + b"Content-Length: 5, 5\r\n\r\nhello",
    "two lengths": OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "the same length twice": OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "a length beyond 64 bits": OK + b"Content-Length: 18446744073709551621\r\n\r\nhello",
    "length, then chunked": (
        OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + BODY
    ),
    "chunked, then length": (
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + BODY
    ),
    "gzip, chunked": OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + BODY,
    "chunked twice": OK + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n" + BODY,
    "gzip": OK + b"Transfer-Encoding: gzip\r\n\r\n" + BODY,
    "identity": OK + b"Transfer-Encoding: identity\r\n\r\nhello",
    "chunk size with a minus": CHUNKED + b"-5\r\nhello\r\n",
    "chunk size with 0x": CHUNKED + b"0x5\r\nhello\r\n",
    "chunk size beyond 64 bits": CHUNKED + b"F" * 17 + b"\r\nhello",
    "chunk longer than its size": CHUNKED + b"4\r\nhello\r\n0\r\n\r\n",
    "bare LF after a chunk size": CHUNKED + b"5\nhello\r\n0\r\n\r\n",
    "another protocol": (
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n\x00"
    ),
    "another protocol, unnamed": b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
}

WHY = {
    "no HTTP": NOT_VALID,
    "two lengths in a line": NOT_VALID,
    "gzip, chunked": "its Transfer-Encoding is 'gzip, chunked'",
    "status below 100": "its status is 99",
    "another protocol": "it wants to change protocols",
    "another protocol, unnamed": "it wants to change protocols",
}


@pytest.mark.parametrize("apart", [False, True], ids=["in one piece", "byte by byte"])
@pytest.mark.parametrize("case", BROKEN)
async def test_an_answer_that_is_not_clean_fails_and_its_connection_is_reset(
    case: str, apart: bool
) -> None:
    data = BROKEN[case]
    pieces = [bytes([byte]) for byte in data] if apart else [data]
    async with scripted((*raw(*pieces), Freeze())) as backend, pooled() as pool:
        peer = at(pool, backend)
        notes = send(peer, b"x")
        error = await notes.failed()
        assert isinstance(error, UpstreamProtocolError)
        assert error.retryable
        beginning = f"The answer of {backend.authority} cannot be used: "
        assert error.message.startswith(beginning)
        assert WHY.get(case, "") in error.message
        assert b"hello!" not in notes.body
        await backend.closed_down_to(0)
        assert (await backend.received()).gone.is_set()
        assert not peer.idle
        assert not peer.active
        assert len(backend.requests) == 1


async def test_a_clean_answer_after_a_broken_one_comes_on_a_connection_of_its_own() -> None:
    async with scripted() as backend, pooled() as pool:
        backend.reply = (*raw(BROKEN["two lengths"]), Freeze())
        await send(at(pool, backend)).failed()
        backend.reply = raw(OK + b"Content-Length: 2\r\n\r\nok")
        assert await send(at(pool, backend)).succeeded() == b"ok"
        assert backend.connections == 2


CLEAN = [
    OK + b"Content-Length: 5\r\n\r\nhello",
    CHUNKED + b"5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello",
    OK + b"\r\nhello",
    b"HTTP/1.1 204 No Content\r\n\r\n",
]


@pytest.mark.parametrize(
    "line", [b"Content-Length: 9", b"Transfer-Encoding: chunked", b"Connection: X-Kept"]
)
async def test_what_an_interim_answer_says_of_framing_is_not_said_of_the_answer(
    line: bytes,
) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\n" + line + b"\r\n\r\n"
    final = OK + b"X-Kept: 1\r\nContent-Length: 5\r\n\r\nhello"
    async with scripted(raw(hints + final)) as backend, pooled() as pool:
        for _ in range(2):
            notes = send(at(pool, backend))
            assert await notes.succeeded() == b"hello"
            assert notes.outbound.lines == [b"X-Kept: 1\r\n"]
        assert backend.connections == 1


@given(
    data=st.sampled_from(CLEAN),
    noise=st.binary(max_size=40),
    place=st.integers(0, 120),
    cuts=st.sets(st.integers(0, 150), max_size=6),
)
@settings(max_examples=200, deadline=None)
async def test_noise_in_an_answer_is_heard_of_exactly_once(
    data: bytes, noise: bytes, place: int, cuts: set[int]
) -> None:
    noisy = data[:place] + noise + data[place:]
    places = [0, *sorted(cut for cut in cuts if cut < len(noisy)), len(noisy)]
    async with pooled() as pool:
        peer = pool.peer("a", 1)
        connection = UpstreamConnection(peer)
        wire = MemoryWire(connection)
        connection.connection_made(wire)
        notes = noted(b"x")
        peer.active.add(notes.outbound)
        connection.begin(notes.outbound)
        for start, end in itertools.pairwise(places):
            if not wire.is_closing():
                connection.data_received(noisy[start:end])
        wire.close()
        await asyncio.sleep(0)
        assert notes.told.count("end") + notes.told.count("fail") == 1
        assert notes.told.count("head") <= 1
        assert notes.told[0] in ("head", "fail")
        assert notes.told[-1] in ("end", "fail")
        assert not peer.active
        assert not peer.idle
