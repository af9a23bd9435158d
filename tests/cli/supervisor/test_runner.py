"""What a child inherits, where it writes, and how its end is told."""

import os
import signal
from pathlib import Path

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.ending import end
from cacheroute_cli.supervisor.identity import is_running
from cacheroute_cli.supervisor.runner import Program, spawn
from tests.cli.supervisor.children import SLEEPER, a_program, eventually


def test_a_child_runs_in_a_session_of_its_own_and_is_who_it_seems(tmp_path: Path) -> None:
    child = spawn(a_program(SLEEPER, tmp_path), stack="s", tethered=True)
    try:
        assert is_running(child.identity)
        assert os.getsid(child.pid) == child.pid
        assert child.exit_code() is None
    finally:
        end(child.identity, grace_s=5)

    assert child.exit_code() == -signal.SIGTERM


def test_a_child_gets_its_variables_and_no_input_and_writes_to_its_log(tmp_path: Path) -> None:
    code = (
        "import os, sys; print(sys.stdin.read(), os.environ['COLOUR']); print('e', file=sys.stderr)"
    )
    program = a_program(code, tmp_path)
    program = Program(
        name=program.name, argv=program.argv, log=tmp_path / "new/child.log", env={"COLOUR": "red"}
    )

    child = spawn(program, stack="s", tethered=False)

    assert eventually(lambda: child.exit_code() is not None)
    assert child.first_words() == " red\ne\n" or child.first_words() == "e\n red\n"
    assert (program.log.stat().st_mode & 0o777) == 0o600


def test_words_of_an_earlier_process_in_the_same_log_are_not_its_words(tmp_path: Path) -> None:
    program = a_program("print('now')", tmp_path)
    program.log.write_text("service http://127.0.0.1:1  control http://127.0.0.1:2\n")

    child = spawn(program, stack="s", tethered=False)

    assert eventually(lambda: child.exit_code() == 0)
    assert child.first_words() == "now\n"
    assert program.log.read_text().startswith("service")


def test_a_failure_tells_the_exit_and_the_last_lines(tmp_path: Path) -> None:
    code = "import sys; print('one'); print(); print('config: no such key'); sys.exit(2)"
    child = spawn(a_program(code, tmp_path, name="proxy"), stack="s", tethered=False)
    assert eventually(lambda: child.exit_code() is not None)

    fault = child.failure()

    assert fault.exit == Exit.USAGE
    assert "proxy ended with exit 2 before it was ready" in fault.message
    assert "config: no such key" in fault.message
    assert str(tmp_path / "proxy.log") in (fault.hint or "")


def test_a_child_does_not_inherit_open_files(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as kept:
        code = f"import os; print(os.path.exists('/proc/self/fd/{kept.fileno()}'))"
        child = spawn(a_program(code, tmp_path), stack="s", tethered=False)
        assert eventually(lambda: child.exit_code() == 0)

    assert child.first_words() == "False\n"
