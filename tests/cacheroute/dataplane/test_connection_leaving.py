"""A client that leaves is noticed; one that only stops sending is served."""

import pytest

from tests.cacheroute.dataplane.wire_parts import (
    HOST,
    PING,
    both_loops,
    echo,
    hold,
    request,
    serving,
)
from tests.support.client import connected
from tests.support.waiting import eventually


@both_loops
async def test_a_client_that_stops_sending_still_gets_its_answer() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        client.half_close()
        got = await client.until(lambda answer: answer.interim)
        served.tick(1000.0)
        assert not served.gone
        inbound.start(200)
        inbound.write(b"one")
        await client.body_of(3)
        served.tick(1000.0)
        inbound.finish(b"two")
        await client.disconnected()
        assert got.whole
        assert got.body == b"onetwo"
        assert [head.start for head in got.interim] == [b"HTTP/1.1 100 Continue"]
        await served.connected(0)
        assert not served.gone


async def test_a_quick_answer_after_a_half_close_has_no_interim_answer() -> None:
    async with serving() as served, connected(served.port) as client:
        client.ask()
        client.half_close()
        got = await client.disconnected()
        assert got.whole
        assert not got.interim
        await served.connected(0)


async def test_all_pipelined_requests_are_answered_after_a_half_close() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(PING * 3)
        client.half_close()
        for number in range(3):
            echo(await served.request(number + 1))
            assert (await client.over()).status == 200
            client.expect("GET")
        await client.disconnected()
        await served.connected(0)
        assert not served.gone


@both_loops
async def test_a_client_that_has_closed_altogether_is_noticed_before_its_answer() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        client.close()
        await served.connected(0)
        assert served.gone == [inbound]


@both_loops
async def test_a_client_that_has_closed_altogether_is_noticed_by_the_next_piece() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.start(200)
        inbound.write(b"one")
        await client.body_of(3)
        client.close()

        def noticed() -> bool:
            if not served.gone:
                inbound.write(b"more")
            return bool(served.gone)

        await eventually(noticed)
        assert served.gone == [inbound]
        await served.connected(0)


async def test_a_reset_that_the_loop_did_not_hear_is_noticed_by_a_tick() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        client.half_close()
        await client.until(lambda answer: answer.interim)
        client.reset()

        def noticed() -> bool:
            served.tick(0.01)
            return not served.server.connections

        await eventually(noticed)
        assert served.gone == [inbound]


async def test_a_client_of_http_1_0_is_never_probed() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(b"GET / HTTP/1.0\r\n\r\n")
        inbound = await served.request()
        client.half_close()
        connection = served.connection
        await eventually(lambda: connection._eof)
        assert connection._probe is not None
        connection._probe._ask()
        inbound.respond(200, (), b"x")
        got = await client.disconnected()
        assert got.body == b"x"
        assert not got.interim


@both_loops
@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\n" + HOST,
        request(b"Content-Length: 5") + b"hell",
        request(b"Transfer-Encoding: chunked") + b"5\r\nhello\r\n",
    ],
    ids=["nothing", "half a line", "half a head", "half a body", "no last chunk"],
)
async def test_a_client_that_leaves_with_half_a_request_is_forgotten(begun: bytes) -> None:
    async with serving() as served, connected(served.port) as client:
        client.expect("GET")
        client.send(PING)
        await client.over()
        client.expect()
        client.send(begun)
        client.half_close()
        got = await client.disconnected()
        assert got.head is None
        await served.connected(0)
        assert len(served.requests) == 1
        assert not served.gone


async def test_half_a_request_behind_a_running_one_does_not_hold_the_connection() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(PING + b"GET / HTTP/1.1\r\nHo")
        inbound = await served.request()
        client.half_close()
        inbound.respond(204)
        got = await client.disconnected()
        assert got.status == 204
        await served.connected(0)
        assert len(served.requests) == 1


@both_loops
async def test_a_cut_answer_arrives_also_where_its_client_has_sent_on() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(PING * 5)
        inbound = await served.request()
        await eventually(lambda: served.connection._reading_paused)
        client.send(PING * 1000)
        inbound.start(200)
        inbound.write(b"as far as it went")
        inbound.cut()
        got = await client.disconnected()
        assert (got.body, got.cut, got.ended) == (b"as far as it went", True, "fin")
        client.close()
        await served.connected(0)
        assert not served.gone
