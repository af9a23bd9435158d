"""A request to a peer: told of everything once, and of nothing after it has walked away."""

import asyncio
import gc
import weakref

import pytest

from tests.cacheroute.dataplane.peer_parts import at, noted, pooled, raw, send, tick
from tests.cacheroute.dataplane.wire_parts import both_loops
from tests.support.backend import refusing, scripted, unreachable
from tests.support.script import (
    END,
    Freeze,
    Gate,
    Script,
    Write,
    chunk,
    json_answer,
    stream,
    stream_head,
)
from tests.support.waiting import eventually

LENGTH_5 = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"


async def test_a_listener_hears_head_pieces_and_end_in_order() -> None:
    first, second = Gate(), Gate()
    script = (Write(LENGTH_5), first, Write(b"hel"), second, Write(b"lo"))
    async with scripted(script) as backend, pooled() as pool:
        notes = send(at(pool, backend), b"x")
        outbound = notes.outbound
        assert not outbound.heard
        await eventually(lambda: notes.told)
        assert notes.told == ["head", "body"]
        assert notes.pieces == [b""]
        assert (outbound.heard, outbound.begun) == (True, False)
        first.open()
        await notes.heard(3)
        assert (outbound.begun, outbound.done) == (True, False)
        second.open()
        assert await notes.succeeded() == b"hello"
        assert notes.told == ["head", "body", "body", "end"]
        assert notes.last == b"lo"
        assert outbound.done


async def test_an_answer_that_comes_at_once_is_told_as_head_and_end() -> None:
    async with scripted(raw(LENGTH_5 + b"hello")) as backend, pooled() as pool:
        notes = await send(at(pool, backend)).over()
        assert notes.told == ["head", "end"]
        assert notes.last == b"hello"


@both_loops
@pytest.mark.parametrize("begun", [False, True], ids=["unheard", "in the middle"])
async def test_an_abandoned_request_is_reset_and_hears_no_more(begun: bool) -> None:
    script = (stream_head(), chunk(b"one"), Freeze()) if begun else (Freeze(),)
    async with scripted(script) as backend, pooled() as pool:
        peer = at(pool, backend)
        notes = send(peer, b"x")
        received = await backend.received()
        if begun:
            await notes.heard(3)
        told = list(notes.told)
        notes.outbound.abandon()
        notes.outbound.abandon()
        await received.gone.wait()
        await backend.closed_down_to(0)
        tick(pool, 10_000.0)
        assert notes.told == told
        assert notes.outbound.done
        assert not peer.active
        assert not peer.idle


async def test_a_request_abandoned_from_within_its_own_head_hears_no_more() -> None:
    async with scripted(raw(LENGTH_5 + b"hello")) as backend, pooled() as pool:
        notes = send(at(pool, backend))
        notes.on_news = notes.outbound.abandon
        await eventually(lambda: notes.told)
        await backend.closed_down_to(0)
        assert notes.told == ["head"]


async def test_a_request_abandoned_from_within_a_piece_hears_no_more() -> None:
    async with scripted(stream(b"one", b"two")) as backend, pooled() as pool:
        notes = send(at(pool, backend))
        notes.on_news = lambda: notes.outbound.abandon() if notes.pieces else None
        await eventually(lambda: notes.pieces)
        await backend.closed_down_to(0)
        assert notes.told in (["head", "body"], ["head", "end"])


async def test_a_request_abandoned_while_connecting_leaves_a_warm_connection() -> None:
    async with scripted() as backend, pooled() as pool:
        peer = at(pool, backend)
        notes = send(peer)
        await asyncio.sleep(0)  # the turn ends
        assert peer._connecting
        notes.outbound.abandon()
        await eventually(lambda: peer.idle)
        assert not peer.active
        assert not notes.told
        assert await send(peer).succeeded()
        assert backend.connections == 1
        assert len(backend.requests) == 1


async def test_a_request_abandoned_in_the_turn_it_was_sent_in_is_never_begun() -> None:
    async with scripted() as backend, pooled() as pool:
        peer = at(pool, backend)
        notes = send(peer)
        notes.outbound.abandon()
        await asyncio.sleep(0)
        assert not peer.active
        assert not peer._connecting
        assert not notes.told
        assert backend.connections == 0


