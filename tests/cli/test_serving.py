"""A server and its attachment, run and ended together: real processes, a real Proxy."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cacheroute.client.control import ControlClient
from cacheroute_cli.attaching import Attaching
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.server_command import ServerCommand
from cacheroute_cli.serving import Serving, foreground
from cacheroute_cli.supervisor.ports import is_free
from tests.cli.commands.conftest import Cli, cli, state
from tests.cli.supervisor.children import an_environment, eventually

__all__ = ["cli", "state"]

ANY_PORT = ("--port", "0", "--cp-port", "0")
MUTE = (sys.executable, "-c", "import time; time.sleep(60)")
SERVER = (sys.executable, "-m", "cacheroute.demo.instance", "--model", "m")


def a_free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.fixture
def control(cli: Cli) -> str:
    """Give the control plane of a Proxy that runs."""
    started = cli("proxy", "start", *ANY_PORT, "-o", "json")
    assert started.code == Exit.OK, started.err
    url: str = started.document["items"][0]["urls"]["control"]
    return url


def alive(control: str) -> list[str]:
    with ControlClient(control) as client:
        return [instance.instance_id for instance in client.instances()]


def marked(mark: str) -> list[int]:
    """Return the processes that inherited this mark."""
    wanted = f"CR_TEST_MARK={mark}".encode()
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and wanted in Path(f"/proc/{entry}/environ").read_bytes():
                found.append(int(entry))
        except OSError:
            continue
    return found


def _arguments(pid: int) -> tuple[str, ...]:
    return tuple(Path(f"/proc/{pid}/cmdline").read_text().split("\0"))


@contextmanager
def in_the_foreground(control: str, port: str, mark: str) -> Iterator[subprocess.Popen[str]]:
    command = [
        sys.executable, "-m", "cacheroute_cli", "instance", "run", "--proxy-url", control,
        "--instance-id", "i-1", "--no-agent", "--port", port, "--",
        *SERVER, "--port", port,
    ]  # fmt: skip
    environ = an_environment(
        CR_TEST_MARK=mark, CACHEROUTE_STATE_DIR=os.environ["CACHEROUTE_STATE_DIR"]
    )
    with subprocess.Popen(
        command, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def test_an_interrupt_takes_it_out_of_the_pool_and_ends_the_server(control: str) -> None:
    port = a_free_port()
    with in_the_foreground(control, port, "interrupt") as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        assert lines[0].startswith("instance  i-1  running  pid ")
        assert [line.split()[0] for line in lines[1:]] == ["url", "proxy", "log"]
        assert alive(control) == ["i-1"]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)

    assert (process.returncode, alive(control)) == (0, [])
    assert (out, err) == ("", f"cacheroute: starting at http://127.0.0.1:{port}\n")
    assert marked("interrupt") == []


def test_a_kill_of_the_command_leaves_no_child(control: str) -> None:
    with in_the_foreground(control, a_free_port(), "kill") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("instance  i-1  running")
        assert len(marked("kill")) == 3
        process.kill()
        process.communicate(timeout=30)

    assert eventually(lambda: marked("kill") == [])
    assert alive(control) == []


def test_a_server_that_dies_ends_it_with_its_last_words(control: str) -> None:
    port = a_free_port()
    with in_the_foreground(control, port, "dies") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("instance  i-1  running")
        [server] = [pid for pid in marked("dies") if _arguments(pid)[1:3] == SERVER[1:3]]
        os.kill(server, signal.SIGKILL)
        _, err = process.communicate(timeout=30)

    assert process.returncode == Exit.FAILED
    assert "was ended by signal 9 after" in err
    assert "  listening on http://" in err
    assert (marked("dies"), alive(control)) == ([], [])


def test_in_the_background_it_is_found_and_stopped_by_its_name(cli: Cli, control: str) -> None:
    port = a_free_port()
    started = cli(
        "instance", "run", "-d", "--proxy-url", control, "--instance-id", "i-1", "--no-agent",
        "--", *SERVER, "--port", port,
    )  # fmt: skip
    assert started.code == Exit.OK, started.err
    assert started.out.startswith("instance  i-1  running  pid ")
    assert alive(control) == ["i-1"]

    again = cli("instance", "run", "-d", "--instance-id", "i-1", "--", *SERVER, "--port", port)
    assert (again.code, "i-1 runs already" in again.err) == (Exit.CONFLICT, True)

    assert cli("instance", "stop", "i-1").code == Exit.OK
    assert alive(control) == []
    assert eventually(lambda: is_free("127.0.0.1", int(port)))


@pytest.mark.parametrize("detached", [(), ("-d",)])
@pytest.mark.parametrize(
    ("options", "server", "exit_code", "why"),
    [
        ((), (*SERVER, "--speed", "-3"), Exit.FAILED, "must be a number from 0.01"),
        (
            # As long as it may be: the attachment may not be told to wait for longer.
            ("--model", "x", "--start-timeout", "86400"),
            SERVER,
            Exit.USAGE,
            "does not serve 'x'; it serves 'm'",
        ),
        (("--start-timeout", "1"), MUTE, Exit.WAIT_TIMED_OUT, "within 1 s"),
    ],
)
def test_what_does_not_come_up_is_told_in_its_words_and_leaves_nothing(
    cli: Cli,
    control: str,
    detached: tuple[str, ...],
    options: tuple[str, ...],
    server: tuple[str, ...],
    exit_code: Exit,
    why: str,
) -> None:
    port = a_free_port()
    said = cli(
        "instance", "run", *detached, *options, "--proxy-url", control, "--no-agent",
        "--instance-id", "i-1", "--", *server, "--port", port,
    )  # fmt: skip

    assert (said.code, said.out) == (exit_code, "")
    assert why in said.err
    assert (alive(control), is_free("127.0.0.1", int(port))) == ([], True)
    assert cli("instance", "stop", "i-1").out == ""


def test_a_taken_port_is_told_before_anything_starts(cli: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = cli("instance", "run", "--", *SERVER, "--port", port)

    assert said.code == Exit.CONFLICT
    assert f"port {port} for the server is taken by pid {os.getpid()}" in said.err


def test_the_foreground_is_told_all_that_was_said(cli: Cli) -> None:
    serving = Serving(
        command=ServerCommand(
            argv=("/bin/vllm", "serve", "--x"), name="vllm", bind_host="::", host="h", port=7
        ),
        attaching=Attaching(
            endpoint="http://h:7",
            proxy_url="http://p:1",
            token="s3cret",
            model="m",
            instance_id="i",
            tags="a",
            weight=2.0,
            api_key_env="KEY",
            agent_url="http://a:1",
            no_agent=True,
            kdn_targets="k:1",
        ),
        start_timeout_s=5.0,
        grace_s=2.5,
    )

    assert " ".join(foreground(serving)) == (
        "instance run --proxy-url http://p:1 --port 7 --advertise-host h --start-timeout 5 "
        "--grace 2.5 --model m --instance-id i --tags a --weight 2.0 --api-key-env KEY "
        "--agent-url http://a:1 --kdn-targets k:1 --no-agent -- /bin/vllm serve --x"
    )
