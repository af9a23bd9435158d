"""`cacheroute web`: refused where it would change something, and served where it may."""

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli


def test_write_is_refused(cli: Cli) -> None:
    said = cli("web", "--write", "-o", "json")

    assert said.code == Exit.NOT_ALLOWED
    assert said.error["code"] == "web.read_only"


def test_its_help_names_what_it_is(cli: Cli) -> None:
    said = cli("web", "--help")

    assert said.code == Exit.OK
    assert "read-only, behind a token" in said.out
    assert "--token-file" in said.out


def test_a_configuration_that_is_wrong_is_said_before_anything_is_served(cli: Cli) -> None:
    said = cli("web", "--context", "nowhere")

    assert said.code == Exit.USAGE
    assert "nowhere" in said.err
