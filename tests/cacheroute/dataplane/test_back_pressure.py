"""Server and pool together: what is passed on is bounded by whoever is slower."""

import asyncio

import pytest

from cacheroute.core.errors import UpstreamError
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.outbound import Outbound
from cacheroute.dataplane.pool import Peer
from cacheroute.dataplane.sockets import FULL_READ_BYTES
from cacheroute.dataplane.upstream import UpstreamConnection
from tests.cacheroute.dataplane.peer_parts import Notes, at, pooled, tick
from tests.cacheroute.dataplane.wire_parts import (
    PING,
    Handler,
    MemoryWire,
    both_loops,
    hold,
    request,
    serving,
    slow_reader,
    wired,
)
from tests.support.backend import ScriptedBackend, scripted
from tests.support.client import connected, fetch
from tests.support.script import END, Freeze, Gate, Reset, Script, Write, chunk, stream_head
from tests.support.waiting import eventually

PIECE = bytes(range(256)) * 256
PIECES = 400
ENDLESS: Script = (stream_head(), *(chunk(PIECE),) * PIECES, END)


class Passing:
    """Passes an answer on as it comes."""

    def __init__(self, inbound: Inbound, peer: Peer) -> None:
        self.inbound = inbound
        head = b"%b / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
        self.outbound = Outbound(
            head % (inbound.method.encode(), len(inbound.body)), inbound.body, self
        )
        inbound.on_gone = self.outbound.abandon
        inbound.on_pause = self.outbound.pause
        inbound.on_resume = self.outbound.resume
        peer.send(self.outbound)

    def on_head(self) -> None:
        """Begin."""
        outbound = self.outbound
        self.inbound.begin(outbound.status, b"".join(outbound.lines), outbound.content_length)

    def on_body(self, data: bytes) -> None:
        """Pass it on."""
        self.inbound.write(data)

    def on_end(self, data: bytes) -> None:
        """End."""
        self.inbound.finish(data)

    def on_fail(self, error: UpstreamError) -> None:
        """Let the client see it."""
        self.inbound.cut()


def passing_to(peer: Peer) -> Handler:
    """Return a handler that asks a peer."""

    def handle(inbound: Inbound) -> None:
        Passing(inbound, peer)

    return handle


async def stuck(backend: ScriptedBackend) -> int:
    """Wait until the backend's writes have come to a stand; returns how many went out."""
    received = await backend.received()
    seen = -1
    while seen != len(received.writes):
        seen = len(received.writes)
        for _ in range(30):
            await asyncio.to_thread(lambda: None)
    return seen


@both_loops
async def test_a_client_that_does_not_read_stops_the_peer_and_memory_does_not_grow() -> None:
    async with (
        scripted(ENDLESS) as backend,
        pooled() as pool,
        serving(passing_to(at(pool, backend))) as served,
        slow_reader(served.port) as client,
    ):
        client.ask()
        inbound = await served.request()
        await eventually(lambda: inbound.write_paused)
        # The rest is in buffers of the kernel, which have their own bounds.
        assert await stuck(backend) < PIECES
        # The water mark, and what was read last before it was passed.
        assert served.connection._transport.get_write_buffer_size() < (64 + 2 * 256) * 1024
        (outbound,) = at(pool, backend).active
        assert outbound.is_paused
        tick(pool, 10_000.0)
        client.read_on()
        got = await client.over()
        assert got.whole
        assert got.body == PIECE * PIECES
        assert not outbound.is_paused
        assert not at(pool, backend).active


@both_loops
@pytest.mark.parametrize("reading", [True, False], ids=["reading", "not reading"])
async def test_a_client_that_leaves_stops_the_peer_at_once(reading: bool) -> None:
    script = (stream_head(), chunk(b"one"), Freeze()) if reading else ENDLESS
    async with (
        scripted(script) as backend,
        pooled() as pool,
        serving(passing_to(at(pool, backend))) as served,
        slow_reader(served.port) as client,
    ):
        client.ask()
        inbound = await served.request()
        if reading:
            client.read_on()
            await client.body_of(3)
        else:
            await eventually(lambda: inbound.write_paused)
        client.reset()
        received = await backend.received()
        await received.gone.wait()
        await backend.closed_down_to(0)
        assert inbound.on_gone is None
        assert not at(pool, backend).idle


