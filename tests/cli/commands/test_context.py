"""`cacheroute context`: none of it asks a Proxy."""

import tomllib
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.schemas.shapes import flaws_of

NOBODY = "http://127.0.0.1:1"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "cacheroute" / "config.toml"


@pytest.fixture
def two(cli: Cli) -> None:
    cli("context", "add", "local", "--proxy-url", "127.0.0.1:1", "--use")
    cli("context", "add", "lab", "--proxy-url", "127.0.0.1:2", "--readonly", "--label", "LAB")


def test_the_first_context_makes_the_file(cli: Cli, file: Path) -> None:
    said = cli(
        "context", "add", "lab", "--proxy-url", "127.0.0.1:1", "--scheduler-url", "127.0.0.1:2",
        "--readonly", "--label", "LAB", "--label-color", "red", "--token-file", "~/.t", "--use",
    )  # fmt: skip

    assert (said.code, said.out) == (Exit.OK, "")
    assert said.err == "the current context is lab\n"
    assert tomllib.loads(file.read_text()) == {
        "current_context": "lab",
        "contexts": {
            "lab": {
                "proxy_url": NOBODY, "scheduler_url": "http://127.0.0.1:2", "readonly": True,
                "label": "LAB", "color": "red", "token_file": "~/.t",
            }
        },
    }  # fmt: skip


@pytest.mark.usefixtures("two")
def test_contexts_are_listed_and_the_one_in_force_has_a_dot(cli: Cli) -> None:
    assert cli("context", "list", "-o", "table").out.splitlines()[1].startswith("● local")
    assert cli("context", "list", "-o", "name").out == "local\nlab\n"
    assert cli("-c", "lab", "context", "list", "-o", "json").document["current"] == "lab"


def test_a_name_with_a_blank_can_be_copied_out_of_a_hint(cli: Cli) -> None:
    added = cli("context", "add", "my lab", "--proxy-url", "127.0.0.1:2")
    again = cli("context", "add", "my lab", "--proxy-url", "127.0.0.1:2")

    assert "'cacheroute context use 'my lab''" in added.err
    assert "'cacheroute context rm 'my lab''" in again.err


def test_a_wrong_value_is_told_by_the_option_that_was_typed(cli: Cli) -> None:
    said = cli("context", "add", "lab", "--proxy-url", "127.0.0.1:2", "--label-color", "pinkish")

    assert said.code == Exit.USAGE
    assert "error: --label-color must be one of black, red" in said.err


@pytest.mark.usefixtures("two")
def test_the_documents_are_as_described(cli: Cli) -> None:
    documents = [
        cli("context", "list", "-o", "json").document,
        cli("context", "show", "-o", "json").document,
    ]

    assert [flaw for one in documents for flaw in flaws_of(one)] == []
    assert documents[0]["items"][1]["readonly"] is True
    assert documents[1]["context"] == "local"
    assert cli("context", "list", "-o", "csv").out.startswith("name,proxy_url,")


@pytest.mark.usefixtures("two")
def test_another_context_is_chosen_without_a_proxy_to_ask(cli: Cli) -> None:
    assert cli("context", "use", "lab").err == "the current context is lab\n"

    said = cli("status")
    assert said.code == Exit.UNREACHABLE
    assert "http://127.0.0.1:2" in said.err


@pytest.mark.usefixtures("two")
def test_who_outranks_the_choice_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEROUTE_CONTEXT", "local")
    assert cli("context", "use", "lab").err == (
        "the current context is lab, but CACHEROUTE_CONTEXT outranks it here\n"
    )
    monkeypatch.setenv("PROXY_CP_URL", "127.0.0.1:9")
    monkeypatch.delenv("CACHEROUTE_CONTEXT")
    assert "but PROXY_CP_URL outranks it here" in cli("context", "use", "lab").err


@pytest.mark.usefixtures("two")
def test_each_value_of_a_context_says_where_it_stands(cli: Cli, file: Path) -> None:
    lines = cli("context", "show", "lab").out.splitlines()

    assert lines[0].split("\t")[:3] == ["proxy_url", "http://127.0.0.1:2", f"{file}:7"]
    assert lines[1].split("\t")[:2] == ["readonly", "true"]


@pytest.mark.usefixtures("two")
def test_a_context_that_is_removed_is_current_no_more(cli: Cli, file: Path) -> None:
    said = cli("context", "rm", "local")

    assert said.err == "removed; it was the current one, and none is now\n"
    assert "local" not in file.read_text()
    assert cli("context", "show").code == Exit.USAGE
    assert cli("context", "rm", "lab").err == "removed\n"
    assert cli("context", "list").err == (
        "no contexts; 'cacheroute context add NAME --proxy-url URL' makes one\n"
    )


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("use", "lba"), Exit.USAGE, "there is no context 'lba'\n  hint: there are local, lab"),
        (("show", "lba"), Exit.USAGE, "there is no context 'lba'"),
        (("rm", "lba"), Exit.USAGE, "there is no context 'lba'"),
        (("add", "lab", "--proxy-url", "h:1"), Exit.CONFLICT, "there is a context 'lab' already"),
        (("add", "far"), Exit.USAGE, "--proxy-url is missing"),
        (("add", "", "--proxy-url", "h:1"), Exit.USAGE, "the name must be a text"),
        (("add", "x", "--proxy-url", "ftp://h"), Exit.USAGE, "proxy_url must be a URL"),
        (("add", "x", "--proxy-url", "h:1", "--label-color", "pink"), Exit.USAGE,
            "color must be one of black, red"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_and_changes_nothing(
    cli: Cli, file: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    before = file.read_text()

    said = cli("context", *arguments)

    assert said.code == code
    assert words in said.err
    assert file.read_text() == before


def test_a_current_context_that_is_gone_can_be_mended(cli: Cli, file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text('current_context = "gone"\ncontexts.lab = { proxy_url = "h:1" }\n')

    said = cli("status")
    assert said.code == Exit.USAGE
    assert f"{file}:1: there is no context 'gone'" in said.err
    assert cli("context", "list", "-o", "name").out == "lab\n"
    assert cli("context", "use", "lab").code == Exit.OK


def test_the_contexts_of_everybody_are_not_ours_to_remove(cli: Cli, tmp_path: Path) -> None:
    system = tmp_path / "system" / "cacheroute" / "config.toml"
    system.parent.mkdir(parents=True)
    system.write_text('contexts.all = { proxy_url = "h:1" }\n')

    said = cli("context", "rm", "all")

    assert said.code == Exit.USAGE
    assert f"{system}:1: context 'all' stands there" in said.err
    assert cli("context", "use", "all").code == Exit.OK


def test_another_file_can_be_meant(cli: Cli, tmp_path: Path, file: Path) -> None:
    other = tmp_path / "other.toml"
    other.touch()

    cli("--config", str(other), "context", "add", "x", "--proxy-url", "h:1")

    assert "[contexts.x]" in other.read_text()
    assert not file.exists()
