"""`cacheroute help`: the same text as `--help`."""

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli


@pytest.mark.parametrize(
    "path", [[], ["status"], ["context"], ["context", "add"], ["proxy", "start"]]
)
def test_the_help_of_a_command_is_shown(cli: Cli, path: list[str]) -> None:
    assert cli("help", *path) == cli(*path, "--help")


def test_a_colon_before_the_command_is_no_mistake(cli: Cli) -> None:
    assert cli("help", ":status").out == cli("status", "--help").out


def test_there_is_no_help_of_what_is_not_there(cli: Cli) -> None:
    said = cli("help", "statsu")

    assert said.code == Exit.USAGE
    assert "did you mean 'status'" in said.err
