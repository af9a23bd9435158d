"""The store over a real Redis, and over one that is down, silent or full of something else."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from cacheroute.core.engine.profile import PROFILES
from cacheroute.demo import kv_blob, kv_store
from cacheroute.demo.kv_options import KvOptions
from cacheroute.demo.kv_store import KvStore, StoreFault
from cacheroute.formats.address import Address
from tests.support.redis import RedisServer, running_redis

PROFILE = replace(PROFILES["llama70b"], block_tokens=256)
SIZE = 24_576_000
"""Nominal bytes of 256 tokens at 0.096 MB."""


def options_for(server: RedisServer) -> KvOptions:
    return KvOptions(address=Address(server.host, server.port), password=server.password)


@contextlib.asynccontextmanager
async def opened(
    options: KvOptions, *, model: str = "m", block_tokens: int = 256
) -> AsyncIterator[KvStore]:
    store = KvStore(options, model=model, profile=replace(PROFILE, block_tokens=block_tokens))
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def test_what_was_saved_is_found_as_far_as_it_goes(redis_server: RedisServer) -> None:
    async with opened(options_for(redis_server)) as store:
        assert await store.found([1, 2, 3]) == []
        await store.save([1, 2, 4])
        assert await store.found([1, 2, 3, 4]) == [SIZE, SIZE]
        assert await store.found([3, 1]) == []


async def test_keys_are_named_as_lmcache_names_them(redis_server: RedisServer) -> None:
    async with opened(options_for(redis_server), model="org/model-70B") as store:
        await store.save([7])
    (key,) = redis_server.stored_keys()
    assert re.fullmatch(rb"org/model-70B@1@0@[0-9a-f]{32}", key)
    with redis_server.client() as client:
        value = client.get(key)
    assert isinstance(value, bytes)
    assert (kv_blob.tokens(value), kv_blob.nominal_bytes(value)) == (256, SIZE)


async def test_another_model_or_block_size_shares_nothing(redis_server: RedisServer) -> None:
    options = options_for(redis_server)
    async with (
        opened(options) as store,
        opened(options, model="other") as other,
        opened(options, block_tokens=128) as finer,
    ):
        await store.save([1])
        assert await other.found([1]) == await finer.found([1]) == []


async def test_more_blocks_than_one_batch_are_found_and_saved(redis_server: RedisServer) -> None:
    async with opened(options_for(redis_server)) as store:
        await store.save(range(600))
        assert len(await store.found(range(1000))) == 600


async def test_only_so_many_blocks_are_asked_for(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kv_store, "MAX_BLOCKS", 10)
    async with opened(options_for(redis_server)) as store:
        await store.save(range(20))
        assert len(redis_server.stored_keys()) == 10
        assert len(await store.found(range(20))) == 10


async def test_what_is_there_already_is_not_written_again(redis_server: RedisServer) -> None:
    async with opened(options_for(redis_server)) as store:
        with redis_server.client() as client:
            client.set(store.key(1), kv_blob.pack(256, 5))
        await store.save([1, 2])
        assert await store.found([1, 2]) == [5, SIZE]


@pytest.mark.parametrize("value", [b"x" * 1000, kv_blob.pack(16, 5)])
async def test_a_value_that_is_no_block_of_ours_is_none(
    redis_server: RedisServer, value: bytes
) -> None:
    async with opened(options_for(redis_server)) as store:
        with redis_server.client() as client:
            client.set(store.key(1), value)
        assert await store.found([1]) == []


async def test_a_password_opens_the_door(redis_server: RedisServer) -> None:
    with running_redis(password="secret") as guarded:
        async with opened(options_for(guarded)) as store:
            await store.save([1])
            assert await store.found([1]) == [SIZE]
        async with opened(replace(options_for(guarded), password=None)) as store:
            with pytest.raises(StoreFault, match="uthentication"):
                await store.found([1])


async def test_a_store_that_is_down_is_said_once_and_asked_again_later(
    redis_server: RedisServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kv_store, "REST_S", 0.0)
    async with opened(options_for(redis_server)) as store:
        assert await store.found([1]) == []
        with redis_server.stopped():
            for _ in range(3):
                with pytest.raises(StoreFault):
                    await store.found([1])
                with pytest.raises(StoreFault):
                    await store.save([1])
        await store.save([1])
        assert await store.found([1]) == [SIZE]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("/0 ")[1][:6] for line in lines] == ["answer", "is of ", "answer"]
    assert all(line.startswith("kv store: redis://127.0.0.1:") for line in lines)


async def test_after_a_fault_nobody_waits_for_it_for_a_while(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kv_store, "REST_S", 1000.0)
    async with opened(options_for(redis_server)) as store:
        with redis_server.stopped(), pytest.raises(StoreFault):
            await store.found([1])
        with pytest.raises(StoreFault, match="is not asked for now"):
            await store.found([1])


async def test_a_store_that_says_nothing_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kv_store, "TIMEOUT_S", 0.02)
    gone = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1024):
            pass
        writer.close()
        gone.set()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    address = Address("127.0.0.1", server.sockets[0].getsockname()[1])
    async with server, opened(KvOptions(address=address)) as store:
        with pytest.raises(StoreFault):
            await store.found([1])
        async with asyncio.timeout(10):
            await gone.wait()


async def test_a_store_that_was_not_opened_has_nothing() -> None:
    store = KvStore(KvOptions(), model="m", profile=PROFILE)
    with pytest.raises(StoreFault):
        await store.found([1])
    await store.close()
