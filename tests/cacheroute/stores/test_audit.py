"""The file in which changes are written down."""

import json
import os
from pathlib import Path

import pytest

from cacheroute.stores.audit import AuditFile
from cacheroute.stores.base import StoreError


def lines_of(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_change_is_a_line_and_nobody_else_may_read_them(tmp_path: Path) -> None:
    audit = AuditFile(tmp_path / "state" / "audit.jsonl")
    audit.add({"verb": "drain", "instance_id": "i-1"})
    audit.add({"verb": "undrain", "instance_id": "i-1"})
    assert lines_of(audit.path) == [
        {"verb": "drain", "instance_id": "i-1"},
        {"verb": "undrain", "instance_id": "i-1"},
    ]
    assert audit.path.stat().st_mode & 0o777 == 0o600
    assert audit.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_full_file_makes_room_and_the_one_before_it_goes(tmp_path: Path) -> None:
    audit = AuditFile(tmp_path / "audit.jsonl", max_bytes=100)
    for number in range(50):
        audit.add({"number": number, "filler": "x" * 20})
    assert sorted(os.listdir(tmp_path)) == ["audit.jsonl", "audit.jsonl.1"]
    for path in tmp_path.iterdir():
        assert path.stat().st_size <= 100
    assert lines_of(audit.path)[-1] == {"number": 49, "filler": "x" * 20}


def test_one_line_may_be_larger_than_the_file(tmp_path: Path) -> None:
    audit = AuditFile(tmp_path / "audit.jsonl", max_bytes=10)
    audit.add({"filler": "x" * 50})
    audit.add({"filler": "y" * 50})
    assert lines_of(audit.path) == [{"filler": "y" * 50}]


def test_half_a_letter_costs_no_line(tmp_path: Path) -> None:
    audit = AuditFile(tmp_path / "audit.jsonl")
    audit.add({"reason": "a\ud800b", "ratio": float("nan")})
    assert lines_of(audit.path) == [{"reason": "a?b", "ratio": None}]


def test_a_place_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    audit = AuditFile(tmp_path / "file" / "audit.jsonl")
    with pytest.raises(StoreError, match=r"audit\.jsonl cannot be written"):
        audit.add({"verb": "drain"})


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    audit = AuditFile(tmp_path / "audit.jsonl")
    audit.path = Path("/dev/full")
    with pytest.raises(StoreError, match="No space left"):
        audit.add({"verb": "drain"})


def test_a_line_that_a_crash_has_torn_does_not_glue_to_the_next(tmp_path: Path) -> None:
    audit = AuditFile(tmp_path / "audit.jsonl")
    audit.path.write_text('{"verb":"dr')
    audit.add({"verb": "undrain"})
    assert audit.path.read_text().splitlines()[-1] == '{"verb":"undrain"}'
