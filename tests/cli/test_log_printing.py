"""Lines of logs on stdout, for people and for programs."""

import json
import re
import threading
from pathlib import Path

import pytest

from cacheroute.console.patterns import Expression
from cacheroute_cli.context import Context
from cacheroute_cli.log_printing import LogPrinter
from cacheroute_cli.supervisor.log_lines import LogLine

LINES = [
    LogLine(at_s=0.0, name="a", text="one"),
    LogLine(at_s=1.5, name="long-name", text="\x1b[31mtwo\x1b[0m\t\x07"),
]


@pytest.fixture
def logs(tmp_path: Path) -> dict[str, Path]:
    return {name: tmp_path / f"{name}.log" for name in ("a", "long-name")}


def test_names_stand_before_the_lines_in_one_column(
    logs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    LogPrinter(Context(), lambda: logs).print(LINES)

    assert capsys.readouterr().out == ("a         | one\nlong-name | \x1b[31mtwo\x1b[0m\t\x07\n")


def test_on_a_terminal_lines_are_shown_and_not_obeyed(
    logs: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cacheroute_cli.log_printing.stdout_is_terminal", lambda: True)

    LogPrinter(Context(color="always"), lambda: logs).print(LINES)

    first, second = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\x1b\[\d+ma        \x1b\[0m \| one", first)
    assert second.endswith(" | two\t\\x07")


def test_lines_alone_or_only_some_of_them(
    logs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    LogPrinter(Context(), lambda: logs, prefix=False, grep=Expression("n", any_case=False)).print(
        LINES
    )

    assert capsys.readouterr().out == "one\n"


def test_for_programs_each_line_is_a_document_of_its_own_time(
    logs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    LogPrinter(Context(output="jsonl"), lambda: logs).print(LINES)

    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {
        "schema": "cacheroute.log/1", "generated_at": "1970-01-01T00:00:00.000Z",
        "name": "a", "line": "one",
    }  # fmt: skip
    assert second["generated_at"] == "1970-01-01T00:00:01.500Z"


def test_a_follow_ends_when_told_with_everything_that_was_written(
    logs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    printer = LogPrinter(Context(), lambda: logs)
    logs["a"].write_text("late\n")
    until = threading.Event()
    until.set()

    printer.follow(until)

    assert capsys.readouterr().out == "a         | late\n"
