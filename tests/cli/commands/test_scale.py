"""`cacheroute scale`: wishes that cannot be; the rest is shown with a real stack in test_up."""

from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli


@pytest.mark.parametrize("wish", ["instance", "proxy=2", "instance=x", "instance=-1", "instance="])
def test_a_wish_that_is_none_is_a_wrong_usage(cli: Cli, stack_folder: Path, wish: str) -> None:
    said = cli("scale", wish)

    assert said.code == Exit.USAGE
    assert "only Instances are scaled, as in instance=4, not " in said.err


def test_too_many_are_refused_before_anybody_is_asked(cli: Cli, stack_folder: Path) -> None:
    said = cli("scale", "instance=257")
    assert cli("scale", f"instance={'9' * 5000}").code == Exit.USAGE

    assert said.code == Exit.USAGE
    assert "more than the 256" in said.err


def test_a_stack_that_is_not_up_cannot_be_scaled(cli: Cli, stack_folder: Path) -> None:
    said = cli("scale", "instance=2")

    assert said.code == Exit.NOT_FOUND
    assert "cacheroute up" in said.err
