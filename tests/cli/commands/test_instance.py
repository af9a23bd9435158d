"""`cacheroute instance` with the real demo Instance and the real Proxy."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.supervisor.children import an_environment, eventually
from tests.support.demo import demo_instance

ANY_PORT = ("--port", "0", "--cp-port", "0")


def test_an_instance_joins_the_pool_and_leaves_it_when_it_is_stopped(cli: Cli) -> None:
    agent = cli("agent", "start", "--listen", "127.0.0.1:0", "-o", "json").document["items"][0]
    proxy = cli("proxy", "start", *ANY_PORT, "-o", "json").document["items"][0]
    control = proxy["urls"]["control"]

    started = cli(
        "instance", "start", "--port", "0", "--instance-id", "i-1",
        "--proxy-url", control, "--agent-url", agent["urls"]["url"],
    )  # fmt: skip
    assert started.code == Exit.OK, started.err
    assert started.out.startswith("instance  i-1  running  pid ")

    def listed() -> list[str]:
        document = cli("instances", "--proxy-url", control, "-o", "json").document
        return [item["id"] for item in document["items"] if item["state"] == "alive"]

    assert eventually(lambda: listed() == ["i-1"])
    assert cli("instance", "stop", "i-1").code == Exit.OK
    assert eventually(lambda: listed() == [])
    assert cli("instance", "stop", "i-1").code == Exit.OK


def test_what_an_instance_refuses_is_told_in_its_words(cli: Cli) -> None:
    said = cli("instance", "start", "--port", "0", "--speed", "-3")

    assert said.code == Exit.USAGE
    assert "0.01" in said.err


def test_a_server_that_runs_is_attached_and_left_alone_when_that_ends(cli: Cli) -> None:
    proxy = cli("proxy", "start", *ANY_PORT, "-o", "json").document["items"][0]
    control = proxy["urls"]["control"]
    with demo_instance(model="m") as url:
        attach = ("instance", "attach", "-d", "--endpoint", url, "--proxy-url", control)
        started = cli(*attach, "--instance-id", "i-1", "--no-agent", "-o", "json")
        assert started.code == Exit.OK, started.err
        [row] = started.document["items"]
        assert (row["name"], row["state"]) == ("i-1", "running")
        assert row["urls"] == {"url": url, "proxy": control}

        again = cli(*attach, "--instance-id", "i-1", "-o", "json")
        assert (again.code, again.error["code"]) == (Exit.CONFLICT, "process.running")

        listed = cli("instances", "--proxy-url", control, "-o", "json").document["items"]
        assert [item["id"] for item in listed] == ["i-1"]
        assert cli("instance", "stop", "i-1").code == Exit.OK
        assert cli("instances", "--proxy-url", control, "-o", "json").document["items"] == []
        assert cli(*attach, "--no-agent", "--model", "m").code == Exit.OK
        assert cli("instance", "stop").code == Exit.OK


@pytest.mark.parametrize(
    ("options", "exit_code", "why"),
    [
        (("--endpoint", "http://127.0.0.1:1"), Exit.UNREACHABLE, "cannot reach http://127.0.0.1:1"),
        (("--endpoint", "https://h:1"), Exit.USAGE, "asks for TLS"),
        (("--endpoint", "h:1", "--api-key-env", "NO_SUCH"), Exit.USAGE, "NO_SUCH is not set"),
    ],
)
def test_what_cannot_be_attached_is_told_and_leaves_nothing(
    cli: Cli, options: tuple[str, ...], exit_code: Exit, why: str
) -> None:
    said = cli("instance", "attach", "-d", "--instance-id", "i-1", *options)

    assert (said.code, said.out) == (exit_code, "")
    assert why in said.err
    assert cli("instance", "stop", "i-1").out == ""


def test_a_server_that_cannot_be_attached_is_told_as_every_command_does(tmp_path: Path) -> None:
    words = [
        sys.executable, "-m", "cacheroute_cli", "instance", "attach",
        "--endpoint", "http://127.0.0.1:1", "--no-agent",
    ]  # fmt: skip
    plain, told = (
        subprocess.run(
            [*words, *more], capture_output=True, text=True, check=False,
            env=an_environment(CACHEROUTE_STATE_DIR=str(tmp_path)),
        )
        for more in ((), ("-o", "json"))
    )  # fmt: skip

    assert plain.returncode == told.returncode == Exit.UNREACHABLE
    error, hint = plain.stderr.splitlines()
    assert error.startswith("cacheroute: error: cannot reach http://127.0.0.1:1/health")
    assert hint == "  hint: is the server running, and is this its address?"
    document = json.loads(told.stderr)["error"]
    assert (document["code"], document["exit"]) == ("server.unreachable", 3)
