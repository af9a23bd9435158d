"""The control plane as something that starts and stops with everything else."""

import contextlib
import signal
import socket
from collections.abc import AsyncIterator

import pytest

from cacheroute.core.tally import Tally
from cacheroute.dataplane.sockets import bind
from cacheroute.planes.control_owner import ControlRules
from cacheroute.planes.metrics import Readings
from cacheroute.runtime.control_server import ControlServer
from tests.cacheroute.planes.control_parts import Owner
from tests.support.client import connected, fetch
from tests.support.waiting import eventually


def readings() -> Readings:
    return Readings(
        instances=(),
        nowhere=Tally(),
        by_liveness={"alive": 3},
        strategy="round_robin",
        decisions_total=0,
        unknown_calls_total=0,
        client_connections=0,
        request_memory_bytes=0,
        log_dropped_total=0,
    )


@contextlib.asynccontextmanager
async def running(rules: ControlRules | None = None) -> AsyncIterator[ControlServer]:
    server = ControlServer(Owner(), rules or ControlRules(), readings)
    await server.start(bind("127.0.0.1", 0))
    try:
        yield server
    finally:
        await server.stop()


async def test_it_answers_on_the_socket_it_was_handed() -> None:
    listeners = bind("127.0.0.1", 0)
    port = listeners[0].getsockname()[1]
    server = ControlServer(Owner(), ControlRules(), readings)
    await server.start(listeners)
    try:
        assert server.port == port
        got = await fetch(port, "GET", "/healthz")
        assert got.status == 200
        assert got.json()["ok"] is True
        assert got.header("server") is None
    finally:
        await server.stop()


async def test_the_metrics_page_is_there_and_has_its_own_type() -> None:
    async with running() as server:
        got = await fetch(server.port, "GET", "/metrics")
        assert got.status == 200
        kind = got.header("content-type") or ""
        assert kind.startswith("text/plain; version=")
        assert kind.count("charset") == 1
        assert b'cacheroute_instances{state="alive"} 3.0' in got.body


async def test_with_a_token_the_metrics_page_is_not_for_everybody() -> None:
    async with running(ControlRules(token="secret")) as server:
        assert (await fetch(server.port, "GET", "/metrics")).status == 401
        got = await fetch(server.port, "GET", "/metrics", [("Authorization", "Bearer secret")])
        assert got.status == 200
        assert (await fetch(server.port, "GET", "/healthz")).status == 200


async def test_no_variable_of_somebody_elses_says_who_is_local(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """uvicorn reads one, and with `*` in it a stranger could name any address as its own."""
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "192.0.2.1")
    monkeypatch.setenv("WEB_CONCURRENCY", "many")
    async with running() as server:
        # What a proxy on this machine says of its client is believed, whatever the variable says.
        lines = [("X-Forwarded-For", "198.51.100.7")]
        got = await fetch(server.port, "POST", "/v1/instance/unregister", lines, b"{}")
        assert (got.status, got.json()["error"]) == (403, "forbidden")


async def test_it_leaves_the_signals_of_the_process_alone() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    async with running():
        assert [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)] == before


async def test_after_stopping_nobody_listens_any_more() -> None:
    async with running() as server:
        port = server.port
    with socket.socket() as sock:
        assert sock.connect_ex(("127.0.0.1", port)) != 0


async def test_a_client_that_keeps_its_connection_open_holds_nobody_up() -> None:
    async with running() as server, connected(server.port) as client:
        client.ask("GET", "/healthz")
        await client.over()
        await server.stop()
        await eventually(lambda: client.answer.ended)


async def test_what_was_never_started_can_be_stopped() -> None:
    await ControlServer(Owner(), ControlRules(), readings).stop()
