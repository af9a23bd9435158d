"""How long a peer may be silent, and which setting says so."""

import pytest

from cacheroute.core.errors import UpstreamTimeout
from cacheroute.core.limits import Timeouts
from cacheroute.dataplane.pool import Peer, UpstreamPool
from tests.cacheroute.dataplane.peer_parts import Notes, at, pooled, raw, send, tick
from tests.cacheroute.dataplane.wire_parts import both_loops
from tests.support.backend import scripted
from tests.support.script import Freeze, Gate, Write, chunk, stream_head
from tests.support.waiting import eventually

OK = b"HTTP/1.1 200 OK\r\n"

SILENT = {
    "nothing": (),
    "an interim answer": raw(b"HTTP/1.1 102 Processing\r\n\r\n"),
    "half a head": raw(OK + b"X: "),
    "a head": (stream_head(),),
}


async def asked(pool: UpstreamPool, peer: Peer, said: bool) -> Notes:
    """Send a request, and wait until the peer has said what it has to say, if anything."""
    notes = send(peer)
    await eventually(lambda: notes.outbound.connection)
    await eventually(lambda: notes.outbound.heard or not said)
    return notes


@pytest.mark.parametrize("case", SILENT)
async def test_an_answer_that_does_not_begin_in_time_fails(case: str) -> None:
    async with scripted((*SILENT[case], Freeze())) as backend, pooled() as pool:
        peer = at(pool, backend)
        notes = await asked(pool, peer, said=bool(SILENT[case]))
        await backend.received()
        tick(pool, 599.0)
        assert notes.error is None
        tick(pool, 2.0)
        error = await notes.failed()
        assert isinstance(error, UpstreamTimeout)
        assert error.message == (
            f"{peer.name} did not send an answer within 600 s (timeouts.first_byte_s)."
        )
        assert error.status == 504
        assert not error.retryable
        await backend.closed_down_to(0)
        assert (await backend.received()).gone.is_set()


async def test_an_answer_that_falls_silent_fails() -> None:
    async with scripted((stream_head(), chunk(b"one"), Freeze())) as backend, pooled() as pool:
        peer = at(pool, backend)
        notes = send(peer)
        await notes.heard(3)
        tick(pool, 59.0)
        assert notes.error is None
        tick(pool, 2.0)
        error = await notes.failed()
        assert isinstance(error, UpstreamTimeout)
        assert error.message == (
            f"{peer.name} did not send more within 60 s (timeouts.between_bytes_s)."
        )
        await backend.closed_down_to(0)


async def test_an_answer_that_never_falls_silent_lasts_as_long_as_it_likes() -> None:
    gates = [Gate() for _ in range(5)]
    steps = [step for gate in gates for step in (gate, chunk(b"x"))]
    async with (
        scripted((stream_head(), chunk(b"x"), *steps, Write(b"0\r\n\r\n"))) as backend,
        pooled() as pool,
    ):
        notes = send(at(pool, backend))
        for count, gate in enumerate(gates, 1):
            await notes.heard(count)
            tick(pool, 55.0)
            gate.open()
        assert await notes.succeeded() == b"x" * 6


async def test_an_answer_that_takes_too_long_altogether_fails() -> None:
    gate = Gate()
    async with (
        scripted((stream_head(), chunk(b"one"), gate, chunk(b"two"), Freeze())) as backend,
        pooled(timeouts=Timeouts(total_s=100.0)) as pool,
    ):
        peer = at(pool, backend)
        notes = send(peer)
        await notes.heard(3)
        tick(pool, 55.0)
        gate.open()
        await notes.heard(6)
        tick(pool, 40.0)
        assert notes.error is None
        tick(pool, 10.0)
        error = await notes.failed()
        assert isinstance(error, UpstreamTimeout)
        assert error.message == f"{peer.name} did not finish within 100 s (timeouts.total_s)."


async def test_the_whole_time_goes_on_while_the_reader_is_behind() -> None:
    async with (
        scripted((stream_head(), chunk(b"one"), Freeze())) as backend,
        pooled(timeouts=Timeouts(total_s=100.0)) as pool,
    ):
        notes = send(at(pool, backend))
        await notes.heard(3)
        notes.outbound.pause()
        tick(pool, 101.0)
        assert "timeouts.total_s" in (await notes.failed()).message


@both_loops
@pytest.mark.parametrize(
    ("timeouts", "setting"),
    [
        (Timeouts(first_byte_s=0.04), "first_byte_s"),
        (Timeouts(first_byte_s=5.0, total_s=0.04), "total_s"),
    ],
)
async def test_limits_on_silence_fire_by_themselves(timeouts: Timeouts, setting: str) -> None:
    async with scripted((Freeze(),)) as backend, pooled(timeouts=timeouts) as pool:
        assert f"(timeouts.{setting})" in (await send(at(pool, backend)).failed()).message
