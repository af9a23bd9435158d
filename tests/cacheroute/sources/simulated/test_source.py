"""The simulated fleet as a source: the same by the same seed, and it says what a Proxy would."""

import json

import msgspec
import pytest

from cacheroute.console.source import SourceFault
from cacheroute.sources.simulated import SimulatedSource
from cacheroute.wire.decisions import DecisionsReply
from cacheroute.wire.traces import TracesReply
from tests.cacheroute.sources.recordings import BEGAN_S, HandTime


async def told(seed: int, *seconds: float, instances: int = 6) -> list[bytes]:
    time = HandTime()
    source = SimulatedSource(instances=instances, seed=seed, now=time)
    found = []
    for second in seconds:
        time.passed_s = second
        found.append(await source.raw("/v1/console/snapshot"))
    return found


async def test_the_same_seed_tells_the_same_however_often_somebody_looks() -> None:
    seldom = await told(7, 60.0)
    often = await told(7, *(step / 4 for step in range(1, 241)))

    assert seldom[-1] == often[-1]
    assert (await told(8, 60.0))[-1] != seldom[-1]


async def test_between_two_steps_only_the_time_passes() -> None:
    time = HandTime()
    source = SimulatedSource(instances=3, now=time)
    time.passed_s = 10.1
    first = await source.look()
    time.passed_s = 10.4
    second = await source.look()
    time.passed_s = 10.5
    third = await source.look()

    assert first.rev == second.rev < third.rev
    assert second.at_s - first.at_s == pytest.approx(0.3)


async def test_numbers_go_on_from_one_question_to_the_next() -> None:
    time = HandTime()
    source = SimulatedSource(instances=6, now=time)
    time.passed_s = 30.0
    first = msgspec.json.decode(await source.raw("/debug/decisions?last=1000"), type=DecisionsReply)
    time.passed_s = 40.0
    page = await source.raw(f"/debug/decisions?last=1000&since={first.total}")
    second = msgspec.json.decode(page, type=DecisionsReply)

    assert first.total == first.decisions[0].seq > 50
    assert second.decisions[-1].seq == first.total + 1
    traces = msgspec.json.decode(await source.raw("/debug/traces?last=5"), type=TracesReply)
    assert len(traces.traces) == 5
    assert traces.traces[0].at >= BEGAN_S


async def test_the_first_look_is_at_a_fleet_that_is_at_work() -> None:
    source = SimulatedSource(instances=12, now=HandTime())
    look = await source.look()
    seen = look.overview()

    assert look.at_s == BEGAN_S
    assert (seen.stale, seen.dead) == (1, 1)
    assert (seen.inflight or 0) > 5
    assert {row.shown for row in look.instances} == {"alive", "drain", "ejected", "stale", "dead"}
    assert await source.traces(last=3)


async def test_every_question_has_an_answer_and_a_page_that_is_not_there_is_told() -> None:
    time = HandTime()
    source = SimulatedSource(instances=4, now=time)
    time.passed_s = 20.0
    rows = await source.traces(last=3)

    assert [row.seq for row in rows] == sorted((row.seq for row in rows), reverse=True)
    assert await source.trace(rows[1].request_id) == rows[1]
    assert (await source.decisions(last=1))[0].reason
    assert {row.kdn for row in await source.topology()} == {"kdn-1", "kdn-2", "kdn-3"}
    entry = await source.instance("inst-9002")
    assert entry is not None
    assert entry.resource.raw_resource is not None
    assert await source.instance("nobody") is None
    for page in source.pages():
        assert json.loads(await source.raw(page))
    with pytest.raises(SourceFault, match="no /metrics"):
        await source.raw("/metrics")
    assert source.capabilities.reason("changes")
    await source.close()


async def test_a_fleet_of_nobody_is_a_fleet_too() -> None:
    time = HandTime()
    source = SimulatedSource(instances=0, now=time)
    time.passed_s = 5.0

    assert (await source.look()).overview().alive == 0
