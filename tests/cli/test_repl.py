"""A prompt runs what the program runs: the same commands, the same parser, the same exit codes."""

import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer

from cacheroute_cli import main, repl
from cacheroute_cli.completing.seen import remember
from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.repl import Left, completions, prompt, run_line, run_lines, words_of
from tests.cli.commands.conftest import state  # noqa: F401 - a fixture
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies

pytestmark = pytest.mark.usefixtures("state")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (":status", ["status"]),
        ("status", ["status"]),
        (":instances --all 50", ["instances", "--all", "50"]),
        (": status", ["status"]),
        ("cacheroute context list", ["context", "list"]),
        (":cacheroute status", ["status"]),
        ("drain 'a b' --reason \"x y\"", ["drain", "a b", "--reason", "x y"]),
        ("  ", []),
        ("# a note", []),
        (":", []),
        ("status # now", ["status"]),
    ],
)
def test_a_line_is_the_arguments_of_the_program(line: str, words: list[str]) -> None:
    assert words_of(line) == words


@pytest.mark.parametrize("line", [":exit", "exit", ":quit", "quit", ":q", "q", " :q "])
def test_there_are_several_ways_to_leave(line: str) -> None:
    with pytest.raises(Left):
        words_of(line)


def leaves() -> Iterator[list[str]]:
    """Find every command there is, with its path."""

    def below(command: Any, path: list[str]) -> Iterator[list[str]]:
        if not hasattr(command, "list_commands"):
            yield path
            return
        context = typer.Context(command)
        for name in command.list_commands(context):
            yield from below(command.get_command(context, name), [*path, name])

    yield from below(typer.main.get_command(main.app), [])


@pytest.mark.parametrize("path", list(leaves()), ids=" ".join)
def test_every_command_of_the_program_is_one_of_the_prompt(
    path: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run([*path, "--help"]) == Exit.OK
    from_program = capsys.readouterr()
    line = " ".join([*path, "--help"])
    if path == ["repl"]:
        assert run_line(":" + line, Given()) == Exit.USAGE
        return

    for spelling in (line, ":" + line):
        assert run_line(spelling, Given()) == Exit.OK
        assert capsys.readouterr() == from_program


def test_the_published_lines_work(capsys: pytest.CaptureFixture[str]) -> None:
    pool = replies(an_instance("a"), an_instance("b", is_alive=False, last_seen_at=0))
    pool["/debug/scheduler"] = {"ok": True, "url": None, "state": "off"}
    lines = [
        ":status",
        ":instances --all 50",
        ":instances 1",
        ":watch --interval 0.5 --limit 5 --count 1",
        ":scheduler",
        ":help",
        ":exit",
        ":status --never-run",
    ]
    with a_control_plane(pool) as url:
        assert run_lines(lines, Given(proxy_url=url)) == Exit.OK

    out, err = capsys.readouterr()
    assert "1 alive · 0 stale · 1 dead" in out
    assert "Usage: cacheroute" in out
    assert err == ""


def test_what_was_said_before_the_prompt_holds_at_it(capsys: pytest.CaptureFixture[str]) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        given = Given(proxy_url=url, output="name")

        assert run_line(":instances", given) == Exit.OK
        assert capsys.readouterr().out == "a\n"
        assert run_line(":instances -o csv --columns id --no-headers", given) == Exit.OK
        assert capsys.readouterr().out == "a\n"


def test_errors_end_no_prompt_and_the_first_code_is_that_of_a_script(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = [":nonsense", ":status --proxy-url 127.0.0.1:1", "version", ":'", ":repl"]

    assert run_lines(lines, Given()) == Exit.USAGE

    out, err = capsys.readouterr()
    assert out.startswith("cacheroute ")
    assert err.count("error: ") == 4
    assert "no closing quotation" in err
    assert "this is the prompt already" in err


def test_an_error_is_an_object_where_a_program_reads(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_line(":nonsense", Given(output="json")) == Exit.USAGE

    assert capsys.readouterr().err.startswith('{"error": ')


def test_an_interrupt_ends_the_command_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(repl, "run", interrupted)

    assert run_line(":status", Given()) == Exit.INTERRUPTED


def test_whoever_has_left_is_asked_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[object] = []

    def run(words: object, _: Given) -> int:
        ran.append(words)
        return Exit.BROKEN_PIPE

    monkeypatch.setattr(repl, "run", run)

    assert run_lines([":status", ":status"], Given()) == Exit.BROKEN_PIPE
    assert len(ran) == 1


def test_lines_may_come_through_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO(":version -o json\n\n# done\n:exit\n:nonsense\n"))

    assert repl.run_prompt(Given()) == Exit.OK

    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert err == ""


def test_the_prompt_says_who_is_meant(tmp_path: Path) -> None:
    url = "http://127.0.0.1:8002"
    assert prompt(Given()) == "127.0.0.1:8002> "
    remember(url, proxy_id="proxy-a")
    assert prompt(Given()) == "proxy-a> "

    file = tmp_path / "config" / "cacheroute" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        'current_context = "lab"\n'
        'contexts.lab = { proxy_url = "http://127.0.0.1:1" }\n'
        'contexts.prod = { proxy_url = "http://127.0.0.1:2", label = "PROD" }\n'
    )
    assert prompt(Given()) == "lab> "
    assert prompt(Given(context="prod")) == "PROD> "
    assert prompt(Given(context="gone")) == "?> "
    remember("http://127.0.0.1:3", proxy_id="\x1b[2Jx")
    assert prompt(Given(proxy_url="http://127.0.0.1:3")) == "[2Jx> "


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (":versi", [":version "]),
        ("versi", ["version "]),
        (":context u", ["use "]),
        ("context u", ["use "]),
        ("instances --output=js", ["json ", "jsonl "]),
        ("drain it", ["'it'\"'\"'s' "]),
        ("up -f st", []),
        ("zzz", []),
    ],
)
def test_the_tab_key_completes_as_in_a_shell(typed: str, found: list[str]) -> None:
    remember("http://127.0.0.1:8002", instances=["it's"])

    assert completions(typed) == found


def test_what_cannot_be_completed_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("cacheroute_cli.completing.answer.found_for", broken)

    assert completions("st") == []
