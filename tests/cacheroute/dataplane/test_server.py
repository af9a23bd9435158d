"""A server: listening, how many it lets in, and how it ends."""

import asyncio
import socket

import pytest

from cacheroute.core.limits import Limits
from cacheroute.dataplane.connection import ClientConnection
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.server import HttpServer
from cacheroute.dataplane.sockets import bind
from tests.cacheroute.dataplane.wire_parts import (
    PING,
    both_loops,
    echo,
    hold,
    post,
    request,
    said,
    serving,
    understood,
)
from tests.support.client import connected, fetch
from tests.support.waiting import eventually


@both_loops
async def test_a_server_takes_a_free_port_and_answers_there() -> None:
    async with serving() as served:
        assert (await fetch(served.port, "GET", "/a")).json()["path"] == "/a"


async def test_a_taken_port_is_an_error() -> None:
    async with serving() as served:
        another = HttpServer(hold)
        with pytest.raises(OSError, match="in use"):
            await another.start("127.0.0.1", served.port)


async def test_a_server_can_be_given_its_listeners() -> None:
    server = HttpServer(echo)
    listeners = bind("127.0.0.1", 0) + bind("127.0.0.1", 0)
    ports = [listener.getsockname()[1] for listener in listeners]
    await server.start(listeners=listeners)
    assert server.port == ports[0]
    for port in ports:
        assert (await fetch(port, "GET", "/a")).status == 200
    await server.stop()
    for port in ports:
        with pytest.raises(OSError, match=r"refused|Connect call failed"):
            await fetch(port, "GET", "/a")


@both_loops
async def test_small_answers_are_never_held_back_by_the_kernel() -> None:
    async with serving() as served, connected(served.port):
        await served.connected(1)
        sock = served.connection._transport.get_extra_info("socket")
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_connections_are_counted_while_they_last() -> None:
    async with serving() as served:
        async with connected(served.port), connected(served.port) as second:
            await served.connected(2)
            second.reset()
            await served.connected(1)
        await served.connected(0)


@both_loops
async def test_one_connection_too_many_is_told_so_and_closed() -> None:
    async with serving(limits=Limits(connections=2)) as served:
        async with connected(served.port) as first, connected(served.port) as second:
            await served.connected(2)
            async with connected(served.port) as third:
                got = await third.disconnected()
                assert got.status == 503
                assert b"Too many connections" in got.body
                assert got.header("connection") == "close"
                assert got.ended == "fin"
            await served.connected(2)
            for client in (first, second):
                assert (await understood(client, PING, "GET"))["path"] == "/ping"
        await served.connected(0)
        assert (await fetch(served.port, "GET", "/")).status == 200


async def test_a_client_that_was_too_many_does_not_take_a_place_while_it_lingers() -> None:
    async with serving(limits=Limits(connections=1)) as served:
        async with connected(served.port) as first, connected(served.port) as lingering:
            await served.connected(2)
            assert (await lingering.disconnected()).status == 503
            first.reset()
            await served.connected(1)
            assert (await fetch(served.port, "GET", "/")).status == 200
        await served.connected(0)


async def test_a_client_that_was_too_many_and_had_written_already_reads_why() -> None:
    async with serving(limits=Limits(connections=1)) as served, connected(served.port):
        await served.connected(1)
        async with connected(served.port) as client:
            client.send(post(bytes(1 << 20)))
            got = await client.disconnected()
            assert got.status == 503
            assert got.whole
            assert got.ended == "fin"


@both_loops
async def test_a_stop_with_grace_lets_running_answers_end() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.start(200)
        inbound.write(b"one")
        await client.body_of(3)
        async with asyncio.TaskGroup() as group:
            stopping = group.create_task(served.server.stop(grace_s=5.0))
            await asyncio.sleep(0)
            with pytest.raises(OSError, match=r"refused|Connect call failed"):
                await fetch(served.port, "GET", "/")
            assert not stopping.done()
            inbound.finish(b"two")
            got = await client.disconnected()
            client.close()
        assert got.whole
        assert got.body == b"onetwo"
        assert got.ended == "fin"
        assert not served.gone


