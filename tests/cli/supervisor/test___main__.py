"""The supervisor's own command line."""

from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.__main__ import main
from cacheroute_cli.supervisor.stack_home import StackHome


def test_a_stack_that_somebody_supervises_is_a_conflict_in_its_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = StackHome("s", tmp_path)
    home.prepare()
    with home.supervising():
        assert main(["s", str(tmp_path)]) == Exit.CONFLICT

    said = capsys.readouterr().err
    assert "supervising stack s as pid" in said
    assert "error: another 'cacheroute up' supervises stack s" in said
