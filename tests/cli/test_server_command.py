"""Where a server will listen, from the command that starts it."""

import sys
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.server_command import ServerCommand, read_server_command


def read(*command: str, port: int | None = None, host: str | None = None) -> ServerCommand:
    return read_server_command(command, port=port, advertise_host=host)


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put programs of these names on the path."""
    for name in ("vllm", "sglang", "llama-server", "mine", "python3"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.parametrize(
    ("command", "name", "port"),
    [
        ("vllm serve m", "vllm", 8000),
        ("vllm serve m --port 8100", "vllm", 8100),
        ("vllm serve m --port=8100 --port 8200", "vllm", 8200),
        ("python3 -m vllm.entrypoints.openai.api_server --model m", "vllm", 8000),
        ("python3 -m sglang.launch_server", "sglang", 30000),
        ("llama-server -m model.gguf", "llama-server", 8080),
        ("mine --port 5", "mine", 5),
    ],
)
def test_the_port_is_that_of_the_command_or_the_servers_usual_one(
    command: str, name: str, port: int, tmp_path: Path
) -> None:
    server = read(*command.split())

    assert (server.name, server.port, server.url) == (name, port, f"http://127.0.0.1:{port}")
    assert server.argv == (str(tmp_path / command.split()[0]), *command.split()[1:])


@pytest.mark.parametrize(
    ("command", "host", "bind_host", "reached_at"),
    [
        ("vllm serve m", None, "127.0.0.1", "127.0.0.1"),
        ("vllm serve m --host 0.0.0.0", None, "0.0.0.0", "127.0.0.1"),
        ("vllm serve m --host 0.0.0.0", "gpu-1", "0.0.0.0", "gpu-1"),
        ("vllm serve m --host 10.0.0.7", None, "10.0.0.7", "10.0.0.7"),
        ("vllm serve m --host [::1]", None, "::1", "::1"),
    ],
)
def test_it_is_reached_where_it_binds_unless_that_is_everywhere(
    command: str, host: str | None, bind_host: str, reached_at: str
) -> None:
    server = read(*command.split(), host=host)

    assert (server.bind_host, server.host) == (bind_host, reached_at)


def test_an_address_of_ipv6_stands_in_brackets() -> None:
    assert read("vllm", "--host", "::1").url == "http://[::1]:8000"


@pytest.mark.parametrize(
    ("command", "port", "why"),
    [
        ((), None, "there is no command to run"),
        (("nosuch",), None, "there is no program called 'nosuch'"),
        (("mine",), None, "not known on which port mine will listen"),
        (("mine", "--port", "auto"), None, "not known on which port"),
        (("mine", "--port"), None, "not known on which port"),
        (("vllm", "--port", "1"), 2, "--port says 2, and the command itself says 1"),
    ],
)
def test_what_cannot_be_run_or_found_is_a_usage_fault(
    command: tuple[str, ...], port: int | None, why: str
) -> None:
    with pytest.raises(UsageFault, match=why):
        read(*command, port=port)


def test_a_port_that_is_said_needs_none_in_the_command() -> None:
    assert read("mine", port=7).port == 7
    assert read(sys.executable, "-c", "pass", port=7).argv[0] == sys.executable
