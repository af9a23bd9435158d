"""A slow start, as it is told on a terminal and in a log."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cacheroute_cli import waiting as waiting_module
from cacheroute_cli.waiting import last_line, seldom, tail_of, waiting
from tests.cli.supervisor.children import an_environment


def test_in_a_log_it_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with waiting("vllm: starting", lambda: "loading\x1b[2J weights") as tick:
        tick()
        monkeypatch.setattr(waiting_module, "_NOTE_EACH_S", 0.0)
        tick()

    assert capsys.readouterr().err.splitlines() == [
        "vllm: starting",
        "vllm: starting  0.0s  loading\\x1b[2J weights",
    ]


def test_on_a_terminal_it_is_one_line_that_redraws() -> None:
    program = (
        "from cacheroute_cli.waiting import waiting\n"
        "with waiting('vllm: starting', lambda: '[red]weights[/red]') as tick:\n"
        "    tick()\n"
    )
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [sys.executable, "-c", program],
            stderr=theirs, check=True, env=an_environment(TERM="xterm", COLUMNS="120"),
        )  # fmt: skip
        shown = os.read(ours, 65536)
    finally:
        os.close(theirs)
        os.close(ours)

    assert re.search(rb"vllm: starting  \d+\.\ds  \[red\]weights\[/red\]", shown)


def test_a_look_is_taken_seldom() -> None:
    looks: list[int] = []
    look = seldom(lambda: looks.append(1))

    for _ in range(100):
        look()

    assert len(looks) == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [("", ""), ("a\nb\n\n", "b"), ("a\n 10%\r 20%\r 30%\r\n", " 30%"), ("x\r\n", "x")],
)
def test_the_last_line_is_what_a_terminal_would_show(text: str, line: str) -> None:
    assert last_line(text) == line


def test_a_log_that_is_not_there_yet_says_nothing(tmp_path: Path) -> None:
    assert tail_of(tmp_path / "no.log") == ""
    (tmp_path / "a.log").write_text("x" * 10_000 + "\nend\n")
    assert last_line(tail_of(tmp_path / "a.log")) == "end"
