"""A file that is written whole or not at all."""

import json
import os
import stat
from pathlib import Path

import pytest

from cacheroute.core.predict.coefficients import PUBLISHED
from cacheroute_cli.coefficients_file import (
    CannotWrite,
    FileInTheWay,
    read_base,
    require_free,
    write,
)
from cacheroute_cli.diagnostics import UsageFault


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    write(path, PUBLISHED.as_mapping(), force=False)

    assert read_base(path) == PUBLISHED
    assert os.listdir(tmp_path) == ["c.json"]


def test_others_may_read_it_as_they_may_read_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "c.json", {}, force=False)
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "c.json").stat().st_mode) == 0o640


def test_a_file_is_only_overwritten_by_force(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("mine")

    with pytest.raises(FileInTheWay):
        write(path, {}, force=False)
    assert path.read_text() == "mine"
    write(path, {"new": 1}, force=True)
    assert json.loads(path.read_text()) == {"new": 1}


def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.json"
    path.write_text("mine")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CannotWrite, match=r"cannot write .* \(no space left on device\)"):
        write(path, {}, force=True)

    assert os.listdir(tmp_path) == ["c.json"]
    assert path.read_text() == "mine"


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "c.json", tmp_path / "c.json"
    target.write_text("old")
    link.symlink_to(target)
    write(link, {"new": 1}, force=True)

    assert link.is_symlink()
    assert json.loads(target.read_text()) == {"new": 1}


def test_a_folder_that_takes_no_file_is_found_out_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)

    with pytest.raises(CannotWrite, match="its folder is read-only"):
        require_free(tmp_path / "c.json", force=False)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ("[]", "must hold a JSON object"),
        ('{"schema": "other"}', "schema is 'other'"),
        ("{}", "ttft is missing.\ntpot is missing."),
    ],
)
def test_a_base_that_makes_no_sense_is_refused_with_every_problem(
    tmp_path: Path, content: str, words: str
) -> None:
    path = tmp_path / "base.json"
    path.write_text(content)

    with pytest.raises(UsageFault) as caught:
        read_base(path)

    assert caught.value.message.startswith(f"--base {path}: ")
    assert words in caught.value.message


def test_no_base_is_the_published_one() -> None:
    assert read_base(None) is PUBLISHED
