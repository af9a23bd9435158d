"""What the control plane waits for and keeps has an end, whoever asks and whatever for."""

import asyncio

import pytest

from cacheroute.planes.control_owner import ControlRules
from cacheroute.runtime import control_protocol
from cacheroute.runtime.control_protocol import HEAD_BYTES, BoundedProtocol
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
            client.send(HEALTH.replace(b"healthz", b"metrics") * 50)
            await asyncio.sleep(0.01)
