"""A traceback is kept, and not for ever."""

import json
from pathlib import Path

import pytest

from cacheroute_cli.crash import keep_crash, report_crash
from cacheroute_cli.diagnostics import Exit


def a_problem() -> Exception:
    try:
        raise RuntimeError("odd")
    except RuntimeError as problem:
        return problem


def test_the_traceback_is_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))

    path = keep_crash(a_problem())

    assert path is not None
    assert path.parent == tmp_path / "crash"
    assert "RuntimeError: odd" in path.read_text()


def test_the_oldest_files_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))
    folder = tmp_path / "crash"
    folder.mkdir()
    for number in range(30):
        (folder / f"2000{number:02}.txt").touch()

    path = keep_crash(a_problem())

    left = sorted(folder.iterdir())
    assert len(left) == 20
    assert path in left


def test_without_a_state_folder_it_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "file"))

    path = keep_crash(a_problem())

    assert path is not None
    assert path.exists()


def test_it_is_told_in_one_line_that_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))

    assert report_crash(a_problem(), as_json=True) == Exit.FAILED

    [kept] = (tmp_path / "crash").iterdir()
    told = json.loads(capsys.readouterr().err)["error"]
    assert told["code"] == "bug"
    assert told["message"] == "this is a bug: RuntimeError: odd"
    assert told["hint"] == f"the details are in {kept}"


def test_where_no_file_can_be_written_the_bug_is_told_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))

    assert report_crash(a_problem(), as_json=False) == Exit.FAILED

    assert capsys.readouterr().err == (
        "cacheroute: error: this is a bug: RuntimeError: odd\n  hint: --debug prints the details\n"
    )


def test_a_crash_folder_that_takes_no_file_sends_it_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    # A folder in which nobody can make a file, not even root.
    (tmp_path / "crash").symlink_to("/proc/self")

    path = keep_crash(a_problem())

    assert path is not None
    assert path.parent.parent == tmp_path
    assert "RuntimeError: odd" in path.read_text()
