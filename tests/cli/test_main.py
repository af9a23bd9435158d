"""The way in loads nothing it does not need, and every way out has its code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cacheroute import __version__
from cacheroute_cli import main
from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.signals import Stopped
from tests.cli.supervisor.children import an_environment

HEAVY = {"textual", "fastapi", "uvicorn", "httpx", "rich", "starlette", "pydantic_settings"}


def modules_after(*arguments: str, state: Path) -> set[str]:
    """Return the top-level modules that one command line has loaded when it ends or execs."""
    program = (
        "import json, os, sys\n"
        "from cacheroute_cli.main import run\n"
        "def tell(*_):\n"
        "    sys.stderr.write(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))\n"
        "    sys.stderr.flush()\n"
        "    os._exit(0)\n"
        "os.execv = tell\n"
        "run(sys.argv[1:])\n"
        "tell()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=an_environment(CACHEROUTE_STATE_DIR=str(state)), capture_output=True, check=True,
    )  # fmt: skip
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), (), ("proxy", "--help")])
def test_help_and_version_load_neither_a_client_nor_a_toolkit(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    assert modules_after(*arguments, state=tmp_path) & (HEAVY | {"asyncio"}) == set()


def test_what_becomes_a_proxy_loads_no_client_before(tmp_path: Path) -> None:
    loaded = modules_after("proxy", "start", "-F", "--port", "0", "--cp-port", "0", state=tmp_path)

    assert loaded & (HEAVY | {"asyncio"}) == set()


def test_looking_at_a_proxy_loads_no_web_framework(tmp_path: Path) -> None:
    loaded = modules_after("status", "--proxy-url", "127.0.0.1:1", state=tmp_path)

    assert loaded & (HEAVY - {"httpx"}) == set()


def test_every_command_has_a_module_that_says_the_same_in_its_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in main.COMMANDS:
        assert main.run([name, "--help"]) == Exit.OK
        assert f"Usage: cacheroute {name}" in capsys.readouterr().out


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run([]) == Exit.OK
    bare = capsys.readouterr().out
    assert main.run(["-h"]) == Exit.OK
    assert capsys.readouterr().out == bare
    assert all(f"  {name} " in bare for name in main.COMMANDS)


def test_help_has_every_command_under_one_heading_in_the_order_of_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.run([]) == Exit.OK

    listed = capsys.readouterr().out.partition(f"{next(iter(main.SECTIONS))}:")[2].splitlines()
    shown = [line.split()[0] for line in listed if line.startswith("  ") and line[2] != " "]
    assert shown == list(main.COMMANDS)
    assert set(main.SECTIONS.values()) <= set(main.COMMANDS)


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--version"]) == Exit.OK
    assert capsys.readouterr().out == f"cacheroute {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["instnces"], "did you mean 'instances'"),
        (["xyz"], "there is no command 'xyz'"),
        (["status", "--colour"], "--colour"),
        (["-o", "xml", "status"], "must be one of table, plain"),
        (["proxy", "start", "--port", "x"], "--port"),
        (["agent", "strat"], "strat"),
    ],
)
def test_a_wrong_usage_is_one_line_and_a_hint(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main.run(arguments) == Exit.USAGE

    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert err.startswith("cacheroute: error: ")
    assert "hint: try 'cacheroute" in err


def test_a_wrong_usage_is_an_object_when_a_program_reads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.run(["status", "--colour", "-o", "json"]) == Exit.USAGE

    assert json.loads(capsys.readouterr().err)["error"]["code"] == "usage"
    assert main.run(["status", "--colour", "-ojsonl"]) == Exit.USAGE
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "usage"


def test_a_bug_leaves_its_traceback_in_a_file_that_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))
    monkeypatch.setattr("cacheroute_cli.context.base_url", lambda _: 1 / 0)

    assert main.run(["status", "--proxy-url", "h"]) == Exit.FAILED

    err = capsys.readouterr().err
    assert "this is a bug: ZeroDivisionError" in err
    assert "Traceback" not in err
    [kept] = (tmp_path / "crash").iterdir()
    assert str(kept) in err
    assert "Traceback" in kept.read_text()


def test_who_debugs_sees_the_traceback_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))
    monkeypatch.setattr("cacheroute_cli.context.base_url", lambda _: 1 / 0)

    assert main.run(["status", "--proxy-url", "h", "--debug"]) == Exit.FAILED

    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_what_holds_for_a_command_line_already_is_outranked_by_what_is_typed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = Given(output="json", proxy_url="127.0.0.1:1")

    assert main.run(["status"], given) == Exit.UNREACHABLE
    assert json.loads(capsys.readouterr().err)["error"]["url"].startswith("http://127.0.0.1:1/")
    assert main.run(["-o", "plain", "version"], given) == Exit.OK
    assert capsys.readouterr().out.startswith("cacheroute ")


def test_a_signal_is_its_number_and_a_hundred_and_twenty_eight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(_: str) -> str:
        raise Stopped(15)

    monkeypatch.setattr("cacheroute_cli.context.base_url", stopped)

    assert main.run(["status", "--proxy-url", "h"]) == Exit.TERMINATED


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_a_reader_that_has_left_is_exit_141_and_silence(argument: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "cacheroute_cli", argument],
            stdout=writing, stderr=subprocess.PIPE, env=an_environment(), check=False,
        )  # fmt: skip
    finally:
        os.close(writing)

    assert done.returncode == Exit.BROKEN_PIPE
    assert done.stderr == b""


@pytest.mark.parametrize("words", [("--help",), ("status", "-h"), ("proxy",)])
def test_help_for_which_there_is_no_room_is_no_bug(words: tuple[str, ...], tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cacheroute_cli", *words],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env=an_environment(CACHEROUTE_STATE_DIR=str(tmp_path)),
        )  # fmt: skip

    assert done.returncode == Exit.FAILED
    assert done.stderr == (
        "cacheroute: error: stdout cannot be written (no space left on device)\n"
    )
