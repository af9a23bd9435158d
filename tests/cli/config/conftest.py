"""A configuration of the test's own: its home, its folder and nothing from outside."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Home:
    """Where a test keeps its files."""

    root: Path
    environ: dict[str, str]

    @property
    def file(self) -> Path:
        """The user's own configuration."""
        return self.root / "config" / "cacheroute" / "config.toml"

    @property
    def system(self) -> Path:
        """The configuration of everybody here."""
        return self.root / "system" / "cacheroute" / "config.toml"

    @property
    def here(self) -> Path:
        """The folder that a command is run in."""
        return self.root / "here"

    def write(self, text: str) -> Path:
        """Write the user's own configuration."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(text, encoding="utf-8")
        return self.file


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Point every folder and variable into the test's folder."""
    for name in list(os.environ):
        if name.startswith(("CACHEROUTE_", "PROXY_", "SCHEDULER_")):
            monkeypatch.delenv(name)
    environ = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CONFIG_DIRS": str(tmp_path / "system"),
        "CACHEROUTE_STATE_DIR": str(tmp_path / "state"),
    }
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return Home(tmp_path, environ)
