"""Each shell gets its own form of the same words."""

from pathlib import Path

import pytest

from cacheroute_cli.completing import answer
from cacheroute_cli.completing.seen import remember

URL = "http://127.0.0.1:8002"


@pytest.fixture
def folder(state: Path, known: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(answer, "load", lambda _: known)
    remember(URL, instances=["hp_127.0.0.1:9001", "hp_127.0.0.1:9002", "it's"])
    return state


def test_bash_replaces_only_what_follows_a_colon(folder: Path) -> None:
    line = "cacheroute drain hp_127.0.0.1:"

    assert answer.for_bash(line, " :=", folder) == ["values", "9001", "9002"]
    assert answer.for_bash(line, " ", folder) == [
        "values", "hp_127.0.0.1:9001", "hp_127.0.0.1:9002",
    ]  # fmt: skip
    assert answer.for_bash("cacheroute status --output=js", " :=", folder) == [
        "values", "json", "jsonl",
    ]  # fmt: skip


def test_bash_gets_words_that_it_reads_back_as_they_were(folder: Path) -> None:
    assert answer.for_bash("cacheroute drain it", ":", folder) == ["values", """'it'"'"'s'"""]


def test_zsh_gets_help_behind_a_colon_and_the_other_colons_escaped(folder: Path) -> None:
    found = answer.for_zsh(["cacheroute", "drain", "hp_127.0.0.1:9001"], folder)

    assert found == ["values", "hp_127.0.0.1\\:9001"]
    assert answer.for_zsh(["cacheroute", "vers"], folder) == [
        "values",
        "version:Print the version.",
    ]


def test_fish_gets_help_behind_a_tab(folder: Path) -> None:
    assert answer.for_fish("cacheroute vers", folder) == ["values", "version\tPrint the version."]
    assert answer.for_fish("cacheroute drain hp_127.0.0.1:9001", folder) == [
        "values", "hp_127.0.0.1:9001",
    ]  # fmt: skip


def test_files_are_for_the_shell_to_find(folder: Path) -> None:
    assert answer.for_bash("cacheroute up -f ./st", ":", folder) == ["files"]
    assert answer.for_zsh(["cacheroute", "up", "-f", "./st"], folder) == ["files"]
    assert answer.for_fish("cacheroute up -f ", folder) == ["files"]


def test_nothing_that_fits_is_an_empty_list_and_no_files(folder: Path) -> None:
    assert answer.for_bash("cacheroute zzz", ":", folder) == ["values"]


def test_a_flood_is_cut(folder: Path) -> None:
    remember(URL, instances=[f"i-{at}" for at in range(answer.MAX_CANDIDATES + 1)])

    found = answer.found_for(["drain", "i-"], folder)

    assert found is not None
    assert len(found) == answer.MAX_CANDIDATES


def test_the_tree_is_that_of_the_folder(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def load(folder: Path) -> dict[str, object]:
        asked.append(folder)
        return {"tree": {"options": [], "arguments": [], "commands": {}}, "words": {}}

    monkeypatch.setattr(answer, "load", load)
    assert answer.found_for([""], state) == []
    assert asked == [state]
