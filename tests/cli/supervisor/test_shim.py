"""A tethered program dies with its parent, however that dies."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from cacheroute_cli.supervisor import shim
from tests.cli.supervisor.children import eventually, is_gone

PARENT = """
import os, subprocess, sys, time
python = [sys.executable, "-I", "-S"]
says_its_pid = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
child = subprocess.Popen([*python, sys.argv[1], str(os.getpid()), *python, "-c", says_its_pid])
time.sleep(60)
"""


def test_the_program_gets_a_term_when_its_parent_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", PARENT, shim.__file__], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child_pid = int(parent.stdout.readline())

        parent.send_signal(signal.SIGKILL)
        parent.wait()

        assert eventually(lambda: is_gone(child_pid))


def test_a_program_whose_parent_is_gone_already_never_starts(tmp_path: Path) -> None:
    sign = tmp_path / "it-ran"
    not_the_parent = "1" if os.getpid() != 1 else "2"

    done = subprocess.run(
        [sys.executable, "-I", "-S", shim.__file__, not_the_parent, "/usr/bin/touch", str(sign)],
        check=False,
    )

    assert done.returncode == 128 + signal.SIGTERM
    assert not sign.exists()


def test_the_program_takes_the_place_of_the_shim_with_its_arguments() -> None:
    done = subprocess.run(
        [
            sys.executable, "-I", "-S", shim.__file__, str(os.getpid()),
            sys.executable, "-I", "-S", "-c", "import sys; print(sys.argv[1:])", "a b", "--c",
        ],
        check=True, capture_output=True, text=True,
    )  # fmt: skip

    assert done.stdout == "['a b', '--c']\n"
