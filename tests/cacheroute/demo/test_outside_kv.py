"""An Instance whose KV may be outside: what its clients see, with a real Redis behind it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from cacheroute.core.engine.profile import PROFILES
from cacheroute.demo.kv_options import KvOptions
from cacheroute.formats.address import Address
from tests.cacheroute.demo.live import Live, chat_body, live
from tests.support.redis import RedisServer

PATH = "/v1/chat/completions"
LONG = "A manual that many questions are asked about. " * 100  # 1,150 tokens
PROFILE = replace(PROFILES["llama70b"], block_tokens=256)


def options_for(server: RedisServer, *, saves: bool = False) -> dict[str, Any]:
    address = Address(server.host, server.port)
    return {"kv": KvOptions(address=address, saves=saves), "profile": PROFILE, "speed": 1000.0}


def cached_in(answer: dict[str, Any]) -> int:
    cached: int = answer["usage"]["prompt_tokens_details"]["cached_tokens"]
    return cached


async def metric(on: Live, name: str) -> float:
    lines = (await on.http.get("/metrics")).text.splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(f"vllm:{name}{{"))


async def test_what_one_instance_has_saved_another_need_not_compute(
    redis_server: RedisServer,
) -> None:
    async with live(**options_for(redis_server, saves=True)) as on:
        assert cached_in(await on.chat(LONG + "First question?", max_tokens=2)) == 0
        cold_s = on.instance.engine.totals.prefill_s
    assert len(redis_server.stored_keys()) == 4
    async with live(**options_for(redis_server)) as on:
        assert cached_in(await on.chat(LONG + "Second question?", max_tokens=2)) == 1024
        totals = on.instance.engine.totals
        assert totals.prefill_s < cold_s / 4
        assert (totals.prefix_hits_tokens, totals.loaded_tokens) == (0, 1024)
        assert await metric(on, "external_prefix_cache_hits_total") == 1024
        assert cached_in(await on.chat(LONG + "Third question?", max_tokens=2)) == 1024
        assert (totals.prefix_hits_tokens, totals.loaded_tokens) == (1024, 1024)
    assert len(redis_server.stored_keys()) == 4


async def test_the_first_token_comes_after_the_load_and_long_before_a_computed_one(
    redis_server: RedisServer,
) -> None:
    async with live(**options_for(redis_server, saves=True)) as on:
        await on.chat(LONG, max_tokens=1)
        cold_s = await metric(on, "time_to_first_token_seconds_sum")
    async with live(**options_for(redis_server)) as on:
        await on.chat(LONG, max_tokens=1)
        warm_s = await metric(on, "time_to_first_token_seconds_sum")
    model_ms = warm_s * 1e6  # speed is 1000
    assert model_ms > PROFILE.overhead_s + 1024 * 0.1053 + 12.46
    assert cold_s > 5 * warm_s


@pytest.mark.parametrize("streams", [True, False])
async def test_an_answer_has_ended_when_its_kv_is_saved(
    redis_server: RedisServer, streams: bool
) -> None:
    async with live(**options_for(redis_server, saves=True)) as on:
        for n in range(3):
            answer = await on.post(PATH, chat_body(f"{n} {LONG}", max_tokens=1, stream=streams))
            assert answer.status_code == 200
            assert len(redis_server.stored_keys()) == 4 * (n + 1)


async def test_an_instance_that_does_not_save_writes_nothing(redis_server: RedisServer) -> None:
    async with live(**options_for(redis_server)) as on:
        await on.chat(LONG, max_tokens=2)
    assert redis_server.stored_keys() == set()


async def test_what_was_flushed_is_saved_again_although_it_is_here(
    redis_server: RedisServer,
) -> None:
    async with live(**options_for(redis_server, saves=True)) as on:
        await on.chat(LONG, max_tokens=1)
        redis_server.flush()
        assert cached_in(await on.chat(LONG, max_tokens=1)) == 1024
        assert len(redis_server.stored_keys()) == 4


async def test_several_choices_share_what_was_loaded(redis_server: RedisServer) -> None:
    async with live(**options_for(redis_server, saves=True)) as on:
        await on.chat(LONG, max_tokens=1)
    async with live(**options_for(redis_server)) as on:
        answer = await on.chat(LONG, max_tokens=3, n=3)
        assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2]
        assert cached_in(answer) == 1024
        assert on.instance.engine.totals.loaded_tokens == 1024


@pytest.mark.parametrize("streams", [True, False])
async def test_a_store_that_is_down_is_no_clients_trouble(
    redis_server: RedisServer, streams: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    async with live(**options_for(redis_server, saves=True)) as on:
        with redis_server.stopped():
            for _ in range(3):
                answer = await on.post(PATH, chat_body(LONG, max_tokens=3, stream=streams))
                assert answer.status_code == 200
                assert ("[DONE]" if streams else '"completion_tokens":3') in answer.text
        assert on.instance.engine.totals.finished == 3
    assert capsys.readouterr().err.count("kv store: ") == 1


async def test_a_client_that_leaves_while_kv_is_loaded_leaves_nothing_behind(
    redis_server: RedisServer,
) -> None:
    async with live(**options_for(redis_server, saves=True)) as on:
        await on.chat(LONG, max_tokens=1)
    async with live(**{**options_for(redis_server), "speed": 0.01}) as on:
        outside = on.instance.outside
        assert outside is not None
        asking = asyncio.ensure_future(on.post(PATH, chat_body(LONG)))
        async with asyncio.timeout(20):
            while not outside.loading:  # noqa: ASYNC110 - a load has no bell
                await asyncio.sleep(0.005)
            assert await metric(on, "num_requests_waiting") == 1
            asking.cancel()
            while on.instance.service.inflight:  # noqa: ASYNC110 - nor has a socket
                await asyncio.sleep(0.005)
            while outside.loading:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        engine = on.instance.engine
        assert (engine.waiting, engine.running, engine.totals.aborted) == (0, 0, 0)


async def test_an_instance_that_stops_while_kv_is_loaded_stops(redis_server: RedisServer) -> None:
    async with live(**options_for(redis_server, saves=True)) as on:
        await on.chat(LONG, max_tokens=1)
    async with live(**{**options_for(redis_server), "speed": 0.01}) as on:
        outside = on.instance.outside
        assert outside is not None
        asking = asyncio.ensure_future(on.post(PATH, chat_body(LONG)))
        async with asyncio.timeout(20):
            while not outside.loading:  # noqa: ASYNC110 - a load has no bell
                await asyncio.sleep(0.005)
            await on.instance.close()
        assert outside.loading == 0
        asking.cancel()


async def test_embeddings_are_loaded_and_saved_as_well(redis_server: RedisServer) -> None:
    async with live(**options_for(redis_server, saves=True)) as on:
        await on.post("/v1/embeddings", {"input": [LONG, "short"]})
        assert len(redis_server.stored_keys()) == 4
    async with live(**options_for(redis_server)) as on:
        answer = await on.post("/v1/embeddings", {"input": ["short", LONG]})
        assert [row["index"] for row in answer.json()["data"]] == [0, 1]
        assert on.instance.engine.totals.loaded_tokens == 1024


async def test_another_salt_shares_nothing_outside(redis_server: RedisServer) -> None:
    async with live(**options_for(redis_server, saves=True)) as on:
        await on.chat(LONG, max_tokens=1, cache_salt="a")
    async with live(**options_for(redis_server)) as on:
        assert cached_in(await on.chat(LONG, max_tokens=1, cache_salt="b")) == 0
        assert cached_in(await on.chat(LONG, max_tokens=1, cache_salt="a")) == 1024


@pytest.mark.parametrize("kind", ["die_mid_stream", "error_event"])
async def test_faults_strike_all_the_same(redis_server: RedisServer, kind: str) -> None:
    async with live(**options_for(redis_server, saves=True)) as on:
        await on.http.post("/demo/fault", json={"kind": kind, "after_tokens": 1})
        answer = asyncio.ensure_future(on.post(PATH, chat_body(LONG, max_tokens=5)))
        async with asyncio.timeout(20):
            await asyncio.wait([answer])
        assert answer.exception() is not None or answer.result().status_code == 500
        assert on.instance.service.inflight == 0
        assert cached_in(await on.chat(LONG, max_tokens=1)) == 1024
