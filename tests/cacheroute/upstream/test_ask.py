"""One question with one small answer, over real connections, without a task."""

import asyncio

import pytest

from cacheroute.core.errors import (
    UpstreamClosed,
    UpstreamConnectError,
    UpstreamConnectTimeout,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamTimeout,
)
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.upstream.ask import Ask
from tests.cacheroute.upstream.asking import ByHand, Walked, a_pool, by_hand
from tests.support.backend import refusing, scripted, unreachable
from tests.support.script import (
    END,
    Close,
    Freeze,
    Pause,
    Reset,
    Script,
    Write,
    answer,
    chunk,
    head,
    json_answer,
    stream_head,
)


def ask_of(
    pool: UpstreamPool,
    port: int,
    *,
    host: str = "127.0.0.1",
    body: bytes = b'{"q":1}',
    timeout_s: float = 5.0,
) -> Ask:
    peer = pool.peer(host, port)
    return Ask(
        peer,
        "/ask",
        body,
        host=peer.name,
        timeout_s=timeout_s,
        timeout_setting="kdn.lookup_timeout_s",
        limit_bytes=1000,
        limit_setting="kdn.reply_bytes",
    )


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


async def failure(
    reply: Script, *, timeout_s: float = 5.0, pool_idle_s: float = 1000.0, **pool: float
) -> UpstreamError:
    """Ask somebody who answers like this, which must fail."""
    async with scripted(reply) as backend, a_pool(pool_idle_s=pool_idle_s, **pool) as peers:
        with pytest.raises(UpstreamError) as caught:
            await by_hand(ask_of(peers, backend.port, timeout_s=timeout_s).answer())
        await backend.closed_down_to(0)
        assert caught.value.peer == backend.authority
        return caught.value


async def test_the_whole_answer_comes_back_with_its_status() -> None:
    async with scripted(json_answer({"a": 1}, 418)) as backend, a_pool() as pool:
        assert await by_hand(ask_of(pool, backend.port).answer()) == (418, b'{"a": 1}')
        (asked,) = backend.requests
        assert (asked.method, asked.target, asked.body) == ("POST", "/ask", b'{"q":1}')
        assert [(name.lower(), value) for name, value in asked.head.headers] == [
            (b"host", backend.authority.encode()),
            (b"accept", b"application/json"),
            (b"content-type", b"application/json"),
            (b"content-length", b"7"),
        ]


@pytest.mark.parametrize(
    "reply",
    [
        (stream_head(content_type="application/json"), *map(chunk, [b"a", b"b", b"c"]), END),
        (Write(head(200) + b"a"), Write(b"bc"), Close()),
    ],
    ids=["in chunks", "until it closes"],
)
async def test_an_answer_may_come_in_pieces(reply: Script) -> None:
    async with scripted(reply) as backend, a_pool() as pool:
        assert await by_hand(ask_of(pool, backend.port).answer()) == (200, b"abc")


async def test_an_answer_may_be_empty() -> None:
    async with scripted(answer(b"", 204, None)) as backend, a_pool() as pool:
        assert await by_hand(ask_of(pool, backend.port).answer()) == (204, b"")


async def test_one_connection_serves_question_after_question() -> None:
    async with scripted() as backend, a_pool() as pool:
        for _ in range(20):
            await by_hand(ask_of(pool, backend.port).answer())
        assert (len(backend.requests), backend.connections) == (20, 1)


async def test_questions_at_once_have_connections_of_their_own() -> None:
    async with scripted((Pause(0.02), *json_answer({}))) as backend, a_pool() as pool:
        asked = [ByHand(ask_of(pool, backend.port).answer()) for _ in range(5)]
        await asyncio.gather(*(each.result for each in asked))
        assert backend.most_running == 5
        for _ in range(5):
            await by_hand(ask_of(pool, backend.port).answer())
        assert backend.connections == 5


async def test_a_warm_connection_that_died_unheard_is_replaced() -> None:
    async with scripted(on_reuse="reset") as backend, a_pool() as pool:
        for _ in range(3):
            assert (await by_hand(ask_of(pool, backend.port).answer()))[0] == 200
        assert len(backend.requests) == 3


# Failing


async def test_who_takes_too_long_is_told_by_the_setting() -> None:
    error = await failure((Freeze(),), timeout_s=0.05)
    assert isinstance(error, UpstreamTimeout)
    assert error.message.endswith(" did not answer within 0.05 s (kdn.lookup_timeout_s).")


@pytest.mark.parametrize(
    "begun",
    [
        (Write(head(200, [("Content-Length", "9")])),),
        (Write(head(200, [("Content-Length", "9")]) + b"abc"),),
        (Write(b"HTTP/1.1 200 O"),),
    ],
    ids=["a head", "half a body", "half a head"],
)
async def test_who_stops_midway_is_given_no_more_time(begun: Script) -> None:
    assert isinstance(await failure((*begun, Freeze()), timeout_s=0.05), UpstreamTimeout)


async def test_a_peer_that_drips_is_not_waited_for_longer() -> None:
    drips = [step for _ in range(400) for step in (Pause(0.01), chunk(b" "))]
    error = await failure((stream_head(), *drips, END), timeout_s=0.05)
    assert "within 0.05 s (kdn.lookup_timeout_s)" in error.message


