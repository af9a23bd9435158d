"""The program itself: real processes on the loopback, ended by their pid."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from cacheroute.member.running import EXIT_CANNOT_LISTEN
from cacheroute.wire import paths
from tests.cacheroute.demo.scheduler.parts import chat, fake_kdn
from tests.support.backend import refusing, scripted
from tests.support.client import fetch, post

PROGRAM = [sys.executable, "-m", "cacheroute.demo.scheduler"]

Process = asyncio.subprocess.Process


async def started(*argv: str) -> Process:
    environ = {key: value for key, value in os.environ.items() if key[:11] != "CACHEROUTE_"}
    return await asyncio.create_subprocess_exec(
        *PROGRAM, *argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ
    )


@contextlib.asynccontextmanager
async def program(*argv: str) -> AsyncIterator[tuple[Process, int, int]]:
    """Run a Scheduler, give its two ports, and see to it that it ends."""
    process = await started("--port", "0", "--cp-port", "0", *argv)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(20):
            lines = [(await process.stdout.readline()).decode() for _ in range(2)]
        assert lines[0].startswith("listening on http://127.0.0.1:"), lines
        assert lines[1].startswith("control on http://127.0.0.1:"), lines
        service, control = (int(line.rpartition(":")[2]) for line in lines)
        yield process, service, control
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def ended(process: Process) -> tuple[int | None, str]:
    """Wait for the end; return the exit code and all of stderr."""
    async with asyncio.timeout(20):
        _, errors = await process.communicate()
    return process.returncode, errors.decode()


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
