"""`cacheroute prune`: what a killed supervisor left, and nothing that lives."""

from pathlib import Path

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.ending import end
from cacheroute_cli.supervisor.identity import is_running, marked_with
from cacheroute_cli.supervisor.runner import spawn
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli
from tests.cli.schemas.shapes import flaws_of
from tests.cli.supervisor.children import SLEEPER, a_program, eventually, is_gone
from tests.cli.supervisor.stacks import a_plan, supervised


def test_orphans_are_listed_then_ended_and_stale_records_forgotten(
    cli: Cli, state: State, stack_folder: Path, tmp_path: Path
) -> None:
    with supervised(state.root, "alive") as alive, supervised(state.root) as it:
        alive.ask("apply", a_plan("a"))
        it.ask("apply", a_plan("a"))
        record = it.home.supervisor()
        assert record is not None
        it.kill()
        # The guard sees to everything that carries the mark, until it is done.
        assert eventually(lambda: marked_with(record.mark) == [])
        orphan = spawn(a_program(SLEEPER, tmp_path), stack=record.mark, tethered=False)
        stranger = spawn(a_program(SLEEPER, tmp_path), stack="unknown here", tethered=False)
        try:
            dry = cli("prune", "--dry-run", "-o", "json")
            assert flaws_of(dry.document) == []
            found = {(item["what"], item["pid"]) for item in dry.document["items"]}
            assert ("orphan", orphan.pid) in found
            assert ("stale", None) in found
            assert {item["stack"] for item in dry.document["items"]} == {"s"}
            assert is_running(orphan.identity)

            done = cli("prune")
            assert done.code == Exit.OK
            assert f"orphan  pid {orphan.pid}  (stack s)  ended" in done.out
            assert eventually(lambda: is_gone(orphan.pid))
            assert it.home.processes() == []
            assert it.home.supervisor() is None
            assert is_running(stranger.identity)
            assert alive.status("a").ready
            assert cli("prune").out == "nothing to prune\n"
        finally:
            end(stranger.identity, grace_s=5)
            stranger.exit_code()
            orphan.exit_code()


def test_a_record_of_what_was_started_by_hand_and_has_ended_is_forgotten(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    cli("agent", "start", "--listen", "127.0.0.1:0")
    [record] = state.running("agent")
    end(record.identity, grace_s=5)
    assert eventually(lambda: is_gone(record.pid))

    assert "started by hand" in cli("prune").out
    assert state.records("agent") == []
