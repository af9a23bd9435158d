"""What is to be pruned, in words."""

from pathlib import Path

import pytest

from cacheroute_cli.context import Context
from cacheroute_cli.pruning import prune
from cacheroute_cli.supervisor.stack_home import ProcessStatus, StackHome, SupervisorRecord
from cacheroute_cli.supervisor.state import State


def test_a_dry_run_says_what_would_be_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = StackHome("s", tmp_path)
    home.prepare()
    home.write_process(ProcessStatus(name="a", kind="proxy", stack="s", state="running"))
    home.write_supervisor(
        SupervisorRecord(
            stack="s", pid=1, start_ticks=1, boot_id="b", mark="nobody has this", socket="/s",
            started_at_s=1.0,
        )
    )  # fmt: skip

    prune(Context(), dry_run=True, state=State(tmp_path))
    assert capsys.readouterr().out == "stale  a  (stack s)  would be forgotten\n"
    assert home.processes()

    prune(Context(), dry_run=False, state=State(tmp_path))
    assert capsys.readouterr().out == "stale  a  (stack s)  forgotten\n"
    assert home.processes() == []


def test_what_is_supervised_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = StackHome("s", tmp_path)
    home.prepare()
    home.write_process(ProcessStatus(name="a", kind="proxy", stack="s", state="running"))

    with home.supervising():
        prune(Context(), dry_run=False, state=State(tmp_path))

    assert capsys.readouterr().out == "nothing to prune\n"
    assert home.processes()