async def test_a_limit_of_the_connection_is_told_by_its_own_name() -> None:
    error = await failure((Freeze(),), first_byte_s=0.05)
    assert "(timeouts.first_byte_s)" in error.message


@pytest.mark.parametrize(
    "reply",
    [
        (stream_head(), chunk(b"x" * 1000), chunk(b"x"), Freeze()),
        (Write(head(200, [("Content-Length", "5000")]) + b"x" * 1001), Freeze()),
        (Write(head(200)), Write(b"x" * 1001), Freeze()),
    ],
    ids=["in chunks", "by its length", "until it closes"],
)
async def test_no_more_is_taken_than_the_limit(reply: Script) -> None:
    error = await failure(reply)
    assert isinstance(error, UpstreamProtocolError)
    assert error.message.endswith(" answered more than 1000 bytes (kdn.reply_bytes).")


async def test_of_a_whole_answer_beyond_the_limit_nothing_is_taken() -> None:
    """Its connection is as good as ever, so it is kept like any other."""
    error = await failure(answer(b"x" * 1001), pool_idle_s=0.05)
    assert error.message.endswith(" answered more than 1000 bytes (kdn.reply_bytes).")


async def test_as_much_as_the_limit_is_taken() -> None:
    async with scripted(answer(b"x" * 1000)) as backend, a_pool() as pool:
        assert await by_hand(ask_of(pool, backend.port).answer()) == (200, b"x" * 1000)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ((Reset(),), UpstreamClosed),
        ((Close(),), UpstreamClosed),
        ((Write(b"HTTP/1.1 200"), Reset()), UpstreamClosed),
        ((Write(head(200, [("Content-Length", "9")]) + b"abc"), Reset()), UpstreamClosed),
        ((Write(head(200, [("Content-Length", "9")]) + b"abc"), Close()), UpstreamClosed),
        ((stream_head(), chunk(b"abc"), Close()), UpstreamClosed),
        ((Write(b"SSH-2.0-OpenSSH_9.2\r\n"), Freeze()), UpstreamProtocolError),
        ((stream_head(), Write(b"zz\r\n"), Freeze()), UpstreamProtocolError),
    ],
)
async def test_what_breaks_off_is_no_answer(reply: Script, kind: type[UpstreamError]) -> None:
    assert isinstance(await failure(reply), kind)


async def test_nobody_there_is_known_at_once() -> None:
    async with refusing() as url, a_pool() as pool:
        with pytest.raises(UpstreamConnectError):
            await by_hand(ask_of(pool, port_of(url)).answer())


async def test_a_connection_that_is_never_made_is_told_by_its_own_limit() -> None:
    async with unreachable() as url, a_pool(connect_s=0.05) as pool:
        with pytest.raises(UpstreamConnectTimeout, match=r"\(timeouts\.connect_s\)"):
            await by_hand(ask_of(pool, port_of(url)).answer())


async def test_the_time_to_connect_counts() -> None:
    async with unreachable() as url, a_pool(connect_s=5.0) as pool:
        with pytest.raises(UpstreamTimeout, match=r"\(kdn\.lookup_timeout_s\)"):
            await by_hand(ask_of(pool, port_of(url), timeout_s=0.05).answer())


async def test_after_a_failure_the_next_question_is_answered() -> None:
    replies = iter([(Reset(),), answer(b"x" * 2000), json_answer({})])

    async with scripted(lambda _: next(replies)) as backend, a_pool() as pool:
        for _ in range(2):
            with pytest.raises(UpstreamError):
                await by_hand(ask_of(pool, backend.port).answer())
        assert await by_hand(ask_of(pool, backend.port).answer()) == (200, b"{}")


# Leaving


@pytest.mark.parametrize("begun", [(), (stream_head(), chunk(b"a"))], ids=["unheard", "midway"])
async def test_who_walks_away_is_seen_to_leave_at_once(begun: Script) -> None:
    async with scripted((*begun, Freeze())) as backend, a_pool() as pool:
        asking = ByHand(ask_of(pool, backend.port).answer())
        received = await backend.received()
        asking.walk_away()
        with pytest.raises(Walked):
            await asking.result
        await asyncio.wait_for(received.gone.wait(), 5)
        await backend.closed_down_to(0)


async def test_who_walks_away_while_it_connects_asks_nothing() -> None:
    async with scripted() as backend, a_pool() as pool:
        asking = ByHand(ask_of(pool, backend.port).answer())
        asking.walk_away()
        with pytest.raises(Walked):
            await asking.result
        await by_hand(ask_of(pool, backend.port).answer())
        assert len(backend.requests) == 1
        assert not pool.peer(backend.host, backend.port).active


async def test_an_answer_leaves_nothing_behind() -> None:
    async with scripted() as backend, a_pool() as pool:
        await by_hand(ask_of(pool, backend.port, timeout_s=0.02).answer())
        await asyncio.sleep(0.05)  # past its own limit: the timer must be gone
        assert len(pool.peer(backend.host, backend.port).idle) == 1
        assert backend.open_sockets == 1


async def test_a_host_with_colons_stands_in_brackets() -> None:
    async with scripted(host="::1") as backend, a_pool() as pool:
        await by_hand(ask_of(pool, backend.port, host="::1").answer())
        assert backend.requests[0].head.one("host") == f"[::1]:{backend.port}".encode()
