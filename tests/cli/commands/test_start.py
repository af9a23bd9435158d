"""`cacheroute start`: what was stopped, again."""

from pathlib import Path

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli
from tests.cli.supervisor.stacks import a_plan, supervised


def test_a_stopped_process_is_started_and_shown(cli: Cli, state: State, stack_folder: Path) -> None:
    with supervised(state.root) as it:
        it.ask("apply", a_plan("a"), a_plan("b"))
        it.ask("stop", names=["a", "b"])

        said = cli("start", "a", "-o", "json")

        assert said.code == Exit.OK, said.err
        assert [(r["name"], r["state"]) for r in said.document["items"]] == [("a", "running")]
        assert it.status("b").state == "stopped"


def test_without_a_stack_there_is_nothing_to_start(cli: Cli, stack_folder: Path) -> None:
    said = cli("start", "a")

    assert said.code == Exit.NOT_FOUND
    assert "stack default is not up" in said.err
