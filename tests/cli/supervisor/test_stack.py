"""Whatever happens to a stack, it leaves nobody behind."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cacheroute_cli.supervisor.ending import end
from cacheroute_cli.supervisor.faults import CannotRun
from cacheroute_cli.supervisor.identity import marked_with
from cacheroute_cli.supervisor.signals import Stopped
from cacheroute_cli.supervisor.stack import Stack
from tests.cli.supervisor.children import (
    POLITE,
    SLEEPER,
    STUBBORN,
    a_program,
    eventually,
    is_gone,
)

TELLS_THE_ORDER = (
    "import signal, sys, time\n"
    "name = sys.argv[1]\n"
    "def bye(*_):\n"
    "    time.sleep(0.05)\n"
    "    open(sys.argv[2], 'a').write(name + '\\n')\n"
    "    sys.exit(0)\n"
    "signal.signal(signal.SIGTERM, bye)\n"
    "print('ready', flush=True)\n"
    "time.sleep(60)\n"
)


def test_rungs_end_in_reverse_order(tmp_path: Path) -> None:
    order = tmp_path / "order"
    with Stack(tethered=True) as stack:
        for name in ("agent", "proxy", "instance"):
            stack.start(a_program(TELLS_THE_ORDER, tmp_path, name, str(order), name=name))
        for child in stack.children():
            assert eventually(lambda child=child: "ready" in child.first_words())  # type: ignore[misc]

    assert order.read_text().split() == ["instance", "proxy", "agent"]


def test_an_error_ends_all_that_had_been_started(tmp_path: Path) -> None:
    stack = Stack(tethered=True)
    with pytest.raises(RuntimeError), stack:  # noqa: PT012 - what happens inside is the point
        stack.start(a_program(SLEEPER, tmp_path, name="one"), a_program(SLEEPER, tmp_path))
        raise RuntimeError

    assert stack.children() == []
    assert marked_with(stack.name) == []


def test_a_program_that_cannot_start_takes_the_others_with_it(tmp_path: Path) -> None:
    stack = Stack(tethered=False)
    good = a_program(SLEEPER, tmp_path)
    bad = replace(good, name="bad", argv=("/no/such/program",))

    with pytest.raises(CannotRun, match=r"^bad cannot be started "), stack:
        stack.start(good, bad)

    assert marked_with(stack.name) == []


def test_a_signal_ends_the_stack_and_is_told(tmp_path: Path) -> None:
    with pytest.raises(Stopped), Stack(tethered=True) as stack:  # noqa: PT012 - as above
        [child] = stack.start(a_program(POLITE, tmp_path))
        assert eventually(lambda: "ready" in child.first_words())
        os.kill(os.getpid(), signal.SIGTERM)

    assert child.exit_code() == 0


def test_what_is_let_go_lives_on(tmp_path: Path) -> None:
    with Stack(tethered=False) as stack:
        [child] = stack.start(a_program(SLEEPER, tmp_path))
        stack.let_go()

    try:
        assert child.exit_code() is None
    finally:
        end(child.identity, grace_s=5)
        child.exit_code()


def test_some_can_be_ended_while_the_others_go_on(tmp_path: Path) -> None:
    with Stack(tethered=True) as stack:
        [first] = stack.start(a_program(SLEEPER, tmp_path, name="first"))
        [second] = stack.start(a_program(SLEEPER, tmp_path, name="second"))

        stack.end([second])

        assert second.exit_code() == -signal.SIGTERM
        assert first.exit_code() is None
        assert stack.children() == [first]


def test_a_child_that_ignores_everything_is_killed_in_the_end(tmp_path: Path) -> None:
    with Stack(tethered=True, grace_s=0.2) as stack:
        [child] = stack.start(a_program(STUBBORN, tmp_path))
        assert eventually(lambda: "ready" in child.first_words())

    assert child.exit_code() == -signal.SIGKILL


OWNER = """
import sys, time
from pathlib import Path
from cacheroute_cli.supervisor.runner import Program, python
from cacheroute_cli.supervisor.stack import Stack
folder = Path(sys.argv[1])
with Stack(tethered=sys.argv[2] == "tethered") as stack:
    for name in ("one", "two"):
        stack.start(Program(
            name=name,
            argv=python("-I", "-S", "-c", "import time; time.sleep(60)"),
            log=folder / name,
        ))
    print(stack.name, *(child.pid for child in stack.children()), flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_no_child_survives_its_owner_however_that_ends(tmp_path: Path, number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path), "tethered"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as owner:  # fmt: skip
        assert owner.stdout is not None
        name, *pids = owner.stdout.readline().split()
        owner.send_signal(number)
        owner.wait(timeout=30)

    assert len(pids) == 2
    assert eventually(lambda: all(is_gone(int(pid)) for pid in pids))
    assert marked_with(name) == []


def test_a_detached_child_survives_the_death_of_its_owner(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path), "detached"],
        stdout=subprocess.PIPE, text=True,
    ) as owner:  # fmt: skip
        assert owner.stdout is not None
        name, *_ = owner.stdout.readline().split()
        owner.kill()
        owner.wait(timeout=30)

    try:
        # For a moment after it has begun, a process shows no environment.
        assert eventually(lambda: len(marked_with(name)) == 2)
    finally:
        for identity in marked_with(name):
            end(identity, grace_s=5)
