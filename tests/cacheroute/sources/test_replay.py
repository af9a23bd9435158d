"""A recording as a source: the same rows, at any time, forwards and backwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cacheroute.console.source import NotTold, SourceFault
from cacheroute.sources.recording import Recording, RecordingProblem
from cacheroute.sources.replay import ReplaySource
from cacheroute.sources.simulated import SimulatedSource
from tests.cacheroute.sources.recordings import BEGAN_S, HandTime, a_recording

LOOKS = 40


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "a.rec"
    a_recording(path, looks=LOOKS, instances=5, fails=(20,))
    return path


@pytest.fixture
def time() -> HandTime:
    return HandTime()


@pytest.fixture
def replay(file: Path, time: HandTime) -> Iterator[ReplaySource]:
    source = ReplaySource(file, mono_s=time.mono_s)
    yield source
    source.recording.close()


async def test_what_is_shown_is_what_the_source_had_said(
    replay: ReplaySource, time: HandTime
) -> None:
    then = HandTime()
    source = SimulatedSource(instances=5, now=then)
    for second in (1.0, 8.0, 19.0):
        then.passed_s = second
        shown = await source.look()
        time.passed_s = second - 1.0

        look = await replay.look()

        assert look.instances == shown.instances
        assert look.overview().inflight == shown.overview().inflight
        assert look.at == shown.at


async def test_time_goes_on_until_the_end_and_stops_there(
    replay: ReplaySource, time: HandTime
) -> None:
    assert (replay.position.index, replay.position.is_playing) == (0, True)
    time.passed_s = 5.4
    assert replay.position.index == 5
    time.passed_s = 1_000.0
    position = replay.position

    assert (position.index, position.count, position.is_playing) == (LOOKS - 2, LOOKS - 1, False)
    assert position.last == position.at
    replay.play()
    assert replay.position.index == 0


async def test_a_step_stops_time_and_goes_no_further_than_the_ends(
    replay: ReplaySource, time: HandTime
) -> None:
    time.passed_s = 5.0
    replay.step(2)
    time.passed_s = 30.0
    assert (replay.position.index, replay.position.is_playing) == (7, False)

    replay.step(-100)
    assert replay.position.index == 0
    replay.step(1_000)
    assert replay.position.index == LOOKS - 2
    first = replay.look_at(0)
    replay.seek(0)
    assert (await replay.look()).rev == first.rev


def test_time_can_be_faster_and_slower_within_bounds(replay: ReplaySource, time: HandTime) -> None:
    replay.set_speed(4.0)
    time.passed_s = 2.0
    assert (replay.position.index, replay.position.speed_ratio) == (8, 4.0)
    replay.pause()
    replay.set_speed(1e9)
    assert (replay.position.speed_ratio, replay.position.is_playing) == (100.0, False)


async def test_a_gap_is_no_look_and_time_passes_over_it(
    replay: ReplaySource, time: HandTime
) -> None:
    time.passed_s = 19.0
    at = (await replay.look()).at_s
    assert at == BEGAN_S + 19  # the twentieth second was not recorded
    time.passed_s = 20.0
    assert (await replay.look()).at_s == BEGAN_S + 21


async def test_decisions_requests_and_links_are_those_up_to_then(replay: ReplaySource) -> None:
    replay.seek(10)
    early = await replay.decisions(last=5)
    replay.seek(LOOKS)
    late = await replay.decisions(last=5)
    traces = await replay.traces(last=500)

    assert [row.seq for row in late] == sorted((row.seq for row in late), reverse=True)
    assert early[0].seq < late[0].seq
    assert [row.seq for row in traces] == list(range(traces[0].seq, 0, -1))
    assert (await replay.trace(traces[3].request_id)) == traces[3]
    assert await replay.trace("nobody") is None
    assert len(await replay.topology()) == 15


async def test_one_instance_is_told_as_far_as_its_columns_go(replay: ReplaySource) -> None:
    entry = await replay.instance("inst-9001")

    assert entry is not None
    assert (entry.instance_id, entry.host, entry.resource.raw_resource) == (
        "inst-9001", "10.0.0.1", None,
    )  # fmt: skip
    assert await replay.instance("nobody") is None


async def test_the_document_can_be_seen_and_other_pages_were_not_recorded(
    replay: ReplaySource,
) -> None:
    assert replay.pages() == ("/v1/console/snapshot",)
    assert b'"identities"' in await replay.raw("/v1/console/snapshot?since=1")
    with pytest.raises(SourceFault, match="was not recorded"):
        await replay.raw("/metrics")


def test_it_says_what_was_recorded_and_that_nothing_can_be_changed(replay: ReplaySource) -> None:
    assert (replay.kind, replay.name) == ("replay", "http://proxy:8002")
    assert replay.capabilities.reason("changes")


async def test_links_that_were_never_recorded_are_not_told(
    tmp_path: Path, file: Path, time: HandTime
) -> None:
    source = ReplaySource(without_its_links(file, tmp_path / "late.rec"), mono_s=time.mono_s)

    with pytest.raises(NotTold, match="no links"):
        await source.topology()
    await source.close()


def without_its_links(file: Path, path: Path) -> Path:
    """Copy a recording without the part that has them: the first."""
    with Recording(file) as recording:
        parts = recording.parts
    data = file.read_bytes()
    path.write_bytes(data[: parts[1].at] + data[parts[2].at : parts[4].at])
    return path


def test_a_recording_without_a_look_and_one_that_begins_damaged_are_refused(
    tmp_path: Path, file: Path
) -> None:
    a_recording(tmp_path / "empty.rec", looks=2, fails=(1, 2))
    with pytest.raises(RecordingProblem, match="no look yet"):
        ReplaySource.open(tmp_path / "empty.rec")

    data = bytearray(file.read_bytes())
    with_damage = tmp_path / "bad.rec"
    start = data.index(b"\x1f\x8b\x08\x04", 10)
    data[start + 60] ^= 0xFF
    with_damage.write_bytes(bytes(data))
    with pytest.raises(RecordingProblem, match="damaged"):
        ReplaySource.open(str(with_damage))


async def test_an_hour_needs_no_more_memory_than_a_few_parts(replay: ReplaySource) -> None:
    for index in range(0, LOOKS - 1, 3):
        replay.look_at(index)

    assert len(replay._unpacked) <= 4
