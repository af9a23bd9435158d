"""A state and a configuration of the test's own, and the tree of commands made once."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cacheroute_cli.completing import tree


@pytest.fixture(scope="session")
def known() -> dict[str, Any]:
    """The tree of all commands and its words, as they come back from a file."""
    made: dict[str, Any] = json.loads(json.dumps({"tree": tree.build(), "words": tree.words()}))
    return made


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the state folder."""
    for name in list(os.environ):
        if name.startswith(("CACHEROUTE_", "PROXY_", "SCHEDULER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "system"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "state"
