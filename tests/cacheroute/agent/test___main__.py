import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

DEADLINE_S = 30


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "cacheroute.agent", *arguments]


@contextmanager
def started(*arguments: str, **environ: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run an agent, and hand over its process and its URL."""
    with subprocess.Popen(
        command("--listen", "127.0.0.1:0", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environ},
    ) as process:
        try:
            assert process.stdout is not None
            word, _, url = process.stdout.readline().rpartition(" ")
            assert word == "listening on"
            yield process, url.strip()
        finally:
            process.kill()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_an_agent_serves_a_snapshot_and_leaves_in_order(stop: signal.Signals) -> None:
    with started(INSTANCE_ID="i-7") as (process, url):
        snapshot = httpx.get(f"{url}/v1/resource/snapshot", timeout=DEADLINE_S).json()
        process.send_signal(stop)
        out, err = process.communicate(timeout=DEADLINE_S)

    assert snapshot["instance_id"] == "i-7"
    assert snapshot["devices"]["memory"]["total_mb"] > 0
    assert (process.returncode, out, err) == (0, "", "")


def test_a_client_that_keeps_its_connection_does_not_keep_the_agent() -> None:
    with started() as (process, url):
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=DEADLINE_S) as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: agent\r\n\r\n")
            assert client.recv(4096).startswith(b"HTTP/1.1 200")
            process.terminate()
            assert process.wait(timeout=DEADLINE_S) == 0


def test_a_taken_port_is_one_line_and_exit_5() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run(
            command("--listen", address),
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

    assert done.returncode == 5
    assert done.stdout == ""
    assert done.stderr == (
        f"cacheroute: error: cannot listen on {address}: Address already in use\n"
    )


def test_a_wrong_option_is_one_line_and_exit_2() -> None:
    done = subprocess.run(
        command("--sample-interval-ms", "soon"),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )

    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error.startswith("cacheroute: error: --sample-interval-ms: ")
    assert hint.startswith("  hint: ")


def test_an_address_that_others_can_reach_is_warned_about() -> None:
    done = subprocess.run(
        command("--listen", "192.0.2.1:0"),  # reserved for examples: nobody has it
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )

    warning, complaint = done.stderr.splitlines()
    assert warning == "cacheroute: note: anyone who can reach 192.0.2.1 can read this host's load"
    assert complaint.startswith("cacheroute: error: cannot listen on 192.0.2.1:0: ")
    assert done.returncode == 5


def test_help_names_every_option_and_its_default() -> None:
    done = subprocess.run(
        command("--help"),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=True,
        env={**os.environ, "COLUMNS": "200"},
    )

    for text in ("--listen HOST:PORT", "127.0.0.1:9201", "1000", "5000", "20", "INSTANCE_ID"):
        assert text in done.stdout


def test_starting_loads_no_web_framework() -> None:
    heavy = ("fastapi", "pydantic", "httpx", "uvicorn", "starlette", "rich", "typer")
    program = (
        "import sys, cacheroute.agent.__main__, cacheroute.agent.app; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=True,
    )

    assert done.stdout == "[]\n"
