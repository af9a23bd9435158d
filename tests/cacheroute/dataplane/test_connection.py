"""One connection: requests in a row, their answers in order, and its end."""

import asyncio

import pytest

from cacheroute.core.limits import Limits
from cacheroute.dataplane.inbound import Inbound
from tests.cacheroute.dataplane.wire_parts import (
    PING,
    Served,
    both_loops,
    chunked,
    echo,
    feed,
    hold,
    post,
    request,
    said,
    serving,
    slow_reader,
    understood,
    wired,
)
from tests.support.client import RawClient, connected
from tests.support.waiting import eventually

CONTINUE = b"HTTP/1.1 100 Continue"
LARGE = bytes(1 << 20)


def ping(number: int) -> bytes:
    """Render a GET with a number in its path."""
    return request(target=b"/%d" % number, method=b"GET")


async def paths(client: RawClient, count: int) -> list[str]:
    """Read so many answers; returns the paths they speak of."""
    read = []
    for _ in range(count):
        read.append((await client.over()).json()["path"])
        client.expect("GET")
    return read


# Keep-alive.


@both_loops
async def test_a_connection_serves_one_request_after_another() -> None:
    async with serving() as served, connected(served.port) as client:
        for body in (b"", b"one", b"two" * 100_000):
            got = await understood(client, post(body))
            assert got["body"] == body.decode()
            sent = request(b"Transfer-Encoding: chunked") + chunked(body or b"x")
            assert (await understood(client, sent))["body"] == (body or b"x").decode()
        assert served.server.connections == 1


@pytest.mark.parametrize("value", [b"close", b"Close", b"keep-alive, close", b"TE, close"])
async def test_a_client_that_wants_to_be_closed_is(value: bytes) -> None:
    async with serving() as served, connected(served.port) as client:
        client.expect()
        client.send(post(b"x", b"Connection: " + value))
        got = await client.disconnected()
        assert got.whole
        assert got.header("connection") == "close"
        client.close()
        await served.connected(0)


@pytest.mark.parametrize("value", [b"keep-alive", b"Keep-Alive", b"TE", b""])
async def test_a_client_that_does_not_say_close_is_kept(value: bytes) -> None:
    async with serving() as served, connected(served.port) as client:
        got = await said(client, post(b"x", b"Connection: " + value))
        assert got.header("connection") is None
        await understood(client, post(b"y"))


async def test_what_comes_behind_the_last_request_is_not_served() -> None:
    async with serving() as served, connected(served.port) as client:
        client.expect()
        client.send(post(b"x", b"Connection: close") + PING)
        got = await client.disconnected()
        assert got.status == 200
        client.send(PING)
        client.close()
        await served.connected(0)
        assert not client.surplus
        assert len(served.requests) == 1


@both_loops
async def test_a_last_answer_arrives_whole_although_the_client_goes_on_sending() -> None:
    def answer(inbound: Inbound) -> None:
        inbound.respond(200, (), LARGE)

    async with serving(answer) as served, connected(served.port) as client:
        client.expect()
        client.send(post(b"x", b"Connection: close") + bytes(1 << 20))
        got = await client.disconnected()
        assert got.whole
        assert got.body == LARGE
        assert got.ended == "fin"


# Pipelining.


@both_loops
async def test_pipelined_requests_are_answered_in_their_order() -> None:
    async with serving() as served, connected(served.port) as client:
        client.expect("GET")
        client.send(b"".join(map(ping, range(20))))
        assert await paths(client, 20) == [f"/{n}" for n in range(20)]
        assert not client.surplus


async def test_a_pipelined_request_is_handed_over_after_the_answer_before_it() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(ping(0) + ping(1) + post(b"x", target=b"/2"))
        for number in range(3):
            inbound = await served.request(number + 1)
            assert len(served.requests) == number + 1
            assert inbound.path == f"/{number}"
            echo(inbound)
        assert await paths(client, 3) == ["/0", "/1", "/2"]


async def test_pieces_of_pipelined_answers_never_mix() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(ping(0) + ping(1))
        first = await served.request()
        first.start(200)
        first.write(b"slow")
        await client.body_of(4)
        assert len(served.requests) == 1
        first.finish(b"ly")
        assert (await client.over()).body == b"slowly"
        second = client.expect("GET")
        (await served.request(2)).respond(200, (), b"next")
        assert (await client.over()) is second
        assert second.body == b"next"


