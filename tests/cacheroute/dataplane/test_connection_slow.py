"""Clients that are slow: how long they may take, and what does not count as slowness."""

import pytest

from cacheroute.core.limits import Timeouts
from tests.cacheroute.dataplane.wire_parts import (
    PING,
    Served,
    all_but_stuck,
    both_loops,
    chunked,
    hold,
    post,
    request,
    serving,
    slow_reader,
    understood,
)
from tests.support.client import RawClient, connected
from tests.support.waiting import eventually

LIMITS = Timeouts(client_head_s=30.0, client_body_s=300.0, client_idle_s=75.0, client_write_s=60.0)
HEAD = request(b"Content-Length: 5")
LARGE = bytes(1 << 16)


async def arrived(client: RawClient, served: Served, data: bytes) -> None:
    """Send the beginning of a request, and wait until the server has it."""
    await served.connected(1)
    client.send(data)
    await eventually(lambda: served.connection._reader.in_message)


async def test_a_head_that_does_not_come_in_time_is_408() -> None:
    async with serving(timeouts=LIMITS) as served, connected(served.port) as client:
        await arrived(client, served, HEAD[:-3])
        served.tick(29.0)
        client.send(HEAD[-3:-2])
        served.tick(2.0)
        got = await client.disconnected()
        assert got.status == 408
        assert got.body == b"The request head took longer than 30 s (timeouts.client_head_s).\n"
        assert got.header("connection") == "close"
        assert not served.requests


@pytest.mark.parametrize(
    "begun", [HEAD + b"hell", request(b"Transfer-Encoding: chunked") + b"4\r\nhell\r\n0\r\nX: y"]
)
async def test_a_body_that_does_not_come_in_time_is_408(begun: bytes) -> None:
    async with serving(timeouts=LIMITS) as served, connected(served.port) as client:
        await arrived(client, served, begun)
        await eventually(lambda: served.connection._reader.in_body)
        served.tick(299.0)
        assert not client.answer.ended
        served.tick(2.0)
        got = await client.disconnected()
        assert got.status == 408
        assert got.body == b"The request body took longer than 300 s (timeouts.client_body_s).\n"
        assert not served.requests


@both_loops
async def test_slow_limits_fire_by_themselves() -> None:
    fast = Timeouts(client_head_s=0.04)
    async with serving(timeouts=fast) as served, connected(served.port) as client:
        client.send(HEAD[:-3])
        assert (await client.disconnected()).status == 408


async def test_idle_limits_fire_by_themselves() -> None:
    async with serving(timeouts=Timeouts(client_idle_s=0.04)) as served:
        async with connected(served.port) as client:
            assert (await client.disconnected()).ended == "fin"
        await served.connected(0)


@pytest.mark.parametrize("used", [False, True], ids=["never used", "used before"])
async def test_an_unused_connection_is_closed_without_a_word(used: bool) -> None:
    async with serving(timeouts=LIMITS) as served, connected(served.port) as client:
        await served.connected(1)
        served.tick(70.0)
        if used:
            await understood(client, post(b"x"))
            client.expect()
            served.tick(70.0)
        assert not client.answer.ended
        served.tick(6.0)
        got = await client.disconnected()
        assert got.head is None
        assert got.ended == "fin"
        await served.connected(0)


async def test_each_request_has_the_whole_time_for_itself() -> None:
    async with serving(timeouts=LIMITS) as served, connected(served.port) as client:
        for _ in range(3):
            await arrived(client, served, HEAD[:-3])
            served.tick(25.0)
            assert (await understood(client, HEAD[-3:] + b"hello"))["body"] == "hello"
            served.tick(25.0)


async def test_a_client_may_wait_for_its_answer_as_long_as_it_takes() -> None:
    async with serving(hold, timeouts=LIMITS) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        for _ in range(100):
            served.tick(100.0)
        inbound.start(200)
        inbound.write(b"one")
        await client.body_of(3)
        served.tick(10_000.0)
        inbound.finish(b"two")
        assert (await client.over()).body == b"onetwo"
        assert not served.gone


async def test_a_request_that_comes_slowly_behind_a_running_one_waits_for_its_own_time() -> None:
    async with serving(hold, timeouts=LIMITS) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(PING)
        inbound = await served.request()
        await arrived(client, served, HEAD[:-3])
        served.tick(200.0)
        inbound.respond(200)
        await client.over()
        served.tick(29.0)
        client.expect()
        client.send(HEAD[-3:] + b"hello")
        (await served.request(2)).respond(204)
        assert (await client.over()).status == 204


async def test_a_client_that_does_not_read_its_answer_is_cut_off() -> None:
    async with serving(hold, timeouts=LIMITS) as served, slow_reader(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.start(200)
        while not inbound.write_paused:
            inbound.write(LARGE)
        served.tick(59.0)
        assert served.server.connections == 1
        served.tick(2.0)
        await served.connected(0)
        assert served.gone == [inbound]
        client.read_on()
        assert (await client.disconnected()).ended == "reset"


async def test_a_client_that_does_not_read_the_end_of_its_answer_is_cut_off() -> None:
    async with serving(hold, timeouts=LIMITS) as served, slow_reader(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.start(200)
        while not inbound.write_paused:
            inbound.write(LARGE)
        inbound.finish()
        served.tick(61.0)
        await served.connected(0)
        assert not served.gone


@pytest.mark.parametrize("last", [False, True], ids=["kept", "closed"])
async def test_a_client_that_never_reads_a_small_rest_does_not_stay_for_ever(last: bool) -> None:
    async with serving(hold, timeouts=LIMITS) as served, slow_reader(served.port) as client:
        client.ask(headers=[("Connection", "close")] if last else [])
        inbound = await served.request()
        inbound.start(200)
        await all_but_stuck(served, inbound)
        inbound.finish()
        for _ in range(8):
            served.tick(50.0)
        await served.connected(0)


async def test_a_client_that_reads_steadily_is_never_too_slow() -> None:
    async with serving(hold, timeouts=LIMITS) as served, slow_reader(served.port) as client:
        client.ask()
        inbound = await served.request()
        transport = served.connection._transport
        inbound.respond(200, (), bytes(1 << 23))
        assert inbound.write_paused
        left = [transport.get_write_buffer_size()]
        while inbound.write_paused:
            client.read_on()
            await eventually(lambda: transport.get_write_buffer_size() < left[-1], every_s=0)
            client.stop_reading()
            left.append(transport.get_write_buffer_size())
            served.tick(50.0)
            assert served.server.connections == 1
        client.read_on()
        assert (await client.over()).whole


async def test_a_limit_of_a_slow_body_holds_for_chunks_that_trickle_as_well() -> None:
    async with serving(timeouts=LIMITS) as served, connected(served.port) as client:
        await arrived(client, served, request(b"Transfer-Encoding: chunked"))
        for _ in range(6):
            client.send(chunked(b"x")[:6])
            served.tick(51.0)
        assert (await client.disconnected()).status == 408
