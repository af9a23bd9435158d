"""A Proxy as a process: its signals, its exit codes and its words."""

import asyncio
import errno
import json
import resource
import signal
import socket
from pathlib import Path

import pytest

from cacheroute.member.complaint import ERRORS_VARIABLE
from cacheroute.runtime import serve
from cacheroute.runtime.serve import Exit, say_taken
from tests.cacheroute.runtime.proxy_process import a_proxy_process, ran
from tests.support.backend import scripted
from tests.support.client import connected, fetch, post
from tests.support.openai_shapes import CHAT, DONE, chat, completion, token
from tests.support.script import END, Freeze, Gate, chunk, stream_head
from tests.support.sse import error_of
from tests.support.waiting import eventually_is

both_signals = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])


@both_signals
async def test_a_signal_lets_a_running_stream_end_and_then_the_process(
    number: signal.Signals, tmp_path: Path
) -> None:
    gate = Gate()
    reply = (stream_head(), chunk(token("a")), gate, chunk(token("b") + DONE), END)
    async with (
        scripted(reply) as backend,
        a_proxy_process(tmp_path, backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.ask("POST", CHAT, body=chat(stream=True))
        await client.body_of(1)
        proxy.process.send_signal(number)

        async def refuses() -> bool:
            with socket.socket() as sock:
                return sock.connect_ex(("127.0.0.1", proxy.service_port)) == errno.ECONNREFUSED

        await eventually_is(refuses, bool)
        assert proxy.process.returncode is None
        gate.open()
        got = await client.over()
        assert got.whole
        assert got.body == token("a") + token("b") + DONE
        assert await proxy.ended() == Exit.DONE
        assert not [line for line in proxy.said if "Traceback" in line]


async def test_a_second_signal_ends_it_at_once_and_tells_the_stream(tmp_path: Path) -> None:
    async with (
        scripted((stream_head(), chunk(token("a")), Freeze())) as backend,
        a_proxy_process(tmp_path, backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.ask("POST", CHAT, body=chat(stream=True))
        await client.body_of(1)
        proxy.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.2)
        assert proxy.process.returncode is None
        proxy.process.send_signal(signal.SIGTERM)
        assert await proxy.ended(within_s=5) == Exit.DONE
        got = await client.over()
        assert got.cut
        error = error_of(got.events[-1])
        assert error is not None
        assert error["code"] == "draining"
        assert not [line for line in proxy.said if "Traceback" in line]


async def test_without_work_a_signal_ends_it_at_once(tmp_path: Path) -> None:
    async with (
        scripted() as backend,
        a_proxy_process(tmp_path, backend.url) as proxy,
        connected(proxy.service_port) as idle,
    ):
        idle.ask("POST", CHAT, body=chat())
        assert (await idle.over()).json() == completion()
        proxy.process.send_signal(signal.SIGTERM)
        assert await proxy.ended(within_s=5) == Exit.DONE


async def test_it_says_where_it_listens_and_serves_there(tmp_path: Path) -> None:
    async with scripted() as backend, a_proxy_process(tmp_path, backend.url) as proxy:
        assert (await post(proxy.service_port, chat())).json() == completion()
        assert (await fetch(proxy.control_port, "GET", "/healthz")).json()["ok"] is True
        assert f"service http://127.0.0.1:{proxy.service_port}" in proxy.said[-1]


def lines_below(folder: Path) -> int:
    (log,) = folder.glob("*/requests.jsonl")
    return len(log.read_text().splitlines())


async def test_the_log_of_requests_is_whole_after_the_end(tmp_path: Path) -> None:
    async with scripted() as backend, a_proxy_process(tmp_path, backend.url) as proxy:
        await post(proxy.service_port, chat())
        proxy.process.send_signal(signal.SIGTERM)
        await proxy.ended()
        assert lines_below(tmp_path) == 1


@pytest.mark.parametrize("plane", ["proxy", "control"])
async def test_a_port_that_is_taken_ends_it_with_a_clear_line(plane: str, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        other = "control" if plane == "proxy" else "proxy"
        code, _, err = await ran(
            f"--set={plane}.port={port}", f"--set={other}.port=0", f"--set=state_dir={tmp_path}"
        )
    assert code == Exit.PORT_TAKEN
    assert f"cacheroute: error: cannot listen on 127.0.0.1:{port}: Address already in use" in err
    assert f"hint: choose another with --set {plane}.port=N" in err
    assert "Traceback" not in err


async def test_an_address_that_is_not_ours_ends_it_with_another_code(tmp_path: Path) -> None:
    code, _, err = await ran(
        "--set=proxy.host=192.0.2.1", "--set=control.port=0", f"--set=state_dir={tmp_path}"
    )
    assert code == Exit.FAILED
    assert "cannot listen on 192.0.2.1:8001" in err
    assert "Traceback" not in err


def test_the_exit_codes_are_the_published_ones() -> None:
    assert {code.name: code.value for code in Exit} == {
        "DONE": 0, "FAILED": 1, "BAD_CONFIG": 2, "PORT_TAKEN": 5,
    }  # fmt: skip


def test_a_taken_port_is_told_with_the_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    error = OSError(errno.EADDRINUSE, "Address already in use")
    assert say_taken("control", "::1", 8002, error) == Exit.PORT_TAKEN
    assert capsys.readouterr().err == (
        "cacheroute: error: cannot listen on [::1]:8002: Address already in use\n"
        "  hint: choose another with --set control.port=N, or see who has it: ss -ltnp\n"
    )


def test_a_program_reads_the_same_as_one_document(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ERRORS_VARIABLE, "json")
    error = OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")
    assert say_taken("proxy", "192.0.2.1", 8001, error) == Exit.FAILED
    assert json.loads(capsys.readouterr().err)["error"] == {
        "code": "process.failed",
        "message": "cannot listen on 192.0.2.1:8001: Cannot assign requested address",
        "hint": "choose another with --set proxy.port=N, or see who has it: ss -ltnp",
        "exit": 1,
    }


def test_as_many_descriptors_are_allowed_as_the_system_lets_us(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, int]] = []
    for limits in ((256, 4096), (4096, 4096), (256, resource.RLIM_INFINITY), (10**7, 10**7)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: asked.append(wanted))
        serve.raise_descriptor_limit()
    assert asked[0] == (4096, 4096)
    assert asked[1][0] > 4096
    assert asked[1][1] == resource.RLIM_INFINITY
    assert len(asked) == 2
