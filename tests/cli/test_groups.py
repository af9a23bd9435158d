"""Commands that hold commands: their help, and what becomes of typos."""

import pytest

from cacheroute_cli import main
from cacheroute_cli.diagnostics import Exit

GROUPS = ("proxy", "instance", "agent", "config", "context")


@pytest.mark.parametrize("group", GROUPS)
def test_no_sentence_of_a_groups_help_is_cut_off(
    capsys: pytest.CaptureFixture[str], group: str
) -> None:
    assert main.run([group, "--help"]) == Exit.OK

    assert "..." not in capsys.readouterr().out.partition("Commands:")[2]


@pytest.mark.parametrize("group", GROUPS)
def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(
    capsys: pytest.CaptureFixture[str], group: str
) -> None:
    name = "show" if group in ("config", "context") else "stop"

    assert main.run([group, f"{name}p"]) == Exit.USAGE

    said = capsys.readouterr().err
    assert f"there is no command '{name}p'; did you mean" in said
    assert f"'{name}'" in said
