"""A head or a body that is too large is refused before it is held in memory."""

import pytest

from cacheroute.core.limits import Limits
from tests.cacheroute.dataplane.wire_parts import (
    HOST,
    PING,
    Served,
    chunked,
    feed,
    post,
    request,
    said,
    serving,
    understood,
    wired,
)
from tests.support.client import connected

SMALL = Limits(head_bytes=1024, headers=8, body_bytes=1000)

TOO_LARGE_HEADS = {
    "start line": request(target=b"/" + b"a" * 2000, method=b"GET"),
    "one header": request(b"X: " + b"a" * 2000, method=b"GET"),
    "one name": request(b"a" * 2000 + b": x", method=b"GET"),
    "several headers": request(*[b"X-%d: " % n + b"a" * 300 for n in range(6)], method=b"GET"),
}


async def refusal(served: Served, *pieces: bytes) -> tuple[bytes, bytes]:
    """Hand pieces in; returns the status line and the body of the refusal they must meet."""
    async with wired(served) as (connection, wire):
        await feed(connection, wire, pieces)
    head, _, body = wire.written.partition(b"\r\n\r\n")
    assert b"\r\nConnection: close" in head
    assert wire.ended
    assert not served.requests
    return head.partition(b"\r\n")[0], body


@pytest.mark.parametrize("size", [1, 100, 10_000], ids="in pieces of {}".format)
@pytest.mark.parametrize("case", TOO_LARGE_HEADS)
async def test_a_head_that_is_too_large_is_431(case: str, size: int) -> None:
    data = TOO_LARGE_HEADS[case]
    async with serving(limits=SMALL) as served:
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        line, body = await refusal(served, *pieces)
        assert line.startswith(b"HTTP/1.1 431 ")
        assert body == b"The request head is larger than 1024 bytes (limits.head_bytes).\n"


@pytest.mark.parametrize("case", TOO_LARGE_HEADS)
async def test_an_endless_head_is_refused_before_it_ends(case: str) -> None:
    async with serving(limits=SMALL) as served:
        line, _ = await refusal(served, *([TOO_LARGE_HEADS[case][:-4]] * 2))
        assert line.startswith(b"HTTP/1.1 431 ")


async def test_too_many_header_lines_are_431() -> None:
    async with serving(limits=SMALL) as served:
        line, body = await refusal(served, request(*[b"X: y"] * 8))
        assert line.startswith(b"HTTP/1.1 431 ")
        assert body == b"The request has more than 8 headers (limits.headers).\n"


async def test_as_many_and_as_large_as_allowed_is_served() -> None:
    async with serving(limits=SMALL) as served, wired(served) as (connection, wire):
        fits = request(b"X: " + b"a" * 900, *[b"X: y"] * 6, method=b"GET")
        await feed(connection, wire, [fits, *(bytes([byte]) for byte in fits), fits])
        assert len(served.requests) == 3


@pytest.mark.parametrize("case", TOO_LARGE_HEADS)
async def test_a_pipelined_head_is_held_to_the_same_limit(case: str) -> None:
    async with serving(limits=SMALL) as served, wired(served) as (connection, wire):
        await feed(connection, wire, [PING + TOO_LARGE_HEADS[case]])
        assert [inbound.path for inbound in served.requests] == ["/ping"]
        assert wire.written.count(b"HTTP/1.1 431 ") == 1
        assert wire.ended


async def test_a_long_body_in_the_same_segment_is_not_counted_to_the_head() -> None:
    async with serving(limits=SMALL) as served, wired(served) as (connection, wire):
        piece = post(b"x" * 1000, b"X: " + b"a" * 800)
        await feed(connection, wire, [piece, piece + piece])
        assert len(served.requests) == 3


async def test_a_body_that_is_announced_as_too_large_is_413_before_it_is_read() -> None:
    async with serving(limits=SMALL) as served:
        line, body = await refusal(served, request(b"Content-Length: 1001"))
        assert line.startswith(b"HTTP/1.1 413 ")
        assert body == b"The request body is larger than 1000 bytes (limits.body_bytes).\n"


async def test_a_client_that_asks_first_is_told_413_instead_of_100() -> None:
    async with serving(limits=SMALL) as served, connected(served.port) as client:
        got = await said(client, request(b"Content-Length: 1001", b"Expect: 100-continue"))
        assert got.status == 413
        assert not got.interim


@pytest.mark.parametrize("size", [1, 400, 1001], ids="chunks of {}".format)
async def test_a_chunked_body_is_413_as_soon_as_it_has_grown_too_large(size: int) -> None:
    async with serving(limits=SMALL) as served:
        chunk = b"%x\r\n%b\r\n" % (size, b"x" * size)
        pieces = [chunk] * (1001 // size + 1)
        line, _ = await refusal(served, request(b"Transfer-Encoding: chunked"), *pieces)
        assert line.startswith(b"HTTP/1.1 413 ")


async def test_a_chunk_that_is_announced_as_huge_is_413_after_the_allowed_bytes() -> None:
    async with serving(limits=SMALL) as served:
        head = request(b"Transfer-Encoding: chunked") + b"7FFFFFFFFFFFFFFF\r\n"
        line, _ = await refusal(served, head, b"x" * 1000, b"x")
        assert line.startswith(b"HTTP/1.1 413 ")


async def test_a_body_as_large_as_allowed_is_served() -> None:
    async with serving(limits=SMALL) as served, connected(served.port) as client:
        assert len((await understood(client, post(b"x" * 1000)))["body"]) == 1000
        sent = request(b"Transfer-Encoding: chunked") + chunked(*[b"x"] * 1000)
        assert len((await understood(client, sent))["body"]) == 1000


ENDLESS = {
    "trailer value": (b"0\r\nX: ", b"a" * 512),
    "trailer name": (b"0\r\n", b"a" * 512),
    "trailers": (b"0\r\n", b"X: y\r\n" * 80),
    "chunk extension": (b"5;a=", b"b" * 512),
    "chunk size": (b"", b"0" * 512),
}


@pytest.mark.parametrize("case", ENDLESS)
async def test_what_is_endless_around_a_chunked_body_is_refused(case: str) -> None:
    first, more = ENDLESS[case]
    async with serving(limits=SMALL) as served:
        line, _ = await refusal(
            served, request(b"Transfer-Encoding: chunked"), first, *[more] * 100
        )
        assert line[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 413", b"HTTP/1.1 431")


async def test_a_refusal_is_rendered_by_whoever_runs_the_server() -> None:
    def render(status: int, message: str) -> tuple[list[tuple[bytes, bytes]], bytes]:
        return [(b"X-Status", b"%d" % status)], b"<" + message.encode() + b">"

    async with (
        serving(limits=SMALL, render_refusal=render) as served,
        connected(served.port) as client,
    ):
        got = await said(client, b"GET / HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 20 + b"\r\n", "GET")
        assert got.header("x-status") == "431"
        assert got.body == b"<The request has more than 8 headers (limits.headers).>"
