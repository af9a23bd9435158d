"""`cacheroute explain`: what a word means, without asking any Proxy."""

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli


def test_a_word_is_explained_in_lines(cli: Cli) -> None:
    said = cli("explain", "ttl")

    assert said.out.splitlines() == [
        "word      ttl",
        "means     Time to live: the silence after which an Instance is no longer alive.",
    ]


def test_a_column_has_its_unit_and_source(cli: Cli) -> None:
    document = cli("explain", "gpu_memory_util", "-o", "json").document

    assert [(one["of"], one["unit"]) for one in document["items"]] == [
        ("instances", "%"),
        ("resources", "%"),
    ]


def test_without_a_word_all_are_listed(cli: Cli) -> None:
    said = cli("explain", "-f", "of:glossary", "-o", "name")

    assert "ttl" in said.out.splitlines()
    assert "score" not in said.out.splitlines()


def test_a_word_that_is_not_there_is_exit_four(cli: Cli) -> None:
    said = cli("explain", "baklog")

    assert said.code == Exit.NOT_FOUND
    assert "did you mean 'backlog" in said.err


def test_no_proxy_is_asked_and_none_is_named(cli: Cli) -> None:
    said = cli("-v", "explain", "ttl", "-o", "json")

    assert said.document.keys() == {"schema", "generated_at", "total", "items"}
    assert "http" not in said.err


def test_words_do_not_change_so_there_is_no_watch(cli: Cli) -> None:
    for words in (("explain", "-w"), ("-w", "explain"), ("explain", "--interval", "2")):
        assert cli(*words).code == Exit.USAGE
    assert "--watch means nothing to this command" in cli("-w", "explain").err
