"""Recording: nothing but the last seconds is ever at stake, and what fails becomes a gap."""

from pathlib import Path

import pytest

from cacheroute.console.source import SourceFault
from cacheroute.sources.entries import Entry, read_entry
from cacheroute.sources.recorder import PART_LOOKS, Recorder
from cacheroute.sources.recording import Recording
from cacheroute.sources.simulated import SimulatedSource
from tests.cacheroute.sources.recordings import BEGAN_S, Failing, HandTime, a_recording
from tests.support.full_disk import a_full_disk


def entries(path: Path) -> list[Entry]:
    with Recording(path) as recording:
        found = [
            read_entry(line)
            for number in range(1, len(recording.parts))
            for line in recording.lines(number)
        ]
    return [entry for entry in found if entry is not None]


def test_a_look_that_fails_is_a_gap_with_its_reason(tmp_path: Path) -> None:
    recorder = a_recording(tmp_path / "a.rec", looks=6, fails=(3, 4))
    found = entries(tmp_path / "a.rec")

    assert [entry.kind for entry in found] == ["look", "look", "gap", "gap", "look", "look"]
    assert found[2].why == "cannot reach it"
    assert (recorder.looks, recorder.gaps) == (4, 2)
    assert recorder.written_bytes == (tmp_path / "a.rec").stat().st_size


def test_a_recording_that_cannot_begin_leaves_no_file(tmp_path: Path) -> None:
    source = SimulatedSource(instances=1, now=HandTime())
    with a_full_disk(), pytest.raises(OSError, match="too large"):
        Recorder(tmp_path / "a.rec", source, now_s=BEGAN_S, interval_s=1.0)

    assert list(tmp_path.iterdir()) == []


def test_each_part_says_once_who_the_instances_are(tmp_path: Path) -> None:
    a_recording(tmp_path / "a.rec", looks=20)

    with Recording(tmp_path / "a.rec") as recording:
        for number in range(1, len(recording.parts)):
            looks = [
                entry.look
                for line in recording.lines(number)
                if (entry := read_entry(line)) is not None and entry.look is not None
            ]
            assert [look.identities is not None for look in looks] == [
                True, *[False] * (len(looks) - 1),
            ]  # fmt: skip


def test_decisions_and_requests_are_kept_once_each(tmp_path: Path) -> None:
    a_recording(tmp_path / "a.rec", looks=30, instances=6)
    found = entries(tmp_path / "a.rec")

    for rows in ([e.decisions for e in found], [e.traces for e in found]):
        seqs = [bytes(row) for of_look in rows for row in of_look]
        assert len(seqs) == len(set(seqs)) > 10
    assert [len(entry.topology) for entry in found].count(1) == 1


async def test_a_look_at_which_only_time_has_passed_takes_a_few_bytes(tmp_path: Path) -> None:
    time = HandTime()
    source = SimulatedSource(instances=3, now=time)
    recorder = Recorder(tmp_path / "a.rec", source, now_s=BEGAN_S, interval_s=0.1)
    for step in range(1, 4):
        time.passed_s = 1.0 + step / 10
        await recorder.look(BEGAN_S + time.passed_s)
    recorder.close(BEGAN_S + 2)
    found = entries(tmp_path / "a.rec")

    assert [entry.kind for entry in found] == ["look", "same", "same"]
    assert found[2].passed_s == pytest.approx(0.3)


async def test_what_was_written_is_there_while_the_recording_goes_on(tmp_path: Path) -> None:
    time = HandTime()
    source = SimulatedSource(instances=1, now=time)
    recorder = Recorder(tmp_path / "a.rec", source, now_s=BEGAN_S, interval_s=0.01)
    for _ in range(PART_LOOKS + 1):
        time.passed_s += 0.01
        await recorder.look(BEGAN_S + time.passed_s)

    with Recording(tmp_path / "a.rec") as recording:
        assert recording.looks == PART_LOOKS
    recorder.close(BEGAN_S + 10)
    with Recording(tmp_path / "a.rec") as recording:
        assert recording.looks == PART_LOOKS + 1


def test_no_file_is_written_over(tmp_path: Path) -> None:
    a_recording(tmp_path / "a.rec", looks=1)

    with pytest.raises(FileExistsError):
        a_recording(tmp_path / "a.rec", looks=1)


async def test_a_proxy_that_tells_no_decisions_is_recorded_without_them(tmp_path: Path) -> None:
    class Bare(Failing):
        async def raw(self, path: str) -> bytes:
            if "traces" in path:
                return b'{"ok":true,"traces":[{"seq":1}]}'  # it has no numbers to go by
            raise SourceFault("no such page", code="refused")

    source = Bare(SimulatedSource(instances=1, now=HandTime()))
    recorder = Recorder(tmp_path / "a.rec", source, now_s=BEGAN_S, interval_s=1.0)
    assert await recorder.look(BEGAN_S + 1) is None
    recorder.close(BEGAN_S + 2)

    [entry] = entries(tmp_path / "a.rec")
    assert (entry.decisions, entry.traces, entry.topology) == ([], [], [])
