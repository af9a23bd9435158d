"""A Proxy in a process of its own, with what it holds readable from outside."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench import processes, readings

_SAYS = re.compile(r"service http://127\.0\.0\.1:(\d+)\s+control http://127\.0\.0\.1:(\d+)")
_READY_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """What a Proxy takes up at one moment."""

    memory_mb: float
    cpu_s: float
    """Used since its start."""
    descriptors: int
    log_bytes: int
    """Everything it has written to its log so far."""
    state_bytes: int
    """All files in its state folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyProcess:
    """A Proxy that listens."""

    service_port: int
    control_port: int
    pid: int
    _log: Path
    _state: Path

    def holdings(self) -> Holdings:
        """Look at it."""
        return Holdings(
            memory_mb=readings.memory_mb([self.pid]),
            cpu_s=readings.cpu_s([self.pid]),
            descriptors=readings.descriptors(self.pid),
            log_bytes=self._log.stat().st_size,
            state_bytes=sum(
                file.stat().st_size for file in self._state.rglob("*") if file.is_file()
            ),
        )

    def said(self) -> str:
        """Return its log."""
        return self._log.read_text()


@contextmanager
def proxy_process(folder: Path, *settings: str) -> Iterator[ProxyProcess]:
    """Run a Proxy with these settings (`pool.ttl_s=1`) for as long as the block lasts."""
    log, state = folder / "log", folder / "state"
    state.mkdir()
    chosen = ("proxy.port=0", "control.port=0", f"state_dir={state}", *settings)
    argv = [
        sys.executable,
        "-m",
        "cacheroute",
        *(part for one in chosen for part in ("--set", one)),
    ]
    with log.open("wb") as file:
        process = processes.start(argv, cpu=None, log=file)
        try:
            service, control = _ports(process, log)
            yield ProxyProcess(
                service_port=service, control_port=control, pid=process.pid, _log=log, _state=state
            )
            assert process.poll() is None, f"it has ended with {process.returncode}"
        finally:
            processes.end(process)


def _ports(process: "subprocess.Popen[str]", log: Path) -> tuple[int, int]:
    deadline_s = time.monotonic() + _READY_S
    while time.monotonic() < deadline_s and process.poll() is None:
        found = _SAYS.search(log.read_text())
        if found is not None:
            return int(found[1]), int(found[2])
        time.sleep(0.01)
    raise AssertionError(f"the Proxy did not start: {log.read_text()}")
