"""`cacheroute unregister` on a Proxy that runs."""

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.live_proxy import live_proxy


def test_a_registered_instance_leaves_the_pool(cli: Cli) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        unconfirmed = cli("unregister", "i-1", "--proxy-url", proxy.url)
        said = cli("unregister", "i-1", "-y", "--proxy-url", proxy.url)
        again = cli("unregister", "i-1", "-y", "--proxy-url", proxy.url)
        left = proxy.routable()

    assert unconfirmed.code == Exit.USAGE
    assert "who is alive comes back with its next heartbeat" in unconfirmed.err
    assert (said.code, said.out) == (Exit.OK, "i-1\talive\tgone\t0\t0\n")
    assert again.code == Exit.NOT_FOUND
    assert left == {"i-2"}


def test_a_static_instance_stays_and_it_is_said_why(cli: Cli) -> None:
    with live_proxy(pool__instances=["http://127.0.0.1:9499"]) as proxy:
        proxy.register("i-1")
        said = cli("unregister", "i-1", "hp_127.0.0.1:9499", "-y", "--proxy-url", proxy.url)
        left = proxy.routable()

    assert said.code == Exit.FAILED
    assert "hp_127.0.0.1:9499 is in the configuration" in said.err
    assert left == {"i-1", "hp_127.0.0.1:9499"}
