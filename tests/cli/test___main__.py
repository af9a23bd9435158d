"""The module is the command."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cacheroute import __version__
from tests.cli.supervisor.children import an_environment


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cacheroute_cli", "--version"],
        env=an_environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout == f"cacheroute {__version__}\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_nowhere_and_no_crash(closed: str, tmp_path: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m cacheroute_cli version -o json {closed}"

    done = subprocess.run(
        ["/bin/sh", "-c", command], env=an_environment(CACHEROUTE_STATE_DIR=str(tmp_path)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == (" >&-" not in f" {closed}")
    assert list(tmp_path.iterdir()) == []
