"""`cacheroute undrain` on a Proxy that runs."""

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.live_proxy import live_proxy


def test_drained_instances_take_requests_again_and_nobody_has_to_say_yes(cli: Cli) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2", "i-3")
        cli("drain", "i-1", "i-2", "-y", "--proxy-url", proxy.url)
        said = cli("undrain", "i-1", "i-2", "-o", "csv", "--proxy-url", proxy.url)
        again = cli("undrain", "i-1", "--proxy-url", proxy.url)
        routable = proxy.routable()

    assert (said.code, said.err) == (Exit.OK, "")
    assert said.out.splitlines() == [
        "id,was,now,inflight,waiting",
        "i-1,drain,alive,0,0",
        "i-2,drain,alive,0,0",
    ]
    assert again.out == "i-1\talive\talive (no change)\t0\t0\n"
    assert routable == {"i-1", "i-2", "i-3"}


def test_one_that_has_gone_can_be_undrained_before_it_comes_back(cli: Cli) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        cli("drain", "i-1", "-y", "--proxy-url", proxy.url)
        cli("unregister", "i-1", "-y", "--proxy-url", proxy.url)
        said = cli("undrain", "i-1", "--proxy-url", proxy.url)
        proxy.register("i-1")
        routable = proxy.routable()

    assert said.out == "i-1\tdrain, gone\tgone\t0\t0\n"
    assert routable == {"i-1", "i-2"}


def test_an_unknown_id_is_not_found(cli: Cli) -> None:
    with live_proxy() as proxy:
        assert cli("undrain", "i-1", "--proxy-url", proxy.url).code == Exit.NOT_FOUND
