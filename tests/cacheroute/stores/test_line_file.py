"""Lines stay lines, whatever becomes of the one before."""

import os
from pathlib import Path

import pytest

from cacheroute.stores import line_file
from cacheroute.stores.line_file import add_lines


def test_lines_are_added_to_a_file_that_nobody_else_may_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    add_lines(path, b"one\ntwo\n")
    add_lines(path, b"three\n")
    assert path.read_bytes() == b"one\ntwo\nthree\n"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("torn", [b"t", b"one\ntw", b"one\n\xe2\x82"])
def test_a_line_that_a_crash_has_left_unfinished_does_not_take_the_next(
    tmp_path: Path, torn: bytes
) -> None:
    path = tmp_path / "lines"
    path.write_bytes(torn)
    add_lines(path, b"next\n")
    assert path.read_bytes() == torn + b"\nnext\n"


def test_a_full_disk_is_an_error_and_the_next_line_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real, calls = tmp_path / "lines", os.write, []

    def full(file: int, data: memoryview) -> int:
        calls.append(data)
        if len(calls) == 1:
            return real(file, data[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(line_file.os, "write", full)  # type: ignore[attr-defined]
    with pytest.raises(OSError, match="No space"):
        add_lines(path, b"first\n")
    monkeypatch.undo()
    add_lines(path, b"second\n")
    assert path.read_bytes() == b"fir\nsecond\n"


def test_what_has_no_end_to_look_at_is_written_to_all_the_same() -> None:
    with pytest.raises(OSError, match="No space"):
        add_lines(Path("/dev/full"), b"one\n")
    add_lines(Path("/dev/null"), b"one\n")
