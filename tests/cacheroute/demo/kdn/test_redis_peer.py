import asyncio
import socket

import pytest

from cacheroute.demo.kdn import redis_peer as room
from cacheroute.demo.kdn.redis_peer import RedisFault, RedisTarget
from cacheroute.formats.address import Address
from tests.support.redis import RedisServer, running_redis


def target(server: RedisServer, *, password: str | None = None) -> RedisTarget:
    return RedisTarget(address=Address(server.host, server.port), password=password)


async def fault_of(where: RedisTarget) -> RedisFault:
    with pytest.raises(RedisFault) as fault:
        async with where.connected():
            pass
    return fault.value


async def test_what_is_written_is_there(redis_server: RedisServer) -> None:
    pairs = {b"m@1@0@\x00\xff": b"\r\n\x00", b"m@1@0@2": b"x" * 100_000}

    async with target(redis_server).connected() as peer:
        await peer.write(pairs)

        assert await peer.values([*pairs, b"nobody"]) == pairs
        assert await peer.sizes([*pairs, b"nobody"]) == {
            key: len(value) for key, value in pairs.items()
        }
    assert redis_server.stored_keys() == set(pairs)


async def test_keys_are_found_by_their_pattern(redis_server: RedisServer) -> None:
    async with target(redis_server).connected() as peer:
        await peer.write({b"m@%d" % number: b"1" for number in range(1000)} | {b"other": b"1"})

        keys = await peer.keys(match="*@*", scan_count=10)

        assert len(keys) == 1000
        await peer.flush()
        assert await peer.keys(match="*", scan_count=10) == set()


async def test_a_redis_with_too_many_keys_is_said_to_have_them(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MAX_KEYS", 9)
    async with target(redis_server).connected() as peer:
        await peer.write({b"m@%d" % number: b"1" for number in range(10)})

        with pytest.raises(RedisFault, match="more than 9 keys") as fault:
            await peer.keys(match="*", scan_count=1000)
    assert not fault.value.is_lost


async def test_keys_of_another_kind_have_no_size(redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        client.hset("m@hash", "field", "value")

    async with target(redis_server).connected() as peer:
        assert await peer.sizes([b"m@hash"]) == {}


async def test_a_redis_without_room_says_so_and_is_not_lost(redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        client.config_set("maxmemory", 1)
    try:
        async with target(redis_server).connected() as peer:
            with pytest.raises(RedisFault, match="maxmemory") as fault:
                await peer.write({b"m@1": b"1"})
    finally:
        with redis_server.client() as client:
            client.config_set("maxmemory", 0)
    assert not fault.value.is_lost


async def test_a_redis_that_is_down_is_lost_at_once(redis_server: RedisServer) -> None:
    with redis_server.stopped():
        async with asyncio.timeout(5):
            fault = await fault_of(target(redis_server))

    assert fault.is_lost
    assert str(fault).startswith(f"Redis 127.0.0.1:{redis_server.port} cannot be reached: ")


async def test_one_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "REPLY_TIMEOUT_S", 0.05)
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        where = RedisTarget(address=Address("127.0.0.1", mute.getsockname()[1]))

        assert (await fault_of(where)).is_lost


async def test_a_redis_that_dies_under_a_connection_is_lost(redis_server: RedisServer) -> None:
    async with target(redis_server).connected() as peer:
        redis_server.stop()
        with pytest.raises(RedisFault) as fault:
            await peer.write({b"m@1": b"1"})
    assert fault.value.is_lost


async def test_passwords_are_used_and_never_repeated() -> None:
    with running_redis(password="sesame") as server:
        async with target(server, password="sesame").connected() as peer:
            await peer.write({b"m@1": b"1"})
        for wrong in (None, "guess"):
            fault = await fault_of(target(server, password=wrong))
            assert fault.is_lost
            assert "guess" not in str(fault)

    assert "sesame" not in repr(target(server, password="sesame"))
