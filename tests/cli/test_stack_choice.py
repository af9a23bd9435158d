"""Which stack is meant, from what was typed and where we are."""

from pathlib import Path

import pytest

from cacheroute_cli.stack_choice import (
    DEFAULT_STACK,
    FILE_VARIABLE,
    Choice,
    UnclearStack,
    find_stack,
    load_stack,
)
from cacheroute_cli.stackfile.document import BadStackFile
from cacheroute_cli.supervisor.stack_home import StackHome, SupervisorRecord


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "fleet"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def recorded(name: str, file: Path | None) -> StackHome:
    home = StackHome(name)
    home.prepare()
    home.write_supervisor(
        SupervisorRecord(
            stack=name, pid=1, start_ticks=1, boot_id="b", mark="m", socket="/s", started_at_s=1.0,
            file=None if file is None else str(file),
        )
    )  # fmt: skip
    return home


def test_a_file_is_named_by_option_then_variable_then_where_we_are(folder: Path) -> None:
    environ = {FILE_VARIABLE: "other.yaml"}
    assert Choice().file_meant({}) is None
    (folder / "stack.yaml").write_text("")

    assert Choice().file_meant({}) == folder / "stack.yaml"
    assert Choice().file_meant(environ) == folder / "other.yaml"
    assert Choice(file=Path("x.yaml")).file_meant(environ) == folder / "x.yaml"


def test_without_a_file_there_is_a_default_stack() -> None:
    stack = load_stack(Choice())

    assert (stack.name, stack.file) == (DEFAULT_STACK, None)
    assert load_stack(Choice(name="mine")).name == "mine"


def test_a_name_that_is_typed_outranks_that_of_the_file(folder: Path) -> None:
    (folder / "stack.yaml").write_text("stack: filed\n")

    assert load_stack(Choice()).name == "filed"
    assert load_stack(Choice(name="mine")).name == "mine"
    assert find_stack(Choice()).name == "filed"
    assert find_stack(Choice(name="mine")).name == "mine"


def test_a_stack_is_found_by_its_file_even_when_that_has_been_spoilt(folder: Path) -> None:
    path = folder / "stack.yaml"
    path.write_text("stack: [\n")
    with pytest.raises(BadStackFile):
        find_stack(Choice())

    recorded("up-from-here", path)
    recorded("elsewhere", Path("/other/stack.yaml"))

    assert find_stack(Choice()).name == "up-from-here"


def test_without_anything_the_only_one_that_is_up_is_meant() -> None:
    recorded("down", None)
    assert find_stack(Choice()).name == DEFAULT_STACK

    with recorded("a", None).supervising():
        assert find_stack(Choice()).name == "a"
        with (
            recorded("b", None).supervising(),
            pytest.raises(UnclearStack, match="more than one stack is up: a, b"),
        ):
            find_stack(Choice())


def test_two_stacks_from_one_file_have_to_be_named(folder: Path) -> None:
    path = folder / "stack.yaml"
    path.write_text("")
    with (
        recorded("a", path).supervising(),
        recorded("b", path).supervising(),
        pytest.raises(UnclearStack),
    ):
        find_stack(Choice())
