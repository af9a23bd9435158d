"""Connections to a peer: kept while warm, replaced once when found dead, held to their limits."""

import asyncio

import pytest

from cacheroute.core.errors import (
    UpstreamClosed,
    UpstreamConnectError,
    UpstreamConnectTimeout,
    UpstreamLeft,
)
from cacheroute.core.limits import Timeouts
from cacheroute.dataplane.pool import Peer, UpstreamPool
from tests.cacheroute.dataplane.peer_parts import at, pooled, raw, send, tick
from tests.cacheroute.dataplane.wire_parts import both_loops
from tests.support.backend import refusing, scripted, unreachable
from tests.support.script import Close, Freeze, Gate, Reset, Write, chunk, stream, stream_head
from tests.support.waiting import eventually

OK = b"HTTP/1.1 200 OK\r\n"
HELLO = OK + b"Content-Length: 5\r\n\r\nhello"


def peer_at(pool: UpstreamPool, url: str) -> Peer:
    """Return the peer at a base address."""
    return pool.peer("127.0.0.1", int(url.rpartition(":")[2]))


# Reuse.


@both_loops
async def test_a_connection_that_nobody_has_used_yet_is_replaced_like_any_other() -> None:
    """Its request was given up while it was being made, and it has waited since."""
    async with scripted() as backend, pooled() as pool:
        backend.reply = lambda _: (Reset(),) if len(backend.requests) == 1 else raw(HELLO)
        peer = at(pool, backend)
        notes = send(peer)
        await asyncio.sleep(0)  # the turn ends
        notes.outbound.abandon()
        await eventually(lambda: peer.idle)
        assert await send(peer).succeeded() == b"hello"
        assert backend.connections == 2


@both_loops
async def test_a_connection_is_used_again_and_again() -> None:
    async with scripted(stream(b"hel", b"lo")) as backend, pooled() as pool:
        for body in (b"", b"x", bytes(100_000)):
            assert await send(at(pool, backend), body).succeeded() == b"hello"
        assert backend.connections == 1
        assert [len(each.body) for each in backend.requests] == [0, 1, 100_000]


async def test_requests_at_the_same_time_never_share_a_connection() -> None:
    gate = Gate()
    async with scripted((gate, *raw(HELLO))) as backend, pooled() as pool:
        peer = at(pool, backend)
        notes = [send(peer) for _ in range(150)]
        await eventually(lambda: backend.running == 150)
        gate.open()
        for each in notes:
            assert await each.succeeded() == b"hello"
        assert backend.connections == 150
        assert len(peer.idle) == 150
        assert not peer.active


async def test_the_connection_used_last_is_used_first() -> None:
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        peer = at(pool, backend)
        both = [send(peer), send(peer)]
        for each in both:
            await each.over()
        last = peer.idle[-1]
        for _ in range(3):
            await send(peer).over()
            assert peer.idle[-1] is last
        assert len(peer.idle) == 2


async def test_a_peer_is_the_same_one_each_time() -> None:
    async with pooled() as pool:
        assert pool.peer("a", 1) is pool.peer("a", 1)
        assert pool.peer("a", 1) is not pool.peer("a", 2)
        assert pool.peer("::1", 80).name == "[::1]:80"
        assert pool.peer("a.example", 80).name == "a.example:80"


async def test_an_idle_connection_is_closed_after_a_while() -> None:
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        peer = at(pool, backend)
        await send(peer).over()
        tick(pool, 3.0)
        await send(peer).over()
        tick(pool, 3.0)
        assert len(peer.idle) == 1
        tick(pool, 1.0)
        assert not peer.idle
        await backend.closed_down_to(0)
        await send(peer).over()
        assert backend.connections == 2


@both_loops
async def test_idle_limits_fire_by_themselves() -> None:
    async with (
        scripted(raw(HELLO)) as backend,
        pooled(timeouts=Timeouts(pool_idle_s=0.04)) as pool,
    ):
        await send(at(pool, backend)).over()
        await backend.closed_down_to(0)


@both_loops
async def test_a_connection_that_the_peer_closes_while_idle_is_forgotten() -> None:
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        peer = at(pool, backend)
        await send(peer).over()
        for connection in list(backend.open):
            connection.reset()
        await eventually(lambda: not peer.idle)
        assert await send(peer).succeeded() == b"hello"


# A reused connection that turns out to be dead.


@both_loops
@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_request_on_a_dead_kept_connection_is_sent_once_more(how: str) -> None:
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        peer = at(pool, backend)
        await send(peer).over()
        backend.on_reuse = how  # type: ignore[assignment]
        notes = send(peer, b"again")
        assert await notes.succeeded() == b"hello"
        assert notes.told == ["head", "end"]
        assert backend.connections == 2
        assert [each.body for each in backend.requests] == [b"", b"again"]


