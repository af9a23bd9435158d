"""The tree has every command and option, and is made anew when a command changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from cacheroute_cli.completing import tree
from cacheroute_cli.main import COMMANDS


def test_every_command_is_in_it(known: dict[str, Any]) -> None:
    commands = known["tree"]["commands"]

    assert list(commands) == list(COMMANDS)
    assert list(commands["context"]["commands"]) == ["list", "show", "use", "add", "rm"]
    assert all(node["help"] for node in commands.values())


def options(node: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: option for option in node["options"] for name in option["names"]}


@pytest.mark.parametrize(
    ("path", "option", "source"),
    [
        ((), "--context", "contexts"),
        ((), "--config", "files"),
        ((), "--proxy-url", None),
        (("status",), "--check", ["healthy", "accepting"]),
        (("instances",), "--sort", "columns:instances"),
        (("instances",), "--columns", "columns:instances"),
        (("proxy", "start"), "--strategy", "strategies"),
        (("proxy", "start"), "--config", "files"),
        (("proxy", "start"), "--injection-strategy", ["default", "iws"]),
        (("instance", "start"), "--instance-id", None),
        (("logs",), "--stack", "stacks"),
    ],
)
def test_the_value_of_an_option_has_its_source(
    known: dict[str, Any], path: tuple[str, ...], option: str, source: object
) -> None:
    node = known["tree"]
    for name in path:
        node = node["commands"][name]

    assert options(node)[option]["takes"]
    assert options(node)[option]["source"] == source


@pytest.mark.parametrize(
    ("path", "source", "many"),
    [
        (("show",), "instances", False),
        (("drain",), "instances", True),
        (("strategy",), "strategies", False),
        (("context", "use"), "contexts", False),
        (("logs",), "processes", True),
        (("restart",), "processes", True),
        (("proxy", "stop"), "proxy", False),
        (("agent", "status"), "agent", False),
        (("explain",), "terms", False),
        (("export",), "lists", False),
        (("help",), "commands", True),
        (("completion",), ["bash", "zsh", "fish"], False),
        (("instances",), None, False),
    ],
)
def test_an_argument_has_its_source(
    known: dict[str, Any], path: tuple[str, ...], source: object, many: bool
) -> None:
    node = known["tree"]
    for name in path:
        node = node["commands"][name]

    [argument] = node["arguments"]
    assert (argument["source"], argument["many"]) == (source, many)


def test_every_source_that_is_named_is_one_that_gives_names(known: dict[str, Any]) -> None:
    from cacheroute_cli.completing.names import _SOURCES, FILES

    def sources(node: dict[str, Any]) -> set[str]:
        found = {one.get("source") for one in [*node["options"], *node["arguments"]]
                 if isinstance(one.get("source"), str)}  # fmt: skip
        for inner in node.get("commands", {}).values():
            found |= sources(inner)
        return found

    named = sources(known["tree"]) - {FILES, "commands"}
    known_columns = {source for source in named if source.startswith("columns:")}
    assert named - known_columns - set(_SOURCES) - set(known["words"]) == set()


def test_the_words_are_those_of_the_console(known: dict[str, Any]) -> None:
    words = known["words"]

    assert words["strategies"] == ["round_robin", "least_load"]
    assert {"iws", "score"} <= set(words["terms"])
    assert "instances" in words["lists"]
    assert "inflight" in words["columns:instances"]
    assert "sign" not in words["columns:instances"]


def test_it_is_kept_in_a_file_until_a_command_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tree.load(tmp_path)
    monkeypatch.setattr(tree, "build", lambda: {"help": "another"})

    assert tree.load(tmp_path) == json.loads(json.dumps(first))
    monkeypatch.setattr(tree, "_stamp", lambda: [0, 0])
    assert tree.load(tmp_path)["tree"] == {"help": "another"}


def test_without_a_place_for_a_file_it_is_made_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "build", lambda: {"help": "another"})
    (tmp_path / "file").touch()

    assert tree.load(tmp_path / "file" / "x")["tree"] == {"help": "another"}
