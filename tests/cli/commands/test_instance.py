"""`cacheroute instance` with the real demo Instance and the real Proxy."""

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.supervisor.children import eventually

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
