"""What the control plane waits for and keeps has an end, whoever asks and whatever for."""

import asyncio
from typing import cast

import pytest

from cacheroute.planes.control_owner import ControlRules
from cacheroute.runtime import control_protocol, lingering
from cacheroute.runtime.control_protocol import HEAD_BYTES, PIPELINED_MAX, BoundedProtocol
from cacheroute.runtime.control_server import ControlServer
from tests.cacheroute.runtime.test_control_server import running
from tests.support.client import connected
from tests.support.waiting import eventually

LINES = b"".join(b"X-%d: %b\r\n" % (number, b"v" * 90) for number in range(100))
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
CHUNKED = b"POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"


async def test_a_head_without_an_end_is_refused_before_anybody_looks_at_it() -> None:
    async with running(ControlRules(token="secret")) as server, connected(server.port) as client:
        client.expect("GET")
        client.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\n")
        sent = 0
        while not client.answer.ended and sent < 10 * HEAD_BYTES:
            client.send(LINES)
            sent += len(LINES)
            await asyncio.sleep(0)
        assert (await client.over()).status == 431


async def test_trailers_without_an_end_are_cut_off() -> None:
    async with running() as server, connected(server.port) as client:
        client.expect("POST")
        client.send(CHUNKED)
        while not client.answer.ended:
            client.send(LINES)
            await asyncio.sleep(0.001)


async def test_a_large_head_and_a_larger_body_are_fine() -> None:
    async with running() as server, connected(server.port) as client:
        lines = [(f"X-{number}", "v" * 90) for number in range(500)]
        client.ask("GET", "/healthz", lines)
        assert (await client.over()).status == 200
        client.ask("POST", "/v1/instance/heartbeat", body=bytes(500_000))
        assert (await client.over()).status == 422
        client.ask("GET", "/healthz", lines)
        assert (await client.over()).status == 200


@pytest.mark.parametrize("before", [b"", HEALTH], ids=["at first", "later"])
@pytest.mark.parametrize("begun", [b"\r\n", b"GE", HEALTH[:-2]])
async def test_a_head_that_does_not_come_is_not_waited_for(
    before: bytes, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_protocol, "HEAD_WITHIN_S", 0.05)
    async with running() as server, connected(server.port) as client:
        if before:
            client.expect("GET")
            client.send(before)
            assert (await client.over()).status == 200
        client.expect("GET")
        client.send(begun)
        await client.disconnected()


async def test_who_asks_for_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_protocol, "HEAD_WITHIN_S", 0.05)
    async with running() as server, connected(server.port) as client:
        await client.disconnected()


async def test_who_has_been_answered_may_rest_as_long_as_others() -> None:
    async with running() as server, connected(server.port) as client:
        assert server._server is not None
        for _ in range(2):
            client.ask("GET", "/healthz")
            assert (await client.over()).status == 200
        (connection,) = server._server.server_state.connections
        assert isinstance(connection, BoundedProtocol)
        assert connection._head_timer is None
        await eventually(lambda: connection.timeout_keep_alive_task is not None)


async def test_who_does_not_read_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_protocol, "READ_WITHIN_S", 0.05)
    async with running() as server, connected(server.port) as client:
        client.stop_reading()
        while not client._transport.is_closing():
            client.send(HEALTH.replace(b"healthz", b"metrics") * 20)
            await asyncio.sleep(0.01)


HEARTBEAT = b"POST /v1/instance/heartbeat HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"


@pytest.mark.parametrize("begun", [0, 500_000])
async def test_a_body_that_drips_is_answered_408_and_closed(begun: int) -> None:
    async with (
        running(ControlRules(body_timeout_s=0.05)) as server,
        connected(server.port) as client,
    ):
        client.expect("POST")
        client.send(HEARTBEAT + bytes(begun))
        while not client.answer.whole and not client.answer.ended:
            client.send(b"x")
            await asyncio.sleep(0.001)
        got = await client.disconnected()
        assert got.status == 408
        assert "within 0.05 s (control.body_timeout_s)" in got.json()["detail"]
        assert got.header("connection") == "close"
        assert got.ended == "fin"


async def test_an_answer_to_a_body_that_is_too_large_arrives_while_it_is_still_sent() -> None:
    async with running() as server, connected(server.port) as client:
        client.expect("POST")
        client.send(HEARTBEAT.replace(b"1000000", b"9000000") + bytes(2_000_000))
        got = await client.disconnected()
        assert got.status == 413
        assert got.ended == "fin"


async def test_who_goes_on_sending_after_a_refusal_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lingering, "LINGER_S", 0.05)
    async with (
        running(ControlRules(body_timeout_s=0.05)) as server,
        connected(server.port) as client,
    ):
        client.expect("POST")
        client.send(HEARTBEAT)
        while not client._transport.is_closing():
            client.send(b"x")
            await asyncio.sleep(0.001)
        assert client.answer.status == 408
        await nobody_is_left(server)


async def test_one_client_too_many_is_told_and_closed_and_takes_nobodys_place() -> None:
    async with running(ControlRules(connections=2)) as server, connected(server.port) as first:
        first.ask("GET", "/healthz")
        assert (await first.over()).status == 200
        async with connected(server.port) as second:
            second.ask("GET", "/healthz")
            assert (await second.over()).status == 200
            for _ in range(5):
                async with connected(server.port) as third:
                    third.expect("GET")
                    got = await third.disconnected()
                    assert got.status == 503
                    assert b"control.connections" in got.body
            first.ask("GET", "/healthz")
            assert (await first.over()).status == 200
        await eventually(lambda: len(connections(server)) == 1)
        async with connected(server.port) as another:
            another.ask("GET", "/healthz")
            assert (await another.over()).status == 200


async def test_who_sends_thousands_of_requests_ahead_is_cut_off() -> None:
    async with running(ControlRules(token="secret")) as server, connected(server.port) as client:
        client.expect("GET")
        client.send(b"GET /nothing HTTP/1.1\r\nHost:\r\n\r\n" * 5000)
        await client.disconnected()
        await nobody_is_left(server)


async def test_a_few_requests_may_be_sent_ahead() -> None:
    async with running() as server, connected(server.port) as client:
        client.expect("GET")
        client.send(HEALTH * PIPELINED_MAX)
        for _ in range(PIPELINED_MAX):
            assert (await client.over()).status == 200
            client.expect("GET")


def connections(server: ControlServer) -> set[BoundedProtocol]:
    assert server._server is not None
    return cast(set[BoundedProtocol], server._server.server_state.connections)


async def nobody_is_left(server: ControlServer) -> None:
    await eventually(lambda: not connections(server))


async def test_lines_without_an_end_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece that is read holds forty thousand of them."""
    monkeypatch.setattr(lingering, "LINGER_S", 0.05)
    async with running() as server, connected(server.port) as client:
        client.expect("POST")
        client.send(CHUNKED[:-2] + b"X: y\r\n" * 40_000)
        await client.disconnected()
        await nobody_is_left(server)
    async with running() as server, connected(server.port) as client:
        client.expect("GET")
        client.send(HEALTH[:-2] + b"X: y\r\n" * 40_000 + b"\r\n")
        got = await client.disconnected()
        assert got.status == 400
