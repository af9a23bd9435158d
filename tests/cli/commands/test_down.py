"""`cacheroute down`: once, twice, and after a kill."""

from pathlib import Path

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.process import StopRule
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli
from tests.cli.schemas.shapes import flaws_of
from tests.cli.supervisor.children import STUBBORN, eventually, is_gone
from tests.cli.supervisor.stacks import a_plan, supervised


def test_a_stack_is_ended_and_a_second_time_is_no_error(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    with supervised(state.root) as it:
        it.ask("apply", a_plan("a"))
        pid = it.pid("a")

        first = cli("down", "--stack", "s", "-o", "json")
        assert (first.code, first.document["was_up"]) == (Exit.OK, True)
        assert flaws_of(first.document) == []
        assert is_gone(pid)
        assert it.process.wait(timeout=10) == 0

        second = cli("down", "--stack", "s")
        assert second.code == Exit.OK
        assert second.out == ""
        assert "stack s is not up" in second.err
        assert it.home.log_of("a").exists()

        assert cli("down", "--stack", "s", "--purge-logs").code == Exit.OK
        assert not it.home.folder.exists()


def test_a_time_of_its_own_outranks_the_grace_of_the_processes(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    with supervised(state.root) as it:
        it.ask("apply", a_plan("a", STUBBORN, stop=StopRule(grace_s=60)))
        assert eventually(lambda: "ready" in it.home.log_of("a").read_text())

        assert cli("down", "--stack", "s", "--timeout", "0.2").code == Exit.OK
        assert it.process.wait(timeout=10) == 0


def test_after_a_kill_of_the_supervisor_it_ends_what_is_left(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    with supervised(state.root) as it:
        it.ask("apply", a_plan("a"))
        pid = it.pid("a")
        it.kill()

        said = cli("down", "-o", "json", "--stack", "s")

        assert (said.code, said.document["was_up"]) == (Exit.OK, False)
        assert eventually(lambda: is_gone(pid))
        assert it.home.supervisor() is None


def test_the_only_stack_that_is_up_is_meant_without_a_name(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    with supervised(state.root, "only") as it:
        it.ask("apply", a_plan("a"))

        assert cli("down", "-o", "json").document["stack"] == "only"
