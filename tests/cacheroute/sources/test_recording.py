"""The file of a recording: found in seconds, cut anywhere, never taken for another's."""

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cacheroute.sources.recording import Recording, RecordingProblem, packed
from tests.cacheroute.sources.recordings import BEGAN_S, a_recording

HEADER = b'{"format":"cacheroute.recording","version":1,"name":"n"}'


def a_file(path: Path, *parts: bytes) -> Path:
    path.write_bytes(b"".join(parts))
    return path


def part(*lines: bytes, looks: int = 1, from_s: float = 0.0) -> bytes:
    return packed(lines, looks=looks, from_s=from_s, to_s=from_s + 1)


def test_any_gzip_tool_can_unpack_it(tmp_path: Path) -> None:
    a_recording(tmp_path / "a.rec")

    lines = gzip.decompress((tmp_path / "a.rec").read_bytes()).splitlines()

    assert json.loads(lines[0])["format"] == "cacheroute.recording"
    assert len(lines) == 21


def test_parts_are_found_by_look_and_by_time_without_unpacking(tmp_path: Path) -> None:
    parts = [part(b"{}", looks=3, from_s=10.0 * number) for number in range(1, 4)]
    path = a_file(tmp_path / "a.rec", part(HEADER, looks=0), *parts)

    with Recording(path) as recording:
        assert (recording.looks, recording.header.name) == (9, "n")
        assert [recording.part_of(look) for look in (0, 2, 3, 8, 99)] == [1, 1, 2, 3, 3]
        assert [recording.part_at(at_s) for at_s in (-5.0, 10.0, 19.9, 25.0, 99.0)] == [
            0, 1, 1, 2, 3,
        ]  # fmt: skip
        assert (recording.first_s, recording.last_s) == (10.0, 31.0)
        assert not recording.is_torn


@settings(max_examples=40)
@given(st.data())
def test_a_file_that_ends_anywhere_is_read_as_far_as_it_is_whole(data: st.DataObject) -> None:
    parts = [part(HEADER, looks=0), *(part(b"x" * 50) for _ in range(3))]
    whole = b"".join(parts)
    at = data.draw(st.integers(len(parts[0]), len(whole)))
    kept = sum(1 for number in range(1, 4) if at >= sum(len(each) for each in parts[: number + 1]))

    with (
        tempfile.TemporaryDirectory() as folder,
        Recording(a_file(Path(folder) / "torn.rec", whole[:at])) as recording,
    ):
        assert recording.looks == kept
        assert recording.is_torn == (at != len(b"".join(parts[: kept + 1])))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        gzip.compress(HEADER),
        part(b'{"format":"other"}', looks=0),
        part(b"no json", looks=0),
        part(b'{"format":"cacheroute.recording","version":2}', looks=0),
        part(HEADER, looks=0)[:30],
    ],
)
def test_what_is_no_recording_of_ours_is_refused_in_a_sentence(
    tmp_path: Path, content: bytes
) -> None:
    path = a_file(tmp_path / "a.rec", content)

    with pytest.raises(RecordingProblem, match=r"a\.rec is"):
        Recording(path)


def test_a_file_that_is_not_there_is_a_problem_too(tmp_path: Path) -> None:
    with pytest.raises(RecordingProblem, match="cannot be read"):
        Recording(tmp_path / "none.rec")


def test_a_damaged_part_is_told_by_where_it_is_and_others_are_read(tmp_path: Path) -> None:
    good, bad = part(HEADER, looks=0), bytearray(part(b"x" * 500))
    bad[50] ^= 0xFF
    path = a_file(tmp_path / "a.rec", good, bytes(bad), part(b"after"))

    with Recording(path) as recording:
        with pytest.raises(RecordingProblem, match=f"damaged at byte {len(good)}"):
            recording.lines(1)
        assert recording.lines(2) == [b"after"]


def test_the_recording_of_a_fleet_has_its_times(tmp_path: Path) -> None:
    a_recording(tmp_path / "a.rec", looks=12)

    with Recording(tmp_path / "a.rec") as recording:
        assert (recording.looks, recording.first_s, recording.last_s) == (
            12, BEGAN_S + 1, BEGAN_S + 12,
        )  # fmt: skip
        assert recording.header.interval_s == 1.0
        assert len(recording.parts) >= 3