async def test_requests_of_one_turn_take_the_connections_that_became_free_in_it() -> None:
    async with scripted(json_answer({})) as backend, pooled() as pool:
        peer = at(pool, backend)
        first, second = noted(), noted()

        def follow() -> None:
            if first.told == ["head"]:
                peer.send(second.outbound)

        first.on_news = follow
        peer.send(first.outbound)
        await first.succeeded()
        await second.succeeded()
        assert backend.connections == 1


async def test_a_request_abandoned_while_connecting_in_vain_is_silent() -> None:
    async with refusing() as url, pooled() as pool:
        peer = pool.peer("127.0.0.1", int(url.rpartition(":")[2]))
        notes = send(peer)
        await asyncio.sleep(0)  # the turn ends
        assert peer._connecting
        notes.outbound.abandon()
        await eventually(lambda: not peer._connecting)
        assert not notes.told
        assert not peer.active


async def test_abandoning_a_request_that_is_over_does_not_touch_its_connection() -> None:
    async with scripted(json_answer({})) as backend, pooled() as pool:
        peer = at(pool, backend)
        notes = await send(peer).over()
        notes.outbound.abandon()
        await send(peer).succeeded()
        assert backend.connections == 1


@both_loops
async def test_a_paused_answer_is_not_read_until_it_is_resumed() -> None:
    gate = Gate()
    large: Script = (chunk(bytes(1 << 16)),) * 200
    script: Script = (stream_head(), chunk(b"one"), gate, *large, END)
    async with scripted(script) as backend, pooled() as pool:
        notes = send(at(pool, backend))
        await notes.heard(3)
        notes.outbound.pause()
        gate.open()
        received = await backend.received()
        # The writer stops for good once the kernel's buffers are full.
        seen = -1
        while seen != len(received.writes):
            seen = len(received.writes)
            await eventually(lambda: True, every_s=0)
            for _ in range(20):
                await pool.loop.run_in_executor(None, lambda: None)
        assert notes.body == b"one"
        assert not received.done.is_set()
        notes.outbound.resume()
        assert len(await notes.succeeded()) == 3 + (200 << 16)


async def test_silence_is_not_counted_while_paused() -> None:
    async with scripted((stream_head(), chunk(b"one"), Freeze())) as backend, pooled() as pool:
        notes = send(at(pool, backend))
        await notes.heard(3)
        notes.outbound.pause()
        tick(pool, 10_000.0)
        assert notes.error is None
        notes.outbound.resume()
        tick(pool, 59.0)
        assert notes.error is None
        tick(pool, 2.0)
        assert "between_bytes_s" in (await notes.failed()).message


@both_loops
async def test_pausing_twice_is_pausing_once() -> None:
    gate = Gate()
    async with (
        scripted((stream_head(), chunk(b"one"), gate, chunk(b"two"), END)) as backend,
        pooled() as pool,
    ):
        notes = send(at(pool, backend))
        await notes.heard(3)
        notes.outbound.pause()
        notes.outbound.pause()
        notes.outbound.resume()
        notes.outbound.resume()
        gate.open()
        assert await notes.succeeded() == b"onetwo"


async def test_pausing_and_resuming_what_has_no_connection_is_harmless() -> None:
    async with unreachable() as url, pooled() as pool:
        notes = send(pool.peer("127.0.0.1", int(url.rpartition(":")[2])))
        notes.outbound.pause()
        notes.outbound.resume()
        notes.outbound.abandon()
        assert not notes.told


async def test_an_answer_paused_at_its_end_leaves_a_connection_that_reads() -> None:
    async with scripted(raw(LENGTH_5 + b"hello")) as backend, pooled() as pool:
        peer = at(pool, backend)
        notes = send(peer)
        notes.on_news = lambda: None if notes.outbound.done else notes.outbound.pause()
        assert await notes.succeeded() == b"hello"
        assert await send(peer).succeeded() == b"hello"
        assert backend.connections == 1


async def test_a_request_that_is_over_does_not_hold_its_listener() -> None:
    async with scripted(json_answer({})) as backend, pooled() as pool:
        notes = await send(at(pool, backend)).over()
        gc.collect()
        gc.disable()
        try:
            left = weakref.ref(notes)
            del notes
            assert left() is None
        finally:
            gc.enable()
