"""Commands run in this process, with a state folder of their own and nothing from outside."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cacheroute_cli.main import run
from cacheroute_cli.processes import stop
from cacheroute_cli.supervisor.ending import end, end_marked
from cacheroute_cli.supervisor.stack_home import homes
from cacheroute_cli.supervisor.state import State


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


Cli = Callable[..., Said]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[State]:
    """Keep the state in the test's folder; ends whatever is left running there."""
    for name in list(os.environ):
        if name.startswith(("CACHEROUTE_", "PROXY_", "INSTANCE_", "CONFIG_PATH")):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "system"))
    state = State()
    yield state
    for kind in ("instance", "proxy", "agent"):
        for record in state.running(kind):
            stop(kind, record.name, grace_s=5, state=state)


@pytest.fixture
def stack_folder(state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a folder of its own; ends whatever stack is left up."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    folder = tmp_path / "fleet"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    for home in homes(state.root):
        if (record := home.supervisor()) is not None:
            end(record.identity, grace_s=5)
            end_marked(record.mark)


@pytest.fixture
def cli(state: State, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run one command line."""

    def call(*arguments: str) -> Said:
        capsys.readouterr()
        code = run(arguments)
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return call
