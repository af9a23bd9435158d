"""`cacheroute tui`: what it hands on to the console, and that it becomes it."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

import pytest

from cacheroute_cli.commands import tui
from cacheroute_cli.context import TOKEN_VARIABLE
from tests.cli.commands.conftest import Cli
from tests.cli.live_proxy import live_proxy


class Became(Exception):
    """The process is another program now."""

    def __init__(self, words: Sequence[str], environ: Mapping[str, str]) -> None:
        super().__init__(words)
        self.words = list(words)
        self.environ = dict(environ)


@pytest.fixture
def became(monkeypatch: pytest.MonkeyPatch) -> list[Became]:
    """Note what the process would become, in the place of becoming it."""
    found: list[Became] = []

    def execve(_: str, words: Sequence[str], environ: Mapping[str, str]) -> None:
        found.append(Became(words, environ))

    monkeypatch.setattr(os, "execve", execve)
    return found


def test_it_becomes_the_console_with_what_was_typed(cli: Cli, became: list[Became]) -> None:
    cli("tui", "--screen", "scores", "-i", "2", "--theme", "cb", "--write", "--no-mouse",
        "--proxy-url", "127.0.0.1:7", "--ascii", "--timeout", "3")  # fmt: skip

    words = became[0].words
    assert words[:4] == [sys.executable, "-P", "-m", "cacheroute_tui"]
    assert set(words[4:]) == {
        "--screen=scores", "--interval=2.0", "--theme=cb", "--write", "--no-mouse",
        "--proxy-url=127.0.0.1:7", "--ascii", "--timeout=3.0",
    }  # fmt: skip


def test_what_was_not_typed_is_not_handed_on(cli: Cli, became: list[Became]) -> None:
    cli("tui")

    assert became[0].words[4:] == []


def test_options_before_the_command_count_as_well(cli: Cli, became: list[Became]) -> None:
    cli("--proxy-url", "127.0.0.1:7", "tui")

    assert became[0].words[4:] == ["--proxy-url=127.0.0.1:7"]


def test_a_token_is_on_no_command_line(cli: Cli, became: list[Became]) -> None:
    cli("tui", "--token", "secret-7")

    assert not any("secret-7" in word for word in became[0].words)
    assert became[0].environ[TOKEN_VARIABLE] == "secret-7"


def test_a_configuration_that_cannot_be_used_is_said_before_the_terminal_is_taken(
    cli: Cli, became: list[Became]
) -> None:
    said = cli("tui", "--context", "nowhere")

    assert said.code == 2
    assert "there is no context 'nowhere'" in said.err
    assert not became


def test_the_names_it_takes_are_those_of_the_console() -> None:
    from cacheroute_tui.__main__ import SCREEN_NAMES
    from cacheroute_tui.app import SCREENS
    from cacheroute_tui.themes import AUTO, THEMES

    names = tuple(one.NAME for one in SCREENS)
    assert get_args(tui.ScreenName) == SCREEN_NAMES == names
    assert set(get_args(tui.ThemeName)) == {AUTO, *THEMES}


def test_a_picture_of_a_real_proxy_is_printed(tmp_path: Path) -> None:
    with live_proxy() as proxy:
        proxy.register("inst-1")
        done = subprocess.run(
            [sys.executable, "-m", "cacheroute_cli", "tui", "--once", "--screen", "instances",
             "--proxy-url", proxy.url],
            capture_output=True, text=True, check=False, timeout=120,
            env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)},
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "● LIVE" in done.stdout
    assert "inst-1" in done.stdout


def test_a_simulated_fleet_needs_no_proxy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cacheroute_cli", "tui", "--demo", "--once"],
        capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "▸demo" in done.stdout


def test_an_interval_out_of_its_range_is_refused(cli: Cli, became: list[Became]) -> None:
    for words in (("tui", "--interval", "0"), ("-i", "11", "tui")):
        said = cli(*words)

        assert said.code == 2
        assert "--interval must be between 0.5 and 10 s" in said.err
    assert not became


def test_what_is_about_a_picture_needs_one(cli: Cli, became: list[Became]) -> None:
    for words in (("--size", "80x24"), ("--svg", "x.svg")):
        said = cli("tui", *words)

        assert said.code == 2
        assert f"{words[0]} is about what --once prints" in said.err
    assert not became