@both_loops
@pytest.mark.parametrize("grace_s", [0.0, 0.02])
async def test_a_stop_cuts_what_still_runs_and_tells_it(grace_s: float) -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.start(200)
        inbound.write(b"one")
        await client.body_of(3)
        await served.server.stop(grace_s)
        assert served.gone == [inbound]
        assert served.server.connections == 0
        got = await client.disconnected()
        assert got.ended == "reset"
        assert got.cut


async def test_a_stop_waits_for_nobody_when_nobody_is_connected() -> None:
    async with serving() as served:
        await served.server.stop(grace_s=1000.0)
        await served.server.stop(grace_s=1000.0)


async def test_idle_says_whether_everybody_has_left_in_time() -> None:
    async with serving() as served:
        assert await served.server.idle(0.0)
        async with connected(served.port):
            await served.connected(1)
            assert not await served.server.idle(0.0)
            assert not await served.server.idle(0.01)
        assert await served.server.idle(5.0)


async def test_when_new_clients_are_refused_idle_ones_are_closed_at_once() -> None:
    async with serving() as served, connected(served.port) as used, connected(served.port) as fresh:
        await understood(used, PING, "GET")
        await served.connected(2)
        served.server.refuse_new()
        for client in (used, fresh):
            assert (await client.disconnected()).ended == "fin"
        await served.connected(0)


async def test_when_new_clients_are_refused_the_running_answer_is_the_last() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(PING)
        inbound = await served.request()
        served.server.refuse_new()
        echo(inbound)
        got = await client.disconnected()
        assert got.whole
        assert got.header("connection") == "close"
        assert got.ended == "fin"


async def test_when_new_clients_are_refused_half_a_request_is_still_answered() -> None:
    async with serving() as served, connected(served.port) as client:
        head = request(b"Content-Length: 5")
        client.send(head + b"he")
        await served.connected(1)
        await eventually(lambda: served.connection._reader.in_body)
        served.server.refuse_new()
        client.expect()
        client.send(b"llo")
        got = await client.disconnected()
        assert got.json()["body"] == "hello"
        assert got.header("connection") == "close"


async def test_a_client_let_in_just_as_new_ones_are_refused_is_served_once() -> None:
    async with serving() as served:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            async with connected(listener.getsockname()[1]) as client:
                accepted, _ = listener.accept()
                served.server.refuse_new()
                await served.server.loop.connect_accepted_socket(
                    lambda: ClientConnection(served.server), accepted
                )
                client.expect("GET")
                client.send(PING)
                got = await client.disconnected()
                assert got.head is None or got.header("connection") == "close"
                assert got.ended == "fin"
                client.close()
                await served.connected(0)


async def test_a_handler_that_fails_takes_only_its_own_connection_along() -> None:
    def fail(inbound: Inbound) -> None:
        if inbound.path == "/fail":
            raise ZeroDivisionError
        echo(inbound)

    faults: list[dict[str, object]] = []
    async with serving(fail) as served, connected(served.port) as client:
        served.server.loop.set_exception_handler(lambda _, context: faults.append(context))
        client.expect("GET")
        client.send(request(target=b"/fail", method=b"GET"))
        assert (await client.disconnected()).head is None
        await served.connected(0)
        assert len(served.gone) == 1
        assert len(faults) == 1
        assert (await fetch(served.port, "GET", "/")).status == 200


async def test_a_pipelined_handler_that_fails_takes_its_connection_along_as_well() -> None:
    def fail(inbound: Inbound) -> None:
        if inbound.path == "/fail":
            raise ZeroDivisionError
        echo(inbound)

    faults: list[dict[str, object]] = []
    async with serving(fail) as served, connected(served.port) as client:
        served.server.loop.set_exception_handler(lambda _, context: faults.append(context))
        client.expect("GET")
        client.send(PING + request(target=b"/fail", method=b"GET"))
        assert (await client.over()).status == 200
        client.expect("GET")
        assert (await client.disconnected()).head is None
        await served.connected(0)
        assert len(served.gone) == 1
        assert len(faults) == 1


async def test_a_refusal_leaves_the_server_as_it_was() -> None:
    async with serving() as served:
        for _ in range(20):
            async with connected(served.port) as client:
                assert (await said(client, b"nonsense\r\n\r\n")).status == 400
        await served.connected(0)
        assert not served.server._sweeper.watched
