"""Small real programs to start, watch and end in tests."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cacheroute_cli.supervisor.runner import Program, python

SLEEPER = "import time\nprint('ready', flush=True)\ntime.sleep(60)\n"
STUBBORN = (
    "import signal, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('ready', flush=True)\n"
    "time.sleep(60)\n"
)
POLITE = (
    "import signal, sys, time\n"
    "signal.signal(signal.SIGTERM, lambda *_: (print('bye', flush=True), sys.exit(0)))\n"
    "print('ready', flush=True)\n"
    "time.sleep(60)\n"
)


_NO_CONFIGURATION = f"{os.devnull}/none"
"""A folder that nothing can be in, whoever runs the tests and whatever they leave behind."""


def a_program(code: str, folder: Path, *arguments: str, name: str = "child") -> Program:
    return Program(
        name=name,
        argv=python("-I", "-S", "-c", code, *arguments),
        log=folder / f"{name}.log",
    )


def eventually(condition: Callable[[], bool], *, within_s: float = 10.0) -> bool:
    """Wait for something that other processes bring about."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def is_gone(pid: int) -> bool:
    """Whether nobody but perhaps a zombie has this pid; reaps it if it is ours."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return True
    return state in "ZX"


def an_environment(**variables: str) -> dict[str, str]:
    """Return ours without what steers the CLI, so that a test says all that matters.

    Nobody has a configuration: neither who runs the tests, nor the host they run on.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CACHEROUTE_", "PROXY_", "SCHEDULER_", "XDG_", "INSTANCE_"))
    }
    nowhere = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"), _NO_CONFIGURATION)
    path = f"{Path(sys.executable).parent}:{kept.get('PATH', '')}"
    return {**kept, **nowhere, "PATH": path, **variables}
