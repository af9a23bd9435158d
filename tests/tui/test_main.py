"""The arguments of the console: what they are read as, and what is refused before it begins."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit, UsageFault
from cacheroute_tui.__main__ import SCREEN_NAMES, _size_of, main
from cacheroute_tui.app import SCREENS
from cacheroute_tui.screens.base import ConsoleScreen


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """Undo what the console does to its process: garbage is kept, and variables are set."""
    before = dict(os.environ)
    yield
    gc.enable()
    os.environ.clear()
    os.environ.update(before)


def test_every_screen_with_a_key_can_be_asked_for_by_its_name() -> None:
    assert sorted(SCREEN_NAMES) == sorted(screen.NAME for screen in SCREENS)


def test_a_size_is_columns_by_lines() -> None:
    assert _size_of("120x36") == (120, 36)

    for text in ("80", "80x", "x24", "1000x24", "80x24 "):
        with pytest.raises(UsageFault, match="--size is such as 80x24"):
            _size_of(text)


def test_a_size_that_cannot_be_read_ends_the_run_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--demo", "--once", "--size=huge"]) == 2
    assert "not 'huge'" in capsys.readouterr().err


def test_an_unknown_screen_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--screen=nowhere"])

    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert all(name in told for name in ("nowhere", *SCREEN_NAMES))


def test_a_bug_is_one_line_and_a_file_and_shows_no_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def draw(*_: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("CACHEROUTE_TOKEN", "hush-hush")
    monkeypatch.setattr(ConsoleScreen, "refresh_data", draw)

    assert main(["--demo", "--once", "--screen=instances"]) == Exit.FAILED

    told = capsys.readouterr()
    [kept] = (tmp_path / "crash").iterdir()
    assert told.out == ""
    assert told.err.splitlines() == [
        "cacheroute: error: this is a bug: RuntimeError: odd",
        f"  hint: the details are in {kept}",
    ]
    assert "in draw" in kept.read_text()
    assert "hush-hush" not in kept.read_text()


def test_a_recording_that_is_not_there_is_told_of_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "none"

    assert main(["--once", f"--replay={path}"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"cacheroute: error: {path} cannot be read (No such file or directory)"
    ]


def test_doubts_stand_beside_a_picture_and_not_on_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[keys]\nthme = 'T'\n", encoding="utf-8")

    assert main(["--once", "--demo", f"--config={file}"]) == 0
    said = capsys.readouterr()
    assert said.err == (
        f"cacheroute: note: {file}:2: keys.thme is not known; did you mean theme?\n"
    )
    assert "keys.thme" not in said.out
