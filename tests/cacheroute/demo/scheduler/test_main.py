"""The program itself: real processes on the loopback, ended by their pid."""

import contextlib
import signal
import socket
from collections.abc import AsyncIterator
from functools import partial

import pytest

from cacheroute.member.running import EXIT_CANNOT_LISTEN
from cacheroute.wire import paths
from tests.cacheroute.demo.scheduler.parts import chat, fake_kdn
from tests.support.backend import refusing, scripted
from tests.support.client import fetch, post
from tests.support.programs import Process, ended, running, url_said
from tests.support.programs import started as start

started = partial(start, "cacheroute.demo.scheduler")


@contextlib.asynccontextmanager
async def program(*argv: str) -> AsyncIterator[tuple[Process, int, int]]:
    """Run a Scheduler, give its two ports, and see to it that it ends."""
    ports = ("--port", "0", "--cp-port", "0")
    async with running("cacheroute.demo.scheduler", *ports, *argv) as process:
        service, control = [
            int((await url_said(process, f"{plane} on")).rpartition(":")[2])
            for plane in ("listening", "control")
        ]
        yield process, service, control


@pytest.mark.parametrize("each", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_without_a_word(each: signal.Signals) -> None:
    async with program() as (process, service, control):
        for port in (service, control):
            assert (await fetch(port, "GET", paths.HEALTHZ)).status == 200
        process.send_signal(each)
        assert await ended(process) == (0, "")


async def test_it_serves_with_a_node_and_with_one_that_is_not_there() -> None:
    async with refusing() as dead, fake_kdn(a="Bread") as kdn, scripted() as proxy:
        nodes = ["--kdn", dead.removeprefix("http://"), "--kdn", kdn.address.authority]
        async with program(*nodes) as (process, service, control):
            body = b'{"host":"127.0.0.1","port":%d}' % proxy.port
            assert (await fetch(control, "POST", paths.PROXY_REGISTER, body=body)).status == 200
            answer = await post(service, chat(("user", "bread"), RAG=True))
            assert answer.status == 200
            process.terminate()
            code, errors = await ended(process)
        assert proxy.requests[0].json()["Service"]["Knowledge_List"] == ["a"]
    assert code == 0
    assert len(errors.splitlines()) == 2
    assert f"kdn {kdn.address.authority}: texts read: 1\n" in errors
    assert f"kdn {nodes[1]}: No connection to {nodes[1]}: " in errors


@pytest.mark.parametrize("name", ["--port", "--cp-port"])
async def test_a_taken_port_is_one_sentence(name: str) -> None:
    other = "--cp-port" if name == "--port" else "--port"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        code, errors = await ended(await started(name, port, other, "0"))
    assert code == EXIT_CANNOT_LISTEN
    assert errors.startswith(f"cacheroute: error: cannot listen on 127.0.0.1:{port}: ")
    assert errors.count("\n") == 1


async def test_an_option_that_cannot_be_is_exit_2() -> None:
    code, errors = await ended(await started("--port", "x"))

    assert code == 2
    assert errors.startswith("cacheroute: error: --port: ")