@pytest.mark.parametrize("how", [Close(), Reset()], ids=["close", "reset"])
async def test_it_is_never_sent_a_third_time(how: Close | Reset) -> None:
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        peer = at(pool, backend)
        await send(peer).over()
        backend.reply = (how,)
        error = await send(peer, b"again").failed()
        assert isinstance(error, UpstreamClosed)
        assert "without an answer" in error.message
        assert len(backend.requests) == 3


async def test_if_nobody_listens_any_more_the_second_try_says_so() -> None:
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        peer = at(pool, backend)
        await send(peer).over()
        backend.refuse()
        error = await send(peer).failed()
        assert isinstance(error, UpstreamConnectError)


@pytest.mark.parametrize("said", [b"H", b"HTTP/1.1 100 Continue\r\n\r\n", HELLO[:-2]])
async def test_after_a_single_byte_nothing_is_sent_again(said: bytes) -> None:
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        peer = at(pool, backend)
        await send(peer).over()
        gate = Gate()
        backend.reply = (Write(said), gate, Close())
        notes = send(peer)
        await eventually(lambda: notes.outbound.heard)
        gate.open()
        assert isinstance(await notes.failed(), UpstreamClosed)
        assert len(backend.requests) == 2


async def test_on_a_new_connection_nothing_is_sent_again() -> None:
    async with scripted((Close(),)) as backend, pooled() as pool:
        assert isinstance(await send(at(pool, backend)).failed(), UpstreamClosed)
        assert len(backend.requests) == 1


async def test_a_request_that_may_not_be_sent_again_is_not() -> None:
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        peer = at(pool, backend)
        await send(peer).over()
        backend.reply = (Close(),)
        notes = send(peer)
        notes.outbound.may_resend = False
        assert isinstance(await notes.failed(), UpstreamClosed)
        assert len(backend.requests) == 2


# Connecting.


async def test_a_refused_connection_says_so() -> None:
    async with refusing() as url, pooled() as pool:
        peer = peer_at(pool, url)
        error = await send(peer).failed()
        assert type(error) is UpstreamConnectError
        assert error.message == f"No connection to {peer.name}: Connection refused."
        assert error.peer == peer.name
        assert error.retryable
        assert not peer.active
        assert not peer._connecting


@both_loops
async def test_a_connection_that_is_never_made_fails_in_time() -> None:
    async with unreachable() as url, pooled(timeouts=Timeouts(connect_s=0.03)) as pool:
        peer = peer_at(pool, url)
        error = await send(peer).failed()
        assert isinstance(error, UpstreamConnectTimeout)
        assert error.message == f"No connection to {peer.name} within 0.03 s (timeouts.connect_s)."
        assert error.status == 504
        assert error.retryable


@pytest.mark.parametrize("host", ["a" * 64 + ".invalid", "\udc80"])
async def test_a_name_that_means_nothing_says_so(host: str) -> None:
    async with pooled() as pool:
        error = await send(pool.peer(host, 80)).failed()
        assert type(error) is UpstreamConnectError
        assert error.message.startswith(f"No connection to {host}:80: ")


async def test_an_address_that_is_objected_to_gets_no_byte() -> None:
    async with (
        scripted(raw(HELLO)) as backend,
        pooled(object_to=lambda address: f"not {address} of all places") as pool,
    ):
        peer = at(pool, backend)
        error = await send(peer, b"secret").failed()
        assert type(error) is UpstreamConnectError
        assert error.message == f"{peer.name} leads to an address that nothing may be sent to."
        assert error.for_operator.endswith(" leads to 127.0.0.1, not 127.0.0.1 of all places.")
        await backend.closed_down_to(0)
        assert not backend.requests
        assert not backend.faults
        assert not peer.idle


OWN = {
    "the address": ("127.0.0.1", 0, True),
    "all addresses": ("0.0.0.0", 0, True),
    "all addresses of both kinds": ("::", 0, True),
    "another address": ("192.0.2.1", 0, False),
    "another port": ("0.0.0.0", 1, False),
}


@both_loops
@pytest.mark.parametrize("case", OWN)
async def test_nobody_is_sent_a_request_where_this_process_listens(case: str) -> None:
    """It would send it on to itself, until all its connections are taken."""
    host, offset, is_own = OWN[case]
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        pool.own_addresses = frozenset({(host, backend.port + offset)})
        notes = send(pool.peer("localhost", backend.port))
        if not is_own:
            assert await notes.succeeded() == b"hello"
            return
        error = await notes.failed()
        assert type(error) is UpstreamConnectError
        assert error.for_operator.endswith(" leads to 127.0.0.1, and that is this process itself.")
        assert "127.0.0.1" not in error.message
        assert not backend.requests


