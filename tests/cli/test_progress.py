"""A bar on a terminal and a line in a log."""

import os
import pty
import subprocess
import sys

import pytest

from cacheroute_cli.progress import progress
from tests.cli.supervisor.children import an_environment


def test_without_a_terminal_it_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("round_robin", 3) as one_more:
        for _ in range(3):
            one_more()

    assert capsys.readouterr() == ("", "round_robin: 3 requests\n")


def test_what_is_counted_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("knowledge", 3, "texts"):
        pass

    assert capsys.readouterr().err == "knowledge: 3 texts\n"


def test_on_a_terminal_it_is_a_bar_and_names_are_no_markup() -> None:
    program = (
        "from cacheroute_cli.progress import progress\n"
        "with progress('[red]rr[/red]', 2) as one_more:\n"
        "    one_more()\n"
        "    one_more()\n"
    )
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [sys.executable, "-c", program],
            stderr=theirs, check=True, env=an_environment(TERM="xterm"),
        )  # fmt: skip
        os.close(theirs)
        shown = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data
    finally:
        os.close(ours)

    assert b"[red]rr[/red]" in shown
    assert b"2/2" in shown
