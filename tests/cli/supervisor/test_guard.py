"""The guard: quiet while its stdin is open, thorough when it ends."""

import os
import subprocess
import sys
from pathlib import Path

from cacheroute_cli.supervisor.identity import STACK_VARIABLE, is_running
from cacheroute_cli.supervisor.runner import spawn
from tests.cli.supervisor.children import POLITE, STUBBORN, a_program, an_environment, eventually


def test_what_carries_the_mark_gets_its_grace_and_is_killed_then(tmp_path: Path) -> None:
    mark = f"guarded-{os.getpid()}"
    polite = spawn(a_program(POLITE, tmp_path, name="polite"), stack=mark, tethered=False)
    stubborn = spawn(a_program(STUBBORN, tmp_path, name="stubborn"), stack=mark, tethered=False)
    other = spawn(a_program(POLITE, tmp_path, name="other"), stack="other", tethered=False)
    try:
        for child in (polite, stubborn, other):
            assert eventually(lambda child=child: "ready" in child.first_words())  # type: ignore[misc]
        guard = subprocess.Popen(
            [sys.executable, "-P", "-m", "cacheroute_cli.supervisor.guard"],
            stdin=subprocess.PIPE, env=an_environment(**{STACK_VARIABLE: mark}),
        )  # fmt: skip
        assert guard.stdin is not None
        guard.stdin.write(b"9\n0.2\n")
        guard.stdin.flush()

        guard.stdin.close()

        assert guard.wait(timeout=20) == 0
        assert eventually(lambda: polite.exit_code() == 0)
        assert eventually(lambda: stubborn.exit_code() == -9)
        assert is_running(other.identity)
    finally:
        for child in (polite, stubborn, other):
            if child.exit_code() is None:
                os.kill(child.pid, 9)
                assert eventually(lambda child=child: child.exit_code() is not None)  # type: ignore[misc]
