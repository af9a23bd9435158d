"""A change of some processes shows those, and no others."""

import json
from pathlib import Path

import pytest

from cacheroute_cli.changing import change, scale
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.stack_choice import Choice
from tests.cli.supervisor.stacks import a_plan, supervised


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CACHEROUTE_STACK_FILE", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_kind_means_all_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with supervised(folder / "state") as it:
        it.ask("apply", a_plan("p", kind="proxy"), a_plan("a"), a_plan("b"))

        change(Context(output="json"), Choice(name="s"), "stop", ["instances"], timeout_s=None)

    shown = json.loads(capsys.readouterr().out)["items"]
    assert [(row["name"], row["state"]) for row in shown] == [("a", "stopped"), ("b", "stopped")]


def test_instances_that_are_a_list_cannot_be_scaled(folder: Path) -> None:
    path = folder / "stack.yaml"
    path.write_text("stack: s\ninstances:\n  - {name: a}\n")
    with supervised(folder / "state") as it:
        it.ask("apply", a_plan("a"), file=str(path))

        with pytest.raises(UsageFault, match="are a list of 1, and cannot be 3"):
            scale(Context(), Choice(), "instance=3", timeout_s=None)
