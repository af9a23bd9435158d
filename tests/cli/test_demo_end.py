"""How a demo stays up, and what ends it."""

import os
import signal
import threading
from pathlib import Path

import pytest

from cacheroute_cli.demo_end import RequestsFailed, stay
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.faults import ChildFailed
from cacheroute_cli.supervisor.signals import Stopped
from cacheroute_cli.supervisor.stack import Stack
from tests.cli.supervisor.children import SLEEPER, a_program


def test_an_interrupt_is_the_regular_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Stack(tethered=True) as stack:
        stack.start(a_program(SLEEPER, tmp_path))
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        stay(stack, ("up       here", "look     there"))

    assert capsys.readouterr().err == "up       here\nlook     there\n"


def test_another_signal_is_not(tmp_path: Path) -> None:
    with pytest.raises(Stopped), Stack(tethered=True) as stack:  # noqa: PT012
        stack.start(a_program(SLEEPER, tmp_path))
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
        stay(stack, ())


def test_a_process_that_ends_meanwhile_is_a_failure(tmp_path: Path) -> None:
    with Stack(tethered=True) as stack:
        stack.start(a_program("import sys; sys.exit('no luck')", tmp_path))
        with pytest.raises(ChildFailed, match="no luck"):
            stay(stack, ())


def test_failed_requests_are_a_bad_answer() -> None:
    assert RequestsFailed("1 of 2 requests failed").exit == Exit.BAD_ANSWER
