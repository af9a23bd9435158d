"""The environment that tests give to programs of ours."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.supervisor.children import an_environment


def test_who_runs_the_tests_has_no_say_in_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cacheroute").mkdir()
    (tmp_path / "cacheroute" / "config.toml").write_text("timeout = 'broken'\n")
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("CACHEROUTE_THEME", "broken")
    monkeypatch.setenv("SCHEDULER_CP_URL", "broken:")

    done = subprocess.run(
        [sys.executable, "-m", "cacheroute_cli", "config", "validate"],
        env=an_environment(), cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "the configuration is good\n"
