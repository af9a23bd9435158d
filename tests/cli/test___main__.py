"""The module is the command."""

import subprocess
import sys

from cacheroute import __version__
from tests.cli.supervisor.children import an_environment


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cacheroute_cli", "--version"],
        env=an_environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout == f"cacheroute {__version__}\n"