async def test_the_address_is_asked_about_and_not_the_name() -> None:
    asked: list[str] = []

    def object_to(address: str) -> str | None:
        asked.append(address)
        return None

    async with scripted(raw(HELLO)) as backend, pooled(object_to=object_to) as pool:
        await send(pool.peer("localhost", backend.port)).succeeded()
        assert asked == ["127.0.0.1"]


# Leaving.


async def test_a_peer_that_leaves_fails_what_has_no_answer_and_keeps_what_has() -> None:
    async with scripted() as backend, pooled() as pool:
        peer = at(pool, backend)
        gate = Gate()
        backend.reply = (stream_head(), chunk(b"one"), gate, chunk(b"two"), Write(b"0\r\n\r\n"))
        running = send(peer)
        await running.heard(3)
        backend.reply = (Freeze(),)
        waiting = send(peer)
        received = await backend.received(2)
        peer.retire()
        error = await waiting.failed()
        assert isinstance(error, UpstreamLeft)
        assert error.message == f"{peer.name} left the pool before it had begun to answer."
        assert error.retryable
        await received.gone.wait()
        assert running.error is None
        gate.open()
        assert await running.succeeded() == b"onetwo"
        tick(pool, 0.0)
        await backend.closed_down_to(0)
        assert peer not in pool._sweeper.watched
        assert pool.peer(peer.host, peer.port) is not peer


async def test_a_peer_that_leaves_closes_its_idle_connections() -> None:
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        peer = at(pool, backend)
        await send(peer).over()
        peer.retire()
        await backend.closed_down_to(0)
        assert not pool._peers
        assert not pool._sweeper.watched


async def test_a_peer_that_came_back_does_not_inherit_what_the_old_one_runs() -> None:
    async with scripted() as backend, pooled() as pool:
        old = at(pool, backend)
        gate = Gate()
        backend.reply = (stream_head(), chunk(b"one"), gate, Write(b"0\r\n\r\n"))
        running = send(old)
        await running.heard(3)
        old.retire()
        new = at(pool, backend)
        assert new is not old
        backend.reply = raw(HELLO)
        assert await send(new).succeeded() == b"hello"
        gate.open()
        assert await running.succeeded() == b"one"
        tick(pool, 0.0)
        assert pool._sweeper.watched == {new}
        assert at(pool, backend) is new
        await backend.closed_down_to(1)


@pytest.mark.parametrize("how", ["retired", "dropped"])
async def test_a_connection_made_for_a_peer_that_has_left_is_closed(how: str) -> None:
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        peer = at(pool, backend)
        notes = send(peer)
        await eventually(lambda: peer._connecting, every_s=0)
        if how == "retired":
            peer.retire()
        else:
            notes.outbound.abandon()
            tick(pool, 0.1)
            pool.drop(peer)
        await eventually(lambda: not peer._connecting)
        await backend.closed_down_to(0)
        assert (backend.requests, pool._sweeper.watched) == ([], set())


async def test_a_pool_that_is_closed_leaves_running_answers_alone() -> None:
    gate = Gate()
    async with (
        scripted((stream_head(), chunk(b"one"), gate, Write(b"0\r\n\r\n"))) as backend,
        pooled() as pool,
    ):
        peer = at(pool, backend)
        idle, running = send(peer), send(peer)
        await running.heard(3)
        await idle.heard(3)
        pool.close()
        gate.open()
        assert await running.succeeded() == b"one"


@both_loops
async def test_a_peer_that_resets_what_it_is_sent_is_heard_of_at_once() -> None:
    async with scripted(on_accept="reset") as backend, pooled() as pool:
        notes = send(at(pool, backend), bytes(1 << 20))
        error = await notes.failed()
        assert isinstance(error, UpstreamClosed | UpstreamConnectError)


async def test_many_requests_at_once_leave_nothing_behind() -> None:
    async with scripted(raw(HELLO)) as backend, pooled() as pool:
        peer = at(pool, backend)
        for turn in range(4):
            notes = [send(peer, b"x" * number) for number in range(50)]
            for number, each in enumerate(notes):
                if number % 3 == turn % 3:
                    each.outbound.abandon()
            for number, each in enumerate(notes):
                if number % 3 != turn % 3:
                    assert await each.succeeded() == b"hello"
                else:
                    assert not each.told
        await eventually(lambda: not peer._connecting)
        tick(pool, 1.0)
        assert not peer.active
        tick(pool, 5.0)
        await backend.closed_down_to(0)
