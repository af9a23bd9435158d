"""What operators complain about with other consoles, as far as it begins on this side of the link.

Each test is named after its complaint.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.supervisor.children import an_environment
from tests.cli.test_import_cost import HEAVY
from tests.cli.test_main import modules_after

LAB = """\
current_context = "lab"
contexts.lab = { proxy_url = "http://127.0.0.1:1", readonly = true }
contexts.local = { proxy_url = "http://127.0.0.1:2" }
"""
WRITES = (
    ("drain", "i", "-y"),
    ("undrain", "i"),
    ("weight", "i", "2"),
    ("unregister", "i", "-y"),
    ("strategy", "least_load"),
)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    file = tmp_path / "config" / "cacheroute" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(LAB)
    return file


@pytest.mark.parametrize("arguments", [("--help",), ("version",), ("context", "list")])
def test_slow_start(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert modules_after(*arguments, state=tmp_path) & HEAVY == set()


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("arguments", WRITES, ids=lambda arguments: arguments[0])
def test_read_only_leaks_through_no_command(cli: Cli, arguments: tuple[str, ...]) -> None:
    said = cli(*arguments)

    # Nobody listens there: whatever had been sent would have failed with another code.
    assert said.code == Exit.NOT_ALLOWED
    assert "read-only" in said.err or "for looking only" in said.err


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("arguments", WRITES, ids=lambda arguments: arguments[0])
def test_read_only_leaks_through_no_prompt(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli("repl", "-e", ":" + " ".join(arguments)).code == Exit.NOT_ALLOWED


def test_read_only_is_not_lifted_by_a_file_of_the_folder(
    cli: Cli,
    lab: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stack.yaml").write_text("console: {readonly: false}\n")

    assert f"readonly\ttrue\t{lab}:2" in cli("config", "show", "--origin").out
    assert cli("drain", "i", "-y").code == Exit.NOT_ALLOWED


@pytest.mark.usefixtures("lab")
def test_link_drops_and_another_context_can_be_chosen(cli: Cli) -> None:
    said = cli("repl", "-e", ":status", "-e", ":context use local", "-e", ":status")

    assert said.code == Exit.UNREACHABLE
    assert "http://127.0.0.1:1 (connection refused)" in said.err
    assert "the current context is local" in said.err
    assert "http://127.0.0.1:2 (connection refused)" in said.err


def test_link_drops_and_the_prompt_comes_all_the_same(tmp_path: Path) -> None:
    # It takes connections and says nothing.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        done = subprocess.run(
            [sys.executable, "-m", "cacheroute_cli", "repl", "--timeout", "0.2",
             "--proxy-url", f"127.0.0.1:{silent.getsockname()[1]}"],
            input=":status\n:version\n", capture_output=True, text=True, check=False,
            env=an_environment(CACHEROUTE_STATE_DIR=str(tmp_path)), timeout=60,
        )  # fmt: skip

    assert done.returncode == Exit.UNREACHABLE
    assert done.stdout.startswith("cacheroute ")
    assert "did not answer within 0.2 s" in done.stderr


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize(
    "arguments",
    [("context", "list"), ("context", "show"), ("config", "show"), ("config", "path"),
     ("config", "validate"), ("version",), ("doctor",)],
    ids=" ".join,
)  # fmt: skip
def test_scripted_output_is_one_document_on_stdout_and_no_word_beside(
    cli: Cli,
    arguments: tuple[str, ...],
) -> None:
    said = cli(*arguments, "-o", "json")

    assert said.err == ""
    assert said.out.count("\n") == 1
    assert json.loads(said.out)["schema"].startswith("cacheroute.")


def test_ascii_terminals_get_letters(cli: Cli, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEROUTE_ASCII", "1")

    assert cli("context", "list", "-o", "table").out.isascii()
    assert os.environ["CACHEROUTE_ASCII"]
    assert lab.exists()
