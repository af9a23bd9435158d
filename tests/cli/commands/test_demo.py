"""`cacheroute demo`: what it refuses before it starts anything; the run itself is an e2e test."""

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--strategy", "fastest"), "there is no strategy 'fastest'; known are round_robin"),
        (("--requests", "100000"), "the trace has 302 requests"),
        (("--requests", "0"), "--requests"),
        (("--instances", "0"), "--instances"),
        (("--speed", "0"), "--speed"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_starts(
    cli: Cli, state: State, arguments: tuple[str, ...], words: str
) -> None:
    said = cli("demo", *arguments)

    assert said.code == Exit.USAGE
    assert words in said.err
    assert state.records("demo") == []
