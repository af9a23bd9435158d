"""Requests of all connections together have a bound, and the small ones get the last of it."""

import asyncio
import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cacheroute.core.limits import Limits
from cacheroute.dataplane.connection import ClientConnection
from cacheroute.dataplane.memory import REQUEST_BYTES, RequestMemory
from cacheroute.planes.problems import render_refusal
from tests.cacheroute.dataplane.wire_parts import (
    HOST,
    PING,
    Served,
    both_loops,
    chunked,
    echo,
    feed,
    hold,
    post,
    request,
    serving,
    understood,
    wired,
)
from tests.support.client import RawClient, connected
from tests.support.waiting import eventually

MIB = 1024 * 1024
LIMITS = Limits(body_bytes=2 * MIB, request_bytes=8 * MIB)
UNFINISHED = request(b"Content-Length: %d" % (2 * MIB))


def held(served: Served) -> int:
    """What all connections are counted to hold."""
    return served.server.memory.held_bytes


async def drips(client: RawClient, served: Served, size: int) -> None:
    """Send so much of a body of 2 MiB, and wait until it has been read."""
    before = held(served)
    client.expect()
    client.send(UNFINISHED + bytes(size))
    await eventually(lambda: held(served) >= before + size)


# Who may hold more.


@pytest.mark.parametrize(
    ("own", "most"),
    [(1, 8), (64 * 1024, 8), (64 * 1024 + 1, 6), (MIB, 6), (MIB + 1, 4), (4 * MIB, 4)],
)
def test_who_holds_more_is_refused_sooner(own: int, most: int) -> None:
    memory = RequestMemory(8 * MIB)
    memory.held_bytes = most * MIB
    assert memory.allows(own)
    memory.held_bytes += 1
    assert not memory.allows(own)


@given(st.integers(1, 10**9), st.integers(0, 10**9), st.integers(0, 10**8), st.integers(0, 10**8))
def test_nobody_who_holds_less_is_refused_where_one_with_more_is_not(
    limit: int, held_bytes: int, one: int, other: int
) -> None:
    memory = RequestMemory(limit)
    memory.held_bytes = held_bytes
    less, more = sorted((one, other))
    assert memory.allows(less) >= memory.allows(more)
    assert memory.allows(more) >= (held_bytes <= memory.easy_bytes)
    assert memory.allows(less) <= (held_bytes <= limit)


def test_one_body_must_fit_into_what_large_ones_get() -> None:
    assert Limits(body_bytes=5, request_bytes=20).request_bytes == 20
    with pytest.raises(ValueError, match=r"^request_bytes is 19 and must be at least four times"):
        Limits(body_bytes=5, request_bytes=19)


# What is counted.


async def test_a_request_is_counted_until_it_is_answered() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect()
        client.send(post(bytes(5000)))
        inbound = await served.request()
        assert held(served) == inbound.held_bytes == 5000 + REQUEST_BYTES
        echo(inbound)
        assert held(served) == 0
        await client.over()


@both_loops
@pytest.mark.parametrize("end", ["leaves", "resets", "cut", "abort", "stop"])
async def test_however_a_request_ends_its_memory_is_given_back(end: str) -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect()
        client.send(post(bytes(5000)) + post(bytes(100)) + UNFINISHED)
        inbound = await served.request()
        await eventually(lambda: held(served) > 5100 + 2 * REQUEST_BYTES)
        match end:
            case "leaves":
                client.close()
            case "resets":
                client.reset()
            case "cut":
                inbound.start(200)
                inbound.cut()
            case "abort":
                inbound.abort()
            case _:
                await served.server.stop()
        await eventually(lambda: held(served) == 0)


async def test_a_body_counts_as_it_comes_and_not_as_it_is_declared() -> None:
    async with serving(hold) as served, wired(served) as (connection, _):
        connection.data_received(UNFINISHED)
        begun = held(served)
        assert begun < 1000
        connection.data_received(bytes(1000))
        assert held(served) == begun + 1000


@pytest.mark.parametrize("end", [b"", b"\r\n"], ids=["not whole", "whole"])
async def test_a_large_head_counts_as_well(end: bytes) -> None:
    lines = [b"X-%d: " % number + b"v" * 200 for number in range(200)]
    head = request(*lines, method=b"GET")
    async with serving(hold) as served, wired(served) as (connection, _):
        connection.data_received(head[:-2] + end)
        assert held(served) >= len(head) - 4


async def test_a_head_of_tiny_lines_is_refused_before_it_is_whole() -> None:
    """Twelve thousand lines of seven bytes take two megabytes."""
    async with serving(hold) as served, wired(served) as (connection, wire):
        connection.data_received(request(*[b"ab: cd"] * 255, method=b"GET")[:-2])
        assert held(served) > 255 * 256
        assert not wire.written
        connection.data_received(b"ef: gh\r\n" * 2)
        assert b"HTTP/1.1 431 " in wire.written
        assert held(served) == 0
        assert not connection._reader._headers


