"""`cacheroute proxy` with the real Proxy: started, found, stopped, refused."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli
from tests.cli.supervisor.children import an_environment, eventually, is_gone

ANY_PORT = ("--port", "0", "--cp-port", "0")


def test_a_proxy_is_started_found_and_stopped(cli: Cli, state: State) -> None:
    started = cli("proxy", "start", *ANY_PORT, "--proxy-id", "p", "-o", "json")

    assert started.code == Exit.OK, started.err
    [row] = started.document["items"]
    assert (row["name"], row["state"]) == ("p", "running")
    assert httpx.get(row["urls"]["control"] + "/healthz").status_code == 200
    assert httpx.get(row["urls"]["service"] + "/health").status_code == 200

    found = cli("proxy", "status")
    assert found.code == Exit.OK
    assert found.out.splitlines()[0].startswith(f"proxy     p  running  pid {row['pid']}  up ")
    assert cli("status", "--proxy-url", row["urls"]["control"]).code == Exit.OK

    again = cli("proxy", "start", *ANY_PORT, "--proxy-id", "p")
    assert again.code == Exit.CONFLICT
    assert f"proxy p runs already, as pid {row['pid']}" in again.err
    assert "hint: stop it with 'cacheroute proxy stop p'" in again.err
    nobody = cli("proxy", "stop", "q")
    assert nobody.code == Exit.OK
    assert nobody.err == ("no proxy called 'q' that was started by hand runs here (running: p)\n")

    stopped = cli("proxy", "stop")
    assert stopped.code == Exit.OK
    assert "p  stopped  ended in" in stopped.out
    assert is_gone(row["pid"])
    assert state.records("proxy") == []

    assert cli("proxy", "stop").code == Exit.OK
    assert cli("proxy", "stop", "p").code == Exit.OK
    assert cli("proxy", "status").code == Exit.NOT_FOUND


def test_a_proxy_that_is_started_with_a_token_asks_for_it(cli: Cli) -> None:
    started = cli("proxy", "start", *ANY_PORT, "--proxy-id", "p", "--token", "t", "-o", "json")

    assert started.code == Exit.OK, started.err
    [row] = started.document["items"]
    control = row["urls"]["control"]
    assert "'t'" not in str(row)
    assert httpx.get(control + "/metrics").status_code == 401
    assert cli("status", "--proxy-url", control).code != Exit.OK
    assert cli("status", "--proxy-url", control, "--token", "t").code == Exit.OK
    assert cli("proxy", "stop").code == Exit.OK


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("--strategy", "nope"), "--strategy: no strategy is called 'nope'"),
        (("--instance", "h:1", "--instance", "h"), "--instance: 'h' has no port: write h:8000"),
        (("--set", "strategy.name=x"), "--set strategy.name: no strategy is called 'x'"),
    ],
)
def test_what_the_proxy_refuses_is_named_as_it_was_typed(
    cli: Cli, typed: tuple[str, ...], said: str
) -> None:
    refused = cli("proxy", "start", *ANY_PORT, *typed)

    assert refused.code == Exit.USAGE
    assert refused.err.splitlines()[0].endswith("proxy ended with exit 2 before it was ready")
    assert refused.err.splitlines()[1].startswith(f"  {said}")


def test_a_taken_port_is_a_conflict_that_names_its_owner(cli: Cli, state: State) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
        said = cli("proxy", "start", "--port", str(port), "--cp-port", "0", "-o", "json")

    assert said.code == Exit.CONFLICT
    assert said.error["code"] == "port.taken"
    assert said.error["pid"] == os.getpid()
    assert "python" in said.error["command"]
    assert state.records("proxy") == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--strategy", "fastest"), "least_load"),
        (("--injection-strategy", "fastest"), "iws"),
        (("--ready-release-policy", "any"), "text_bypass"),
        (("--kdn-links-json", "{"), "JSON object"),
        (("--scheduler-url", "https://s:7002"), "TLS"),
        (("--set", "proxy.prot=1"), "proxy.port"),
        (("--instance", "ftp://x"), "ftp"),
        (("--port", "99999"), "99999"),
    ],
)
def test_what_the_proxy_refuses_is_told_with_its_words(
    cli: Cli, arguments: tuple[str, ...], words: str
) -> None:
    said = cli(
        "proxy",
        "start",
        "--cp-port",
        "0",
        *(() if "--port" in arguments else ("--port", "0")),
        *arguments,
    )

    assert said.code == Exit.USAGE
    assert words in said.err
    assert "its log is " in said.err


def test_a_missing_settings_file_is_a_wrong_usage(cli: Cli, tmp_path: Path) -> None:
    said = cli("proxy", "start", "--config", str(tmp_path / "none.yaml"))

    assert said.code == Exit.USAGE
    assert "none.yaml" in said.err


def test_a_record_of_a_process_that_has_gone_stops_nobody(cli: Cli, state: State) -> None:
    cli("proxy", "start", *ANY_PORT, "--proxy-id", "p")
    [record] = state.running("proxy")
    os.kill(record.pid, signal.SIGKILL)
    assert eventually(lambda: is_gone(record.pid))

    assert cli("proxy", "status").code == Exit.NOT_FOUND
    assert cli("proxy", "stop").code == Exit.OK
    assert state.records("proxy") == []


def test_two_proxies_need_a_name_to_be_told_apart(cli: Cli) -> None:
    for name in ("a", "b"):
        assert cli("proxy", "start", *ANY_PORT, "--proxy-id", name).code == Exit.OK

    unclear = cli("proxy", "stop")
    assert unclear.code == Exit.USAGE
    assert "more than one proxy runs here: a, b" in unclear.err
    assert cli("proxy", "stop", "a").code == Exit.OK
    assert cli("proxy", "status", "c").code == Exit.NOT_FOUND
    assert cli("proxy", "status").out.startswith("proxy     b  running")


@pytest.mark.parametrize("foreground", [(), ("-F",)], ids=["detached", "foreground"])
def test_settings_that_are_wrong_are_one_document_for_programs(
    tmp_path: Path, foreground: tuple[str, ...]
) -> None:
    words = ["proxy", "start", *foreground, *ANY_PORT, "--strategy", "fastest", "-o", "json"]
    said = subprocess.run(
        [sys.executable, "-m", "cacheroute_cli", *words],
        capture_output=True, text=True, check=False,
        env=an_environment(CACHEROUTE_STATE_DIR=str(tmp_path), CACHEROUTE_ERRORS="json"),
    )  # fmt: skip

    error = json.loads(said.stderr)["error"]
    assert (said.returncode, error["code"]) == (Exit.USAGE, "process.bad_config")
    assert "strategy" in error["message"]
    assert "{" not in error["message"]


def test_in_the_foreground_the_command_becomes_the_proxy(tmp_path: Path, cli: Cli) -> None:
    environment = an_environment(CACHEROUTE_STATE_DIR=os.environ["CACHEROUTE_STATE_DIR"])
    command = ["proxy", "start", "-F", *ANY_PORT, "--proxy-id", "f"]
    with subprocess.Popen(
        [sys.executable, "-m", "cacheroute_cli", *command],
        stderr=subprocess.PIPE, env=environment, text=True,
    ) as proxy:  # fmt: skip
        assert proxy.stderr is not None
        line = next(line for line in proxy.stderr if line.startswith("service "))
        control = line.split()[-1]
        try:
            assert httpx.get(control + "/healthz").status_code == 200
            running = Path(f"/proc/{proxy.pid}/cmdline").read_bytes().split(b"\0")
            assert running[1:4] == [b"-P", b"-m", b"cacheroute"]
            assert f"pid {proxy.pid}" in cli("proxy", "status", "f").out

            assert cli("proxy", "stop", "f").code == Exit.OK
            assert proxy.wait(timeout=30) == 0
        finally:
            proxy.kill()
