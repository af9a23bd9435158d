"""`cacheroute strategy` on a Proxy that runs."""

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.live_proxy import live_proxy


def test_without_a_name_the_strategies_are_listed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CACHEROUTE_READONLY", "1")
    with live_proxy(strategy="least_load") as proxy:
        said = cli("strategy", "--proxy-url", proxy.url)
        document = cli("strategy", "-o", "json", "--proxy-url", proxy.url).document
        names = cli("strategy", "-o", "name", "--proxy-url", proxy.url).out.split()

    assert said.code == Exit.OK
    assert [line.split("\t")[:2] for line in said.out.splitlines()] == [
        ["round_robin", "—"],
        ["least_load", "routes"],
    ]
    assert document["schema"] == "cacheroute.strategy/1"
    assert (document["strategy"], document["configured"]) == ("least_load", "least_load")
    assert [item["routes"] for item in document["items"]] == [False, True]
    assert names == ["round_robin", "least_load"]


def test_another_one_routes_from_then_on(cli: Cli) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        proxy.occupy("i-1")
        said = cli("strategy", "ll", "--proxy-url", proxy.url)
        again = cli("strategy", "least-load", "-o", "json", "--proxy-url", proxy.url)
        name = proxy.do(lambda: proxy.running.app.proxy.strategy.name)
        proxy.release()

    assert said.code == Exit.OK
    assert "round_robin → least_load" in said.out
    assert "1 request goes on as placed" in said.out
    document = again.document
    assert (document["schema"], document["verb"]) == ("cacheroute.change/1", "strategy")
    assert document["strategy"] == {
        "before": "least_load", "after": "least_load", "changed": False, "inflight": 1,
    }  # fmt: skip
    assert document["items"] == []
    assert name == "least_load"


def test_an_unknown_one_is_a_wrong_usage_with_those_there_are(cli: Cli) -> None:
    with live_proxy() as proxy:
        said = cli("strategy", "fast", "--proxy-url", proxy.url)

    assert said.code == Exit.USAGE
    assert "there are round_robin" in said.err


def test_a_read_only_context_changes_no_strategy(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEROUTE_READONLY", "1")
    with live_proxy() as proxy:
        assert cli("strategy", "ll", "--proxy-url", proxy.url).code == Exit.NOT_ALLOWED
        assert cli("strategy", "ll", "--write", "--proxy-url", proxy.url).code == Exit.OK