async def test_a_head_that_begins_behind_another_request_counts_as_well() -> None:
    limits = Limits(head_bytes=300_000)
    async with serving(hold, limits=limits) as served, wired(served) as (connection, _):
        begun = b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"v" * 200_000
        connection.data_received(PING + begun)
        assert held(served) >= REQUEST_BYTES + 200_000
        connection.data_received(b"v" * 1000)
        assert held(served) >= REQUEST_BYTES + 201_000
        connection.data_received(b"\r\n\r\n")
        assert 2 * REQUEST_BYTES + 201_000 < held(served) < 205_000


async def test_a_request_that_nobody_waits_for_is_let_go_before_its_client_has_left() -> None:
    async with serving(hold) as served, wired(served) as (connection, wire):
        connection.data_received(PING + UNFINISHED + bytes(5000))
        (inbound,) = served.requests
        assert held(served) > 5000
        served.server.refuse_new()
        echo(inbound)
        assert b"HTTP/1.1 200 " in wire.written
        assert held(served) == 0
        assert not connection._reader._body


async def test_a_body_in_tiny_chunks_takes_no_more_than_another() -> None:
    """Apart, each piece of two bytes takes sixty."""
    async with serving(hold) as served, wired(served) as (connection, _):
        connection.data_received(request(b"Transfer-Encoding: chunked"))
        pieces = [b"%02d" % (number % 100) for number in range(100_000)]
        connection.data_received(chunked(*pieces).removesuffix(b"0\r\n\r\n"))
        assert len(connection._reader._body) < 10
        connection.data_received(b"0\r\n\r\n")
        (inbound,) = served.requests
        assert inbound.body == b"".join(pieces)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.lists(st.integers(1, 2000), max_size=12), min_size=1, max_size=5),
    st.lists(st.integers(1, 4000), max_size=12),
)
async def test_bodies_arrive_as_they_were_sent_and_nothing_stays_counted(
    bodies: list[list[int]], cuts: list[int]
) -> None:
    chunks = [
        [bytes([65 + number % 26]) * size for number, size in enumerate(sizes)] for sizes in bodies
    ]
    stream = b"".join(request(b"Transfer-Encoding: chunked") + chunked(*each) for each in chunks)
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
    if sorted(cuts) != cuts:
        pieces = [stream]
    async with serving() as served, wired(served) as (connection, wire):
        await feed(connection, wire, pieces)
        assert [inbound.body for inbound in served.requests] == [b"".join(one) for one in chunks]
        assert held(served) == 0


# What happens when it is full.