@both_loops
async def test_a_peer_that_breaks_off_is_seen_by_the_client_as_broken_off() -> None:
    gate = Gate()
    async with (
        scripted((stream_head(), chunk(b"one"), gate, Reset())) as backend,
        pooled() as pool,
        serving(passing_to(at(pool, backend))) as served,
        connected(served.port) as client,
    ):
        client.ask()
        await client.body_of(3)
        gate.open()
        got = await client.disconnected()
        assert got.cut
        assert got.body == b"one"
        assert not served.gone


async def test_an_answer_of_known_length_keeps_it_on_the_way() -> None:
    data = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(PIECE) * 4)
    async with (
        scripted((Write(data), *(Write(PIECE),) * 4)) as backend,
        pooled() as pool,
        serving(passing_to(at(pool, backend))) as served,
    ):
        for _ in range(3):
            got = await fetch(served.port, "POST", "/", body=PIECE)
            assert got.framing == "length"
            assert got.body == PIECE * 4
        assert backend.requests[-1].body == PIECE
        assert backend.connections == 1


async def test_many_streams_at_once_stay_apart() -> None:
    def reply(received: object) -> Script:
        name = received.body  # type: ignore[attr-defined]
        return (stream_head(), *(chunk(name * 50),) * 20, END)

    async with (
        scripted(reply) as backend,
        pooled() as pool,
        serving(passing_to(at(pool, backend))) as served,
    ):
        names = [b"<%d>" % number for number in range(40)]
        answers = await asyncio.gather(
            *(fetch(served.port, "POST", "/", body=name) for name in names)
        )
        for name, got in zip(names, answers, strict=True):
            assert got.whole
            assert got.body == name * 1000
        assert not at(pool, backend).active


# A full piece means that more is there: others are read before it.

FULL = bytes(FULL_READ_BYTES)


async def test_a_client_that_sends_much_is_read_once_a_turn() -> None:
    async with serving() as served, wired(served) as (connection, wire):
        connection.data_received(request(b"Content-Length: %d" % (2 * len(FULL))))
        assert wire.reading
        connection.data_received(FULL)
        assert not wire.reading
        await eventually(lambda: wire.reading, every_s=0)
        connection.data_received(FULL)
        await eventually(lambda: bool(served.requests) and wire.reading, every_s=0)


async def test_one_that_sends_on_after_a_refusal_is_read_once_a_turn_as_well() -> None:
    async with serving() as served, wired(served) as (connection, wire):
        connection.data_received(request(b"Content-Length: %d" % (1 << 40)))
        assert b"HTTP/1.1 413 " in wire.written
        connection.data_received(FULL)
        assert not wire.reading
        await eventually(lambda: wire.reading, every_s=0)


async def test_one_that_has_sent_many_requests_ahead_stays_unread_all_the_same() -> None:
    async with serving(hold) as served, wired(served) as (connection, wire):
        connection.data_received(PING * (FULL_READ_BYTES // len(PING) + 1))
        assert not wire.reading
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not wire.reading


@pytest.mark.parametrize("is_paused", [False, True])
async def test_a_peer_that_sends_much_is_read_once_a_turn(is_paused: bool) -> None:
    async with pooled() as pool:
        connection = UpstreamConnection(pool.peer("127.0.0.1", 1))
        wire = MemoryWire(connection)
        connection.connection_made(wire)
        outbound = Outbound(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"", Notes())
        connection.begin(outbound)
        connection.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + FULL)
        assert not wire.reading
        if is_paused:
            outbound.pause()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert wire.reading is not is_paused
        outbound.resume()
        assert wire.reading
