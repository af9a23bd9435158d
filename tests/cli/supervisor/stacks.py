"""Small stacks of real processes, and a supervisor of their own for them."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cacheroute_cli.supervisor.asking import NoSupervisor, ask
from cacheroute_cli.supervisor.ending import end_marked
from cacheroute_cli.supervisor.messages import Do, Reply, Request
from cacheroute_cli.supervisor.process import ProcessPlan, RestartRule, StopRule
from cacheroute_cli.supervisor.runner import python
from cacheroute_cli.supervisor.stack_home import ProcessStatus, StackHome
from tests.cli.supervisor.children import SLEEPER, an_environment, eventually

AT_ONCE = RestartRule(first_s=0.01, longest_s=0.02, most=3, window_s=60.0)
SHORT = StopRule(grace_s=5.0)


def a_plan(
    name: str = "one",
    code: str = SLEEPER,
    *arguments: str,
    kind: str = "instance",
    restart: RestartRule = AT_ONCE,
    stop: StopRule = SHORT,
    **others: Any,
) -> ProcessPlan:
    """Return a process that runs a piece of Python, and is ready as soon as it runs."""
    return ProcessPlan(
        name=name,
        kind=kind,
        argv=python("-I", "-S", "-c", code, *arguments),
        restart=restart,
        stop=stop,
        **others,
    )


@dataclass
class Supervised:
    """A supervisor in a process of its own."""

    home: StackHome
    process: "subprocess.Popen[bytes]"
    told: list[str] = field(default_factory=list)

    def ask(self, do: Do, *plans: ProcessPlan, names: Sequence[str] = (), **more: Any) -> Reply:
        request = Request(do=do, plans=plans, names=tuple(names), **more)
        return ask(self.home, request, self.told.append, silence_s=30)

    def status(self, name: str) -> ProcessStatus:
        found = {status.name: status for status in self.ask("ps").snapshot or ()}
        return found[name]

    def pid(self, name: str) -> int:
        pid = self.status(name).pid
        assert pid is not None
        return pid

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def supervised(root: Path, name: str = "s") -> Iterator[Supervised]:
    """Run a supervisor; whatever it started is gone afterwards."""
    home = StackHome(name, root)
    home.prepare()
    with home.supervisor_log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "cacheroute_cli.supervisor", name, str(root)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=an_environment(),
            start_new_session=True,
        )  # fmt: skip
    it = Supervised(home, process)
    try:
        assert eventually(lambda: _answers(it)), home.supervisor_log.read_text()
        yield it
    finally:
        record = home.supervisor()
        process.kill()
        process.wait()
        if record is not None:
            end_marked(record.mark)


def _answers(it: Supervised) -> bool:
    if it.process.poll() is not None:
        return False
    try:
        it.ask("ps")
    except NoSupervisor:
        return False
    return True


def kill(pid: int) -> None:
    """Kill one of our own."""
    os.kill(pid, signal.SIGKILL)
