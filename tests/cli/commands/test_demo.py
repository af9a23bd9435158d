"""`cacheroute demo`: what it refuses before it starts anything; the run itself is an e2e test."""

import pytest

from cacheroute_cli import knowledge_demo
from cacheroute_cli.commands.demo import INSTANCES, SPEED
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--strategy", "fastest"), "there is no strategy 'fastest'; known are round_robin"),
        (("--strategy", "iws"), "are compared with --knowledge"),
        (("--requests", "100000"), "the trace has 302 requests"),
        (("--requests", "0"), "--requests"),
        (("--instances", "0"), "--instances"),
        (("--speed", "0"), "--speed"),
        (("--bandwidth", "1"), "--bandwidth goes with --knowledge"),
        (("--seed", "1"), "--seed goes with --knowledge"),
        (("--seed", "1", "-o", "csv"), "--seed goes with --knowledge"),
        (("-o", "name"), "there is no name of this"),
        (("--knowledge", "--strategy", "rr"), "--strategy goes without --knowledge"),
        (("--knowledge", "--instances", "3"), "--instances goes without --knowledge"),
        (("--knowledge", "--bandwidth", "0"), "--bandwidth"),
        (("--knowledge", "--requests", "0"), "--requests"),
        (("--tui",), "--tui needs a terminal"),
        (("--tui", "--keep"), "--keep goes without --tui"),
        (("--tui", "--strategy", "rr", "--strategy", "ll"), "--strategy is given once at most"),
        (
            ("--tui", "--knowledge", "--bandwidth", "1", "--bandwidth", "10"),
            "--bandwidth is given once at most",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_starts(
    cli: Cli, state: State, arguments: tuple[str, ...], words: str
) -> None:
    said = cli("demo", *arguments)

    assert said.code == Exit.USAGE
    assert words in said.err
    assert state.records("demo") == []


def test_without_a_redis_the_knowledge_demo_names_the_package(
    cli: Cli, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    said = cli("demo", "--knowledge", "-o", "json")

    assert said.code == Exit.FAILED
    assert said.error["code"] == "demo.no_redis"
    assert said.error["hint"] == "apt-get install redis-server"
    assert state.records("demo") == []


def test_the_help_tells_the_defaults_of_both_demos(cli: Cli) -> None:
    help_text = " ".join(cli("demo", "--help").out.split())

    assert f"(default: {SPEED:g}, with --knowledge {knowledge_demo.SPEED:g})" in help_text
    assert f"(default: all 302), or to each way (default: {knowledge_demo.REQUESTS})" in help_text
    assert f"Demo Instances to run (default: {INSTANCES})" in help_text
    first, second, third = (f"{gbps:g}" for gbps in knowledge_demo.BANDWIDTHS_GBPS)
    assert f"(default: {first}, {second} and {third} Gb/s)" in help_text
