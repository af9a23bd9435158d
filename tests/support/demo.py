"""Demo Instances and knowledge nodes in processes of their own, as an operator would start them."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

READY = "listening on "


@contextlib.contextmanager
def demo_instance(*options: str, model: str = "demo", speed: float = 50) -> Iterator[str]:
    """Run one for as long as the block lasts; yields its base address."""
    with _program(
        "cacheroute.demo.instance", "--no-agent", "--model", model, "--speed", str(speed), *options
    ) as url:
        yield url


@contextlib.contextmanager
def demo_kdn(*options: str) -> Iterator[str]:
    """Run a knowledge node for as long as the block lasts; yields its base address."""
    with _program("cacheroute.demo.kdn", *options) as url:
        yield url


@contextlib.contextmanager
def _program(module: str, *options: str) -> Iterator[str]:
    command = [sys.executable, "-m", module, "--port", "0", "--grace-s", "0", *options]
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
