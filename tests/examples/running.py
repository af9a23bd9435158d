"""Runs an example the way a reader would, and knows whether anything of it is left."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

from tests.architecture.sources import ROOT

_OURS = ("CACHEROUTE_", "PROXY_", "INSTANCE_", "CONFIG_PATH")


class Example:
    """One example, and every process that running it has brought about."""

    def __init__(self, script: str) -> None:
        self._script = ROOT / "examples" / script
        self._mark = f"CR_EXAMPLE_MARK={uuid.uuid4().hex}"

    @property
    def command(self) -> list[str]:
        """How it is run."""
        return [sys.executable, str(self._script)]

    @property
    def env(self) -> dict[str, str]:
        """The environment of an office, where a proxy leads to the web and to nothing of ours.

        It marks every process that is run in it.
        """
        name, _, value = self._mark.partition("=")
        plain = {key: text for key, text in os.environ.items() if not key.startswith(_OURS)}
        return {**plain, "http_proxy": "http://127.0.0.1:9", name: value}

    def run(self) -> str:
        """Run it to its end, which must be a good one; return what it printed."""
        done = subprocess.run(
            self.command, env=self.env, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def processes(self) -> list[str]:
        """Return the command lines of what still runs."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self._mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue  # it has ended, or is not ours to look at
        return found
