"""`cacheroute restart`: one process anew."""

from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.messages import RemoteFault
from cacheroute_cli.supervisor.process import Readiness
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli
from tests.cli.supervisor.stacks import a_plan, supervised


def test_one_process_is_started_anew_and_the_others_are_left_alone(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    with supervised(state.root) as it:
        it.ask("apply", a_plan("a"), a_plan("b"))
        a, b = it.pid("a"), it.pid("b")

        said = cli("restart", "a", "-o", "json")

        assert said.code == Exit.OK, said.err
        assert said.document["items"][0]["pid"] != a
        assert it.pid("b") == b


def test_one_that_does_not_become_ready_in_time_is_exit_7(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    with supervised(state.root) as it:
        never = a_plan("a", ready=Readiness(tcp="127.0.0.1:1", timeout_s=0.1))
        with pytest.raises(RemoteFault, match="a is not ready"):
            it.ask("apply", a_plan("p", kind="proxy"), never)

        said = cli("restart", "a", "--timeout", "0.1", "-o", "json")

        assert said.code == Exit.WAIT_TIMED_OUT
        assert said.error["code"] == "process.not_ready"
