"""All checks are made, in their order, whatever state things are in."""

from pathlib import Path

import pytest

from cacheroute_cli.context import Given
from cacheroute_cli.doctor.examine import examine
from tests.cli.commands.conftest import stack_folder, state  # noqa: F401 - fixtures

pytestmark = pytest.mark.usefixtures("state")


def names(given: Given) -> list[str]:
    return list(dict.fromkeys(check.name for check in examine(given)))


def test_every_check_is_made() -> None:
    assert names(Given(proxy_url="127.0.0.1:1")) == [
        "config", "proxy", "terminal", "state", "orphans", "stale", "stack", "ports", "files",
        "programs",
    ]  # fmt: skip


def test_a_stack_file_that_is_wrong_is_told_and_the_rest_is_looked_at(
    stack_folder: Path,  # noqa: F811 - the fixture
) -> None:
    (stack_folder / "stack.yaml").write_text("proxy: {prot: 1}\n")

    checks = list(examine(Given()))

    [stack] = [check for check in checks if check.verdict == "bad"]
    assert stack.name == "stack"
    assert "stack.yaml:1: proxy.prot is unknown here" in stack.sentence
    assert checks[-1].name == "programs"


def test_where_the_configuration_is_broken_the_rest_is_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "config" / "cacheroute" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("timout = 1\n")

    assert names(Given())[:2] == ["config", "terminal"]


def test_what_keeps_us_from_asking_is_told(tmp_path: Path) -> None:
    file = tmp_path / "config" / "cacheroute" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('contexts.a = { proxy_url = "127.0.0.1:1", token_file = "none" }\n')

    checks = {check.name: check for check in examine(Given(context="a"))}

    assert checks["token"].verdict == "bad"
    assert checks["proxy"].sentence.startswith("nobody can be asked: ")
