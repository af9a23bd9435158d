"""`cacheroute logs`: merged, chosen, followed; and still there after the end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.state import State
from tests.cli.commands.conftest import Cli
from tests.cli.schemas.shapes import flaws_of
from tests.cli.supervisor.children import an_environment, eventually
from tests.cli.supervisor.stacks import a_plan, supervised

SPEAKER = (
    "import sys, time\nfor word in sys.argv[1:]:\n    print(word, flush=True)\ntime.sleep(60)\n"
)


def test_logs_are_merged_chosen_and_cut(cli: Cli, state: State, stack_folder: Path) -> None:
    with supervised(state.root) as it:
        it.ask("apply", a_plan("a", SPEAKER, "one", "two"), a_plan("bb", SPEAKER, "\x1b[31mred"))
        assert eventually(lambda: "two" in it.home.log_of("a").read_text())
        assert eventually(lambda: "red" in it.home.log_of("bb").read_text())

        assert sorted(cli("logs").out.splitlines()) == ["a  | one", "a  | two", "bb | \x1b[31mred"]
        assert cli("logs", "a", "-n", "1").out == "a | two\n"
        assert cli("logs", "instances", "--no-prefix", "--grep", "^o").out == "one\n"
        assert cli("logs", "--since", "0s").out == ""
        assert cli("logs", "--since", "1h", "a").out == "a | one\na | two\n"
        lines = [json.loads(line) for line in cli("logs", "a", "-o", "jsonl").out.splitlines()]
        assert [(line["name"], line["line"]) for line in lines] == [("a", "one"), ("a", "two")]
        assert [flaw for line in lines for flaw in flaws_of(line)] == []
        it.ask("down")

    assert cli("logs", "--stack", "s", "a").out == "a | one\na | two\n"


def test_a_follow_goes_on_with_every_process_until_a_signal(
    state: State, stack_folder: Path
) -> None:
    with supervised(state.root) as it:
        it.ask("apply", a_plan("a", SPEAKER, "before"))
        assert eventually(lambda: "before" in it.home.log_of("a").read_text())
        with subprocess.Popen(
            [sys.executable, "-m", "cacheroute_cli", "logs", "-f", "--stack", "s"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=an_environment(CACHEROUTE_STATE_DIR=os.environ["CACHEROUTE_STATE_DIR"]),
        ) as follow:  # fmt: skip
            assert follow.stdout is not None
            assert follow.stdout.readline() == "a | before\n"
            it.ask("apply", a_plan("a", SPEAKER, "before"), a_plan("new", SPEAKER, "hello"))
            assert follow.stdout.readline() == "new | hello\n"
            follow.send_signal(signal.SIGINT)
            _, err = follow.communicate(timeout=20)

    assert follow.returncode == Exit.INTERRUPTED, err
    assert "Traceback" not in err


def test_what_is_not_there_is_told(cli: Cli, state: State, stack_folder: Path) -> None:
    none = cli("logs")
    assert none.code == Exit.NOT_FOUND
    with supervised(state.root) as it:
        it.ask("apply", a_plan("a"))
        unknown = cli("logs", "x")
        assert unknown.code == Exit.NOT_FOUND
        assert "has no log of 'x'; there are a" in unknown.err
        assert cli("logs", "--grep", "(").code == Exit.USAGE
        assert cli("logs", "--since", "yesterday").code == Exit.USAGE
