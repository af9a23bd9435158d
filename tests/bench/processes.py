"""Processes that a bench starts: each on a CPU of its own choice, each ended by its id.

The kernel ends them with us, so that a bench that is killed leaves nothing running.
"""

import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

ROOT = Path(__file__).resolve().parents[2]
_END_WITH_PARENT = 1
"""PR_SET_PDEATHSIG."""
_GRACE_S = 5.0

Process = subprocess.Popen[str]


@dataclass(frozen=True, slots=True)
class Cpus:
    """Who runs where."""

    load: int | None
    """Of clients and backends; None when nothing can be pinned."""
    router: int | None


def cpus() -> Cpus:
    """Give the router the last CPU that we may use, and everything else the first one."""
    allowed = sorted(os.sched_getaffinity(0))
    return Cpus(allowed[0], allowed[-1]) if len(allowed) > 1 else Cpus(None, None)


def _prepare(cpu: int | None) -> Callable[[], None]:
    libc = ctypes.CDLL(None)
    highest = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    parent = os.getpid()

    def prepare() -> None:
        libc.prctl(_END_WITH_PARENT, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)  # it ended before we had asked to be told
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest, highest))
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})

    return prepare


def _environment(own: dict[str, str]) -> dict[str, str]:
    """Return our variables without any that would set something in a Proxy."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PROXY_", "CACHEROUTE_")) and name != "CONFIG_PATH"
    }
    return {**kept, **own}


def start(
    argv: Sequence[str],
    *,
    cpu: int | None,
    log: IO[bytes],
    env: dict[str, str] | None = None,
    talks: bool = False,
) -> Process:
    """Start a program; one that `talks` is written to and read line by line."""
    return subprocess.Popen(
        argv,
        cwd=ROOT,
        env=_environment(env or {}),
        stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
        stdout=subprocess.PIPE if talks else log,
        stderr=log,
        text=True,
        preexec_fn=_prepare(cpu),
    )


def end(process: Process) -> None:
    """End a process by its id, politely first."""
    if process.stdin is not None:
        process.stdin.close()
    process.terminate()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def free_ports(count: int) -> list[int]:
    """Return loopback ports that nobody has at the moment."""
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


@contextmanager
def backends(count: int, cpu: int | None, log: IO[bytes]) -> Iterator[list[int]]:
    """Run one backend process that listens on `count` ports."""
    argv = [sys.executable, "-m", "tests.bench.backend", str(count)]
    process = start(argv, cpu=cpu, log=log, talks=True)
    try:
        yield cast(list[int], _reply(process))
    finally:
        end(process)


class LoadFailed(Exception):
    """A measurement could not be made; says why."""


class Load:
    """The process that plays the clients."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def measure(self, order: dict[str, Any]) -> dict[str, Any]:
        """Make one measurement; raises LoadFailed when it is worth nothing."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(json.dumps(order) + "\n")
        stdin.flush()
        taken = cast(dict[str, Any], _reply(self._process))
        if "error" in taken:
            raise LoadFailed(str(taken["error"]))
        if taken["bad"]:
            raise LoadFailed(f"{taken['bad']} answers were not 200 or were cut off")
        return taken


@contextmanager
def load(cpu: int | None, log: IO[bytes]) -> Iterator[Load]:
    """Run the process that plays the clients."""
    argv = [sys.executable, "-m", "tests.bench.load"]
    process = start(argv, cpu=cpu, log=log, talks=True)
    try:
        yield Load(process)
    finally:
        end(process)


def _reply(process: Process) -> object:
    stdout = process.stdout
    assert stdout is not None
    line = stdout.readline()
    if not line:
        raise LoadFailed(f"{process.args!r} has ended with {process.wait(_GRACE_S)}")
    return json.loads(line)
