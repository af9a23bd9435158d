"""`cacheroute proxy start --proxy-ui`: the published options, and the console that they mean."""

import os
from contextlib import closing
from socket import create_server

import httpx
import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli
from tests.cli.supervisor.children import is_gone

_ANY_PORT = ("--port", "0", "--cp-port", "0", "--proxy-id", "p")


@pytest.mark.parametrize(
    "words", [("--proxy-ui",), ("--proxy-ui", "--proxy-ui-url", "http://console.lan")]
)
def test_a_proxy_is_started_with_its_console_and_both_end_together(
    words: tuple[str, ...], cli: Cli, state: State
) -> None:
    said = cli("proxy", "start", *_ANY_PORT, *words, "--proxy-ui-listen", "127.0.0.1:0",
               "-o", "json")  # fmt: skip

    assert said.code == Exit.OK, said.err
    proxy, console = said.document["items"]
    assert (proxy["kind"], console["kind"]) == ("proxy", "web")
    address = console["urls"]["web"]
    assert httpx.get(address.partition("?")[0]).status_code == 401
    assert httpx.get(address, follow_redirects=True).status_code == 200

    assert cli("proxy", "stop").code == Exit.OK
    assert is_gone(proxy["pid"])
    assert is_gone(console["pid"])
    assert state.records("web") == []


@pytest.mark.parametrize("words", [(), ("--no-proxy-ui",)])
def test_without_it_nothing_is_served(words: tuple[str, ...], cli: Cli, state: State) -> None:
    said = cli("proxy", "start", *_ANY_PORT, *words, "-o", "json")

    assert said.code == Exit.OK, said.err
    assert [row["kind"] for row in said.document["items"]] == ["proxy"]
    assert state.records("web") == []
    assert cli("proxy", "stop").code == Exit.OK


def test_where_its_port_is_taken_nothing_is_started(cli: Cli, state: State) -> None:
    with closing(create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
        said = cli("proxy", "start", *_ANY_PORT, "--proxy-ui-listen", f"127.0.0.1:{port}",
                   "-o", "json")  # fmt: skip

    assert said.code == Exit.CONFLICT
    assert said.error["pid"] == os.getpid()
    assert state.records("proxy") == []
