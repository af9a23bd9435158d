"""stdout holds data and nothing else."""

import errno
import io
import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from cacheroute.console.columns import Column
from cacheroute.console.lines import Line
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.output import (
    ReaderGone,
    document_text,
    print_document,
    print_lines,
    print_table,
    print_text,
)
from tests.cli.supervisor.children import an_environment


@dataclass(frozen=True)
class Row:
    name: str
    age_s: float | None


COLUMNS: tuple[Column[Row], ...] = (
    Column(key="name", header="NAME", text=lambda row: row.name, gives_way=True, doc="."),
)
LINE = Line(label="pool", facts=("● 5 alive",), tone="good")


@pytest.fixture(autouse=True)
def no_colour_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def test_a_document_says_its_shape_and_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    print_document("cacheroute.things/1", {"items": [Row("a", None)]})

    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "cacheroute.things/1"
    assert document["items"] == [{"name": "a", "age_s": None}]
    assert datetime.fromisoformat(document["generated_at"]).tzinfo == UTC


def test_no_document_holds_what_json_has_no_word_for() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_document("x/1", {"items": [Row("a", float("nan"))]})
    with pytest.raises(TypeError, match="set has no place in a document"):
        print_document("x/1", {"items": {1}})


def test_a_document_holds_instants_and_rows_of_rows() -> None:
    row = Row("a", None)
    instant = datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)

    text = document_text("x/1", {"at": instant, "items": [row]})

    assert json.loads(text)["at"] == "2026-01-02T03:04:05.678Z"


def test_a_document_is_never_obeyed_by_a_terminal_and_loses_nothing() -> None:
    text = document_text("x/1", {"name": "名\u202e\x9b2J"})

    assert text.isprintable()
    assert json.loads(text)["name"] == "名\u202e\x9b2J"
    assert "名" in document_text("x/1", {"name": "名"})


def test_a_pipe_gets_no_colour_and_uncut_names(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(Context(), COLUMNS, [Row("x" * 300, 1.0)])
    print_lines(Context(), [LINE])

    assert capsys.readouterr().out == f"NAME\n{'x' * 300}\npool      ● 5 alive\n"


def test_colour_can_be_asked_for_and_forbidden(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    print_lines(Context(color="always"), [LINE])
    assert "\x1b[32m" in capsys.readouterr().out

    monkeypatch.setenv("FORCE_COLOR", "1")
    print_lines(Context(), [LINE])
    assert "\x1b[32m" in capsys.readouterr().out

    print_lines(Context(color="never"), [LINE])
    assert "\x1b" not in capsys.readouterr().out

    monkeypatch.setenv("NO_COLOR", "1")
    print_lines(Context(), [LINE])
    assert "\x1b" not in capsys.readouterr().out


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_colour_unless_it_is_dumb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())

    monkeypatch.setenv("TERM", "xterm")
    print_lines(Context(), [LINE])
    assert "\x1b[32m" in terminal.getvalue()

    terminal.truncate(0)
    monkeypatch.setenv("TERM", "dumb")
    print_lines(Context(), [LINE])
    assert "\x1b" not in terminal.getvalue()


def test_a_pipe_can_be_told_its_width(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "10")

    print_table(Context(), COLUMNS, [Row("x" * 300, 1.0)])

    assert capsys.readouterr().out.splitlines()[1] == "x" * 9 + "…"


def test_where_only_ascii_can_be_written_signs_become_letters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))

    print_lines(Context(), [Line(label="pool", facts=("● 5 · ✕ 1 — 名",))])

    assert raw.getvalue() == b"pool      * 5 | x 1 - ??\n"


def test_ascii_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(Context(ascii=True), [Line(label="pool", facts=("● 5 · ✕ 1 — 名",))])

    assert capsys.readouterr().out == "pool      * 5 | x 1 - ??\n"


def test_json_on_an_ascii_stdout_keeps_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))

    print_document("x/1", {"name": "名—"})

    assert json.loads(raw.getvalue())["name"] == "名—"


def test_a_terminal_that_is_gone_ends_us_as_a_pipe_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    class Gone(io.StringIO):
        encoding = "utf-8"

        def write(self, text: str) -> int:
            raise OSError(errno.EIO, "gone")

        def fileno(self) -> int:
            return spare.fileno()

    with (tmp_path_factory.mktemp("pty") / "spare").open("w") as spare:
        monkeypatch.setattr(sys, "stdout", Gone())
        with pytest.raises(ReaderGone):
            print_text("anything")


def test_a_full_disk_is_no_bug_and_no_reader_that_left() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cacheroute_cli", "version"],
            env=an_environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip

    assert done.returncode == Exit.FAILED
    assert done.stderr == (
        "cacheroute: error: stdout cannot be written (no space left on device)\n"
    )


def test_a_reader_that_leaves_ends_us_with_its_own_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    class Closed(io.StringIO):
        encoding = "utf-8"

        def write(self, text: str) -> int:
            raise BrokenPipeError

        def fileno(self) -> int:
            return spare.fileno()

    with (tmp_path_factory.mktemp("pipe") / "spare").open("w") as spare:
        monkeypatch.setattr(sys, "stdout", Closed())
        with pytest.raises(ReaderGone) as caught:
            print_text("anything")

    assert caught.value.exit == Exit.BROKEN_PIPE
