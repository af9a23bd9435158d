"""`cacheroute stop`: one process of a stack, or all of a kind."""

from pathlib import Path

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.process import StopRule
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli
from tests.cli.supervisor.children import STUBBORN, eventually
from tests.cli.supervisor.stacks import a_plan, supervised


def test_one_process_is_ended_and_the_others_stay(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    with supervised(state.root) as it:
        it.ask("apply", a_plan("p", kind="proxy"), a_plan("a"), a_plan("b"))

        said = cli("stop", "a", "-o", "json")
        assert said.code == Exit.OK, said.err
        assert [row["name"] for row in said.document["items"]] == ["a"]
        assert [it.status(name).state for name in "pab"] == ["running", "stopped", "running"]

        said = cli("stop", "instances", "-o", "json")
        assert [row["name"] for row in said.document["items"]] == ["a", "b"]
        assert it.status("p").state == "running"


def test_a_time_can_be_given_and_an_unknown_name_is_told(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    with supervised(state.root) as it:
        it.ask("apply", a_plan("a", STUBBORN, stop=StopRule(grace_s=60)))
        assert eventually(lambda: "ready" in it.home.log_of("a").read_text())

        assert cli("stop", "a", "--timeout", "0.1").code == Exit.OK
        unknown = cli("stop", "x", "-o", "json")
        assert unknown.code == Exit.NOT_FOUND
        assert unknown.error["code"] == "process.unknown"
