"""`cacheroute weight` on a Proxy that runs."""

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.live_proxy import live_proxy


def test_a_weight_stands_until_it_is_reset(cli: Cli) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        said = cli("weight", "i-1", "2.5", "--proxy-url", proxy.url)
        proxy.register("i-1")
        rows = proxy.call(proxy.running.instances())
        reset = cli("weight", "i-1", "--reset", "-o", "jsonl", "--proxy-url", proxy.url)

    assert said.out == "i-1\talive\talive, weight 2.5 (own 1)\t0\t0\n"
    assert [(row["weight"], row["own_weight"]) for row in rows] == [(2.5, 1.0), (1.0, 1.0)]
    document = reset.document
    assert document["schema"] == "cacheroute.change.row/1"
    assert (document["before"]["weight"], document["after"]["weight"]) == (2.5, 1.0)


def test_weight_0_of_the_last_one_needs_force(cli: Cli) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        first = cli("weight", "i-1", "0", "--proxy-url", proxy.url)
        last = cli("weight", "i-2", "0", "--proxy-url", proxy.url)
        forced = cli("weight", "i-2", "0", "--force", "--proxy-url", proxy.url)

    assert (first.code, last.code, forced.code) == (Exit.OK, Exit.FAILED, Exit.OK)
    assert "nobody takes new requests once i-2 is at weight 0" in last.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["i-1"],
        ["i-1", "2", "--reset"],
        ["i-1", "nan"],
        ["i-1", "1e-9"],
        ["i-1", "1e9"],
        ["i-1", "x"],
    ],
)
def test_what_is_no_weight_is_a_wrong_usage(cli: Cli, arguments: list[str]) -> None:
    said = cli("weight", *arguments, "--proxy-url", "http://127.0.0.1:1")

    assert (said.code, said.out) == (Exit.USAGE, "")
