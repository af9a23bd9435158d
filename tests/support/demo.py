"""A demo Instance in a process of its own, as an operator would start it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

READY = "listening on "


@contextlib.contextmanager
def demo_instance(*options: str, model: str = "demo", speed: float = 50) -> Iterator[str]:
    """Run one for as long as the block lasts; yields its base address."""
    command = [
        sys.executable, "-m", "cacheroute.demo.instance", "--port", "0", "--no-agent",
        "--model", model, "--speed", str(speed), "--grace-s", "0", *options,
    ]  # fmt: skip
    environ = {key: value for key, value in os.environ.items() if key[:6] != "PROXY_"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith(READY), f"it said {line!r} and ended with {process.poll()}"
            yield line.removeprefix(READY).strip()
        finally:
            process.terminate()
            process.wait(timeout=10)
