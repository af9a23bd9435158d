"""What a line may become: from the tree of commands, and from what is on the screen."""

from collections.abc import Mapping
from typing import Any

import pytest

from cacheroute_cli.completing.tree import build, words
from cacheroute_tui.command_completing import common_start, completions


@pytest.fixture(scope="module")
def known() -> Mapping[str, Any]:
    return {"tree": build(), "words": words()}


def test_commands_and_screens_are_completed(known: Mapping[str, Any]) -> None:
    found = completions("sc", known, ids=(), own=("scores", "screenful"))

    assert found == ["scheduler", "scores", "scale", "screenful"]


def test_names_of_instances_are_those_on_the_screen(known: Mapping[str, Any]) -> None:
    assert completions("drain in", known, ids=("inst-1", "other"), own=("inside",)) == [
        "drain inst-1"
    ]


def test_a_name_that_a_shell_would_take_apart_is_quoted(known: Mapping[str, Any]) -> None:
    assert completions("show a", known, ids=("a b[/b]",)) == ["show 'a b[/b]'"]


def test_options_are_completed(known: Mapping[str, Any]) -> None:
    assert "drain inst-1 --force" in completions("drain inst-1 --fo", known, ids=())


def test_within_quotes_nothing_is_guessed(known: Mapping[str, Any]) -> None:
    assert completions('show "a', known, ids=("a b",)) == []


@pytest.mark.parametrize(
    ("lines", "start"), [(("scale", "scores"), "sc"), (("one",), "one"), ((), ""), (("a", "b"), "")]
)
def test_the_common_start(lines: tuple[str, ...], start: str) -> None:
    assert common_start(lines) == start