async def test_a_client_that_sends_many_requests_ahead_is_not_read_on() -> None:
    async with serving(hold) as served, wired(served) as (connection, wire):
        for number in range(100):
            if wire.reading:
                connection.data_received(ping(number))
        assert not wire.reading
        assert len(connection._reader.requests) < 10
        answered = 0
        while answered < len(served.requests):
            echo(served.requests[answered])
            answered += 1
            await asyncio.sleep(0)
        assert wire.reading
        assert answered < 10


async def test_requests_sent_ahead_are_bounded_although_they_are_answered_at_once() -> None:
    waiting: list[int] = []

    def answer(inbound: Inbound) -> None:
        waiting.append(len(served.connection._reader.requests))
        inbound.respond(204)

    async with serving(answer) as served, connected(served.port) as client:
        client.stop_reading()
        segment = PING * 2000
        for _ in range(40):
            client.send(segment)
        await served.request(20_000)
        # What one read can bring (256 KiB), and what is over from the read before it.
        assert max(waiting) < 3 * 256 * 1024 / len(PING)


async def test_a_pipelining_client_that_does_not_read_is_not_answered_without_end() -> None:
    def answer(inbound: Inbound) -> None:
        inbound.respond(200, (), LARGE)

    async with serving(answer) as served, slow_reader(served.port) as client:
        client.send(PING * 30)
        await eventually(lambda: served.requests and served.connection.write_paused)
        before = -1
        while before < len(served.requests):
            before = len(served.requests)
            for _ in range(50):
                await asyncio.sleep(0)
        assert before < 15
        assert served.connection._transport.get_write_buffer_size() < 4 * len(LARGE)
        client.expect("GET")
        client.read_on()
        for _ in range(30):
            assert (await client.over()).whole
            client.expect("GET")


async def test_a_client_that_leaves_takes_its_pipelined_requests_along() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.send(PING * 3)
        inbound = await served.request()
        client.reset()
        await served.connected(0)
        assert served.gone == [inbound]
        assert len(served.requests) == 1


# Expect: 100-continue.


@both_loops
@pytest.mark.parametrize("framing", [b"Content-Length: 5", b"Transfer-Encoding: chunked"])
async def test_a_client_that_asks_first_is_told_to_go_on(framing: bytes) -> None:
    async with serving() as served, connected(served.port) as client:
        client.expect()
        client.send(request(b"Expect: 100-continue", framing))
        got = await client.until(lambda answer: answer.interim)
        assert not served.requests
        client.send(chunked(b"hello") if b"chunked" in framing else b"hello")
        await client.over()
        assert [head.raw for head in got.interim] == [CONTINUE + b"\r\n\r\n"]
        assert got.json()["body"] == "hello"


async def test_a_client_of_http_1_0_is_never_sent_an_interim_answer() -> None:
    async with serving() as served, connected(served.port) as client:
        data = b"POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello"
        got = await said(client, data)
        assert got.status == 200
        assert not got.interim


async def test_nobody_waits_for_a_body_of_no_bytes() -> None:
    async with serving() as served, connected(served.port) as client:
        got = await said(client, post(b"", b"Expect: 100-continue"))
        assert got.status == 200
        assert not got.interim


async def test_a_pipelined_client_that_asks_first_is_told_to_go_on_in_its_turn() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(PING + request(b"Expect: 100-continue", b"Content-Length: 5"))
        inbound = await served.request()
        inbound.start(200)
        inbound.write(b"first")
        await client.body_of(5)
        inbound.finish()
        assert not (await client.over()).interim
        client.expect()
        await client.until(lambda answer: answer.interim)
        client.send(b"hello")
        (await served.request(2)).respond(200)
        assert (await client.over()).status == 200


# The same bytes on a wire that takes no time.


async def test_a_refused_request_is_the_last_thing_on_its_wire() -> None:
    async with serving() as served, wired(served) as (connection, wire):
        await feed(connection, wire, [PING, b"nonsense\r\n\r\n", PING])
        assert wire.written.count(b"HTTP/1.1 200 OK") == 1
        assert wire.written.count(b"HTTP/1.1 400 ") == 1
        assert wire.ended


async def test_many_clients_at_once_get_their_own_answers() -> None:
    async def ask(served: Served, number: int) -> None:
        async with connected(served.port) as client:
            for turn in range(3):
                body = b"%d/%d" % (number, turn)
                assert (await understood(client, post(body)))["body"] == body.decode()

    async with serving(limits=Limits(connections=60)) as served:
        await asyncio.gather(*(ask(served, number) for number in range(50)))
        await served.connected(0)
        assert len(served.requests) == 150
        assert not served.gone
