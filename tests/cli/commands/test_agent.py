"""`cacheroute agent` with the real agent."""

import json
import subprocess
import sys
from pathlib import Path

import httpx

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.supervisor.children import an_environment


def test_an_agent_is_started_found_and_stopped(cli: Cli) -> None:
    started = cli("agent", "start", "--listen", "127.0.0.1:0", "-o", "json")

    assert started.code == Exit.OK, started.err
    [row] = started.document["items"]
    assert httpx.get(row["urls"]["url"] + "/healthz").json()["ok"] is True
    assert cli("agent", "status").code == Exit.OK

    taken = cli("agent", "start", "--listen", row["urls"]["url"].removeprefix("http://"))
    assert taken.code == Exit.CONFLICT
    assert f"is taken by pid {row['pid']}" in taken.err
    assert "--listen" in taken.err

    assert cli("agent", "stop").code == Exit.OK
    assert cli("agent", "stop").code == Exit.OK
    assert cli("agent", "status").code == Exit.NOT_FOUND


def test_an_address_that_is_none_is_told_by_the_agent(cli: Cli) -> None:
    said = cli("agent", "start", "--listen", "nonsense")

    assert said.code == Exit.USAGE
    assert "HOST:PORT" in said.err


def test_an_agent_in_the_foreground_complains_as_every_command_does(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "cacheroute_cli", "agent", "start", "-F", "--listen", "nonsense"]
    plain, told = (
        subprocess.run(
            [*words, *more], capture_output=True, text=True, check=False,
            env=an_environment(CACHEROUTE_STATE_DIR=str(tmp_path)),
        )
        for more in ((), ("-o", "json"))
    )  # fmt: skip

    assert plain.returncode == told.returncode == Exit.USAGE
    error, hint = plain.stderr.splitlines()
    assert error.startswith("cacheroute: error: --listen: 'nonsense' is not HOST:PORT")
    assert hint == "  hint: try 'cacheroute agent start --help'"
    document = json.loads(told.stderr)["error"]
    assert (document["code"], document["exit"]) == ("usage", 2)
    assert document["hint"] == "try 'cacheroute agent start --help'"