@both_loops
async def test_a_large_request_finds_no_room_while_small_ones_do() -> None:
    async with (
        serving(limits=LIMITS, render_refusal=render_refusal) as served,
        connected(served.port) as slow,
        connected(served.port) as slower,
        connected(served.port) as late,
    ):
        await drips(slow, served, MIB + MIB // 2)
        await drips(slower, served, MIB + MIB // 2)
        late.expect()
        late.send(post(bytes(2 * MIB)))
        answer = await late.over()
        assert answer.status == 503
        assert answer.header("retry-after") == "1"
        assert answer.header("connection") == "close"
        assert answer.error["code"] == "too_busy"
        assert "8388608 bytes in all (limits.request_bytes); try again" in answer.error["message"]
        async with connected(served.port) as small:
            for size in (0, 2000, 60_000, 500_000):
                assert len((await understood(small, post(bytes(size))))["body"]) == size
        slower.close()
        await eventually(lambda: held(served) < 2 * MIB)
        slow.send(bytes(MIB // 2))
        assert (await slow.over()).status == 200


async def test_hundreds_of_slow_clients_cannot_take_what_small_requests_need() -> None:
    async with contextlib.AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(limits=LIMITS))
        for _ in range(40):
            client = await stack.enter_async_context(connected(served.port))
            client.expect()
            client.send(UNFINISHED + bytes(900_000))
        small = await stack.enter_async_context(connected(served.port))
        for _ in range(10):
            assert len((await understood(small, post(bytes(50_000))))["body"]) == 50_000
            assert held(served) <= 6 * MIB + 256 * 1024


async def test_who_is_refused_gives_back_what_it_held_before_it_has_left() -> None:
    async with serving(hold, limits=LIMITS) as served, wired(served) as (connection, wire):
        served.server.memory.held_bytes = 3 * MIB
        connection.data_received(UNFINISHED)
        for _ in range(8):
            connection.data_received(bytes(256 * 1024))
        assert b"HTTP/1.1 503 " in wire.written
        assert held(served) == 3 * MIB
        assert not connection._reader._body
        connection.data_received(bytes(256 * 1024))
        assert held(served) == 3 * MIB


async def test_a_body_that_is_too_large_is_let_go_at_once() -> None:
    limits = Limits(body_bytes=MIB, request_bytes=8 * MIB)
    async with serving(hold, limits=limits) as served, wired(served) as (connection, wire):
        connection.data_received(request(b"Transfer-Encoding: chunked"))
        for _ in range(5):
            connection.data_received(b"40000\r\n" + bytes(0x40000) + b"\r\n")
        assert b"HTTP/1.1 413 " in wire.written
        assert held(served) == 0
        assert not connection._reader._body


async def test_requests_without_a_body_have_a_bound_as_well() -> None:
    """Nine thousand of them fit into one piece that is read."""
    tiny = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
    limits = Limits(body_bytes=1000, request_bytes=MIB)
    async with serving(hold, limits=limits) as served, wired(served) as (connection, wire):
        connection.data_received(PING)
        connection.data_received(tiny * 5000)
        assert not connection._reader.requests
        assert held(served) == REQUEST_BYTES
        (running,) = served.requests
        echo(running)
        await eventually(lambda: b"HTTP/1.1 503 " in wire.written, every_s=0)
        assert wire.written.startswith(b"HTTP/1.1 200 ")
        assert len(served.requests) == 1
        assert held(served) == 0


STEPS = (
    "read", "read", "read", "answer", "answer", "stream", "cut", "abort", "half_close", "leave",
    "fall_behind", "catch_up", "tick", "time_out", "squeeze", "turn",
)  # fmt: skip
REQUESTS = [
    PING * 7,
    post(bytes(70_000)),
    request(b"Transfer-Encoding: chunked") + chunked(b"ab", bytes(2000), b"c"),
    request(b"Expect: 100-continue", b"Content-Length: 9") + bytes(9),
    request(b"Connection: upgrade", b"Upgrade: h2c", b"Content-Length: 3") + b"abc",
    request(*[b"X-%d: " % number + b"v" * 90 for number in range(60)], method=b"GET"),
    post(bytes(300_000)),
]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(0, len(REQUESTS) - 1),
    st.lists(
        st.tuples(st.sampled_from(STEPS), st.integers(1, 300) | st.integers(1000, 90_000)),
        max_size=60,
    ),
)
async def test_what_is_counted_is_what_is_held_whatever_happens(
    first: int, steps: list[tuple[str, int]]
) -> None:
    async with serving(hold, limits=Limits(body_bytes=MIB, request_bytes=4 * MIB)) as served:
        memory = served.server.memory
        others = 0
        async with wired(served) as (connection, wire):
            stream = whole = b"".join(REQUESTS[first:] + REQUESTS[:first])
            for step, number in steps:
                active = connection._active
                match step:
                    case "read" if wire.reading and not wire.is_closing():
                        connection.data_received(stream[:number])
                        stream = stream[number:] or whole
                    case "answer" if active is not None and active.begun:
                        active.finish(b"x" * number)
                    case "answer" if active is not None:
                        active.respond(200, (), b"x" * number)
                    case "stream" if active is not None and not active.begun:
                        active.start(200)
                        active.write(b"x" * number)
                    case "cut" if active is not None and number % 4 == 0:
                        active.cut()
                    case "abort" if active is not None and number % 4 == 0:
                        active.abort()
                    case "half_close" if number % 4 == 0 and not connection.eof_received():
                        wire.close()
                    case "leave" if number % 8 == 0:
                        wire.close()
                    case "fall_behind" if not wire.is_closing():
                        connection.pause_writing()
                    case "catch_up":
                        connection.resume_writing()
                    case "tick":
                        served.tick(1.0)
                    case "time_out" if number % 4 == 0:
                        served.tick(400.0)
                    case "squeeze" if number % 4 == 0:
                        memory.held_bytes += -others or 3 * MIB
                        others = 0 if others else 3 * MIB
                    case _:
                        await asyncio.sleep(0)
                assert memory.held_bytes == others + connection._held_bytes
            memory.held_bytes -= others
            connection.resume_writing()
            await answer_all(connection)
            if not wire.ended:
                assert wire.reading
                connection.data_received(stream)
                await answer_all(connection)
            assert wire.reading or wire.ended
            await eventually(lambda: memory.held_bytes == 0, every_s=0)


async def answer_all(connection: ClientConnection) -> None:
    """Answer what has come, until nothing is due any more."""
    while connection.is_busy:
        if connection._active is not None:
            connection._active.finish()
        await asyncio.sleep(0)
