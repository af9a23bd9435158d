"""`cacheroute completion`: a script on stdout, or where the shell looks for it."""

from pathlib import Path

import pytest

from cacheroute_cli.completing import scripts
from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.schemas.shapes import flaws_of


@pytest.mark.parametrize("shell", scripts.SHELLS)
def test_the_script_of_each_shell_is_printed(cli: Cli, shell: str) -> None:
    assert cli("completion", shell).out == scripts.script(scripts.SHELLS[shell])


def test_a_script_is_put_where_its_shell_looks(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    said = cli("completion", "bash", "--install")

    path = tmp_path / "data" / "bash-completion" / "completions" / "cacheroute"
    assert said.out == f"{path}\n"
    assert f"source {path}" in said.err
    assert path.read_text() == scripts.script(scripts.SHELLS["bash"])
    assert flaws_of(cli("completion", "bash", "--install", "-o", "json").document) == []


def test_a_place_that_cannot_be_written_is_told(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    said = cli("completion", "zsh", "--install")

    assert said.code == Exit.FAILED
    assert "cannot be written" in said.err


def test_another_shell_is_a_wrong_usage(cli: Cli) -> None:
    assert cli("completion", "tcsh").code == Exit.USAGE
