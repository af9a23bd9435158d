"""`cacheroute ps`: what runs, in every form, with and without a supervisor."""

from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli
from tests.cli.schemas.shapes import flaws_of
from tests.cli.supervisor.stacks import a_plan, supervised


def test_processes_are_listed_in_the_order_of_their_starts(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    with supervised(state.root) as it:
        it.ask("apply", a_plan("i"), a_plan("p", kind="proxy"))
        it.ask("stop", names=["i"])

        table = cli("ps", "-o", "table")
        assert table.code == Exit.OK
        header, row = table.out.splitlines()
        assert header.split() == [
            "NAME", "KIND", "PID", "STATE", "READY", "RESTARTS", "UPTIME", "CPU%", "RSS", "PORTS",
        ]  # fmt: skip
        assert row.split()[:6] == ["p", "proxy", str(it.pid("p")), "running", "yes", "0"]

        every = cli("ps", "--all", "-o", "json")
        assert flaws_of(every.document) == []
        assert [(r["name"], r["state"]) for r in every.document["items"]] == [
            ("p", "running"),
            ("i", "stopped"),
        ]
        assert cli("ps", "-a", "-o", "name", "-f", "state:stopped").out == "i\n"
        watched = cli("ps", "-w", "--count", "2", "-i", "0.2", "-o", "jsonl")
        assert len(watched.out.splitlines()) == 2


def test_after_a_kill_of_the_supervisor_its_processes_are_gone(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    with supervised(state.root) as it:
        it.ask("apply", a_plan("a"))
        pid = it.pid("a")
        it.kill()
        said = cli("ps", "--stack", "s", "-o", "json")

    [row] = said.document["items"]
    assert row["state"] in ("gone", "orphan")
    assert row["pid"] in (None, pid)


def test_nothing_is_up_and_that_is_no_error(cli: Cli, stack_folder: Path) -> None:
    said = cli("ps", "-o", "json")

    assert (said.code, said.document["items"]) == (Exit.OK, [])


def test_what_was_started_by_hand_is_listed_with_all(
    cli: Cli, stack_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cacheroute_cli.looking.stderr_is_terminal", lambda: True)
    assert "nothing is up" in cli("ps", "-o", "table").err
    started = cli("agent", "start", "--listen", "127.0.0.1:0", "-o", "json")
    assert started.code == Exit.OK, started.err

    [row] = cli("ps", "-a", "-o", "json").document["items"]

    assert (row["kind"], row["stack"], row["state"]) == ("agent", None, "running")
    assert row["rss_mb"] > 1
    assert row["pid"] == started.document["items"][0]["pid"]
    assert cli("ps", "-o", "table").err.splitlines()[-1] == (
        "the stack is not up; 1 process was started by hand: 'cacheroute ps --all'"
    )


def test_two_stacks_need_a_name_to_be_told_apart(
    cli: Cli, state: State, stack_folder: Path
) -> None:
    with supervised(state.root, "a"), supervised(state.root, "b"):
        said = cli("ps")

        assert said.code == Exit.USAGE
        assert "more than one stack is up: a, b" in said.err
        assert cli("ps", "--stack", "a").code == Exit.OK
