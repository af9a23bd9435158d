"""Requests whose KV is outside, over a real Redis; pace is looked at in model time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from cacheroute.core.engine.engine import Engine, Token
from cacheroute.core.engine.profile import PROFILES
from cacheroute.core.engine.run import Sequence
from cacheroute.demo import kv_store
from cacheroute.demo.kv_loads import KvLoads
from cacheroute.demo.kv_options import KvOptions, PullTime
from cacheroute.demo.kv_store import KvStore
from cacheroute.demo.pace import Pacer
from cacheroute.formats.address import Address
from tests.support.redis import RedisServer

PROFILE = replace(PROFILES["llama70b"], block_tokens=16)
PULL = PullTime(ms_per_gb=1e6, base_ms=12.0)
KEYS = tuple(range(10))
BLOCK_MS = 16 * 0.096 * 1000
"""How long one block takes to load, with this pull time."""


@contextlib.asynccontextmanager
async def loads_of(
    server: RedisServer, *, speed: float = 1000.0
) -> AsyncIterator[tuple[KvLoads, KvStore, Pacer]]:
    options = KvOptions(address=Address(server.host, server.port), pull=PULL)
    store = KvStore(options, model="m", profile=PROFILE)
    await store.open()
    pacer = Pacer(Engine(PROFILE), speed=speed)
    loads = KvLoads(store, pacer)
    try:
        yield loads, store, pacer
    finally:
        await loads.close()
        await store.close()
        pacer.stop()


def ask(name: str, prompt_tokens: int = 100, keys: tuple[int, ...] = KEYS) -> Sequence:
    return Sequence(id=name, prompt_tokens=prompt_tokens, output_tokens=1, keys=keys)


Ready = tuple[list[Sequence], float | None]


async def loaded(loads: KvLoads, *prompts: Sequence) -> Ready:
    """Load some prompts; return what comes of them."""
    ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
    loads.load(list(prompts), lambda *told: ready.set_result(told))
    async with asyncio.timeout(20):
        return await ready


async def test_what_is_outside_is_loaded_and_takes_its_time(redis_server: RedisServer) -> None:
    async with loads_of(redis_server) as (loads, store, pacer):
        await store.save(KEYS[:4])
        (prompt,), at_s = await loaded(loads, ask("a"))
        assert at_s is not None
        assert prompt.asked_at_s is not None
        assert pacer.now() >= at_s
    assert prompt.loaded == range(4)
    assert (at_s - prompt.asked_at_s) * 1000 == pytest.approx(4 * BLOCK_MS + 12.0)
    assert loads.loading == 0


async def test_only_what_is_not_here_is_loaded(redis_server: RedisServer) -> None:
    async with loads_of(redis_server) as (loads, store, pacer):
        await store.save(KEYS[:4])
        pacer.engine.submit(ask("before", 33), 0.0)
        pacer.engine.step(1e9)
        (prompt,), at_s = await loaded(loads, ask("a"))
        assert at_s is not None
        assert prompt.asked_at_s is not None
    assert prompt.loaded == range(2, 4)
    assert (at_s - prompt.asked_at_s) * 1000 == pytest.approx(2 * BLOCK_MS + 12.0)


async def test_what_is_here_is_submitted_at_once(redis_server: RedisServer) -> None:
    async with loads_of(redis_server) as (loads, _, pacer):
        pacer.engine.submit(ask("before"), 0.0)
        pacer.engine.step(1e9)
        ready: list[Ready] = []
        short = ask("short", 16)
        loads.load([ask("a"), short], lambda *told: ready.append(told))
        assert ready == [([ask("a"), short], None)]


async def test_what_is_not_outside_takes_no_time(redis_server: RedisServer) -> None:
    async with loads_of(redis_server) as (loads, _, _pacer):
        (prompt,), at_s = await loaded(loads, ask("a"))
    assert (prompt.loaded, prompt.asked_at_s) == (range(0), at_s)


async def test_choices_of_one_prompt_are_loaded_once(redis_server: RedisServer) -> None:
    async with loads_of(redis_server) as (loads, store, _):
        await store.save(KEYS[:4])
        prompts, at_s = await loaded(loads, ask("a"), ask("b", keys=(*KEYS[:6], 99)))
        assert at_s is not None
        assert prompts[0].asked_at_s is not None
    assert [prompt.loaded for prompt in prompts] == [range(4), range(4)]
    assert (at_s - prompts[0].asked_at_s) * 1000 == pytest.approx(4 * BLOCK_MS + 12.0)


async def test_the_last_token_is_computed_and_its_block_not_asked_for(
    redis_server: RedisServer,
) -> None:
    async with loads_of(redis_server) as (loads, store, _):
        await store.save(KEYS)
        (prompt,), _ = await loaded(loads, ask("a", 64))
    assert prompt.loaded == range(3)


async def test_time_that_stands_still_loads_nothing(redis_server: RedisServer) -> None:
    async with loads_of(redis_server) as (loads, store, pacer):
        await store.save(KEYS[:1])
        pacer.freeze()
        ready: list[Ready] = []
        loads.load([ask("a")], lambda *told: ready.append(told))
        for _ in range(20):
            await asyncio.sleep(0.005)
        assert (ready, loads.loading) == ([], 1)
        pacer.thaw()
        async with asyncio.timeout(20):
            while not ready:  # noqa: ASYNC110 - the model's time has no bell
                await asyncio.sleep(0.005)


async def test_a_store_that_is_down_costs_the_wait_and_nothing_else(
    redis_server: RedisServer, capsys: pytest.CaptureFixture[str]
) -> None:
    async with loads_of(redis_server) as (loads, _, pacer):
        before_s = pacer.now()
        with redis_server.stopped():
            (prompt,), at_s = await loaded(loads, ask("a"))
        assert at_s is not None
        assert before_s <= at_s <= pacer.now()
    assert prompt.loaded is None
    assert "prompts are computed" in capsys.readouterr().err


async def test_a_load_that_is_not_wanted_any_more_calls_nobody(redis_server: RedisServer) -> None:
    async with loads_of(redis_server) as (loads, store, _):
        await store.save(KEYS[:4])
        ready: list[Ready] = []
        stop = loads.load([ask("a")], lambda *told: ready.append(told))
        await asyncio.sleep(0)
        stop()
        await loads.close()
        assert (ready, loads.loading) == ([], 0)
        assert (await loaded(loads, ask("b")))[0][0].loaded == range(4)


async def test_whole_blocks_of_the_prompt_are_saved(redis_server: RedisServer) -> None:
    async with loads_of(redis_server) as (loads, store, _):
        saved = asyncio.Event()
        loads.save(ask("a"), saved.set)
        async with asyncio.timeout(20):
            await saved.wait()
        assert redis_server.stored_keys() == {store.key(key) for key in KEYS[:6]}


async def test_a_save_that_fails_is_over_as_well(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kv_store, "REST_S", 0.0)
    async with loads_of(redis_server) as (loads, _, _pacer):
        saved = asyncio.Event()
        with redis_server.stopped():
            loads.save(ask("a"), saved.set)
            async with asyncio.timeout(20):
                await saved.wait()


class Ear:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.done = asyncio.Event()

    def on_token(self, token: Token) -> None:
        self.tokens.append(token)

    def flush(self) -> None:
        self.done.set()


async def test_a_loaded_prompt_is_faster_by_exactly_what_the_model_says(
    redis_server: RedisServer,
) -> None:
    ear = Ear()
    async with loads_of(redis_server) as (loads, store, pacer):
        await store.save(KEYS[:4])
        (prompt,), at_s = await loaded(loads, ask("a"))
        run = pacer.submit(prompt, ear, at_s=at_s)
        async with asyncio.timeout(20):
            await ear.done.wait()
    step_s = PROFILE.step_s(tokens=36, pairs=36 * 64 + 36 * 37 // 2, context_tokens=0)
    assert run.first_token_at_s is not None
    ttft_s = run.first_token_at_s - run.asked_at_s
    assert ttft_s * 1000 == pytest.approx(4 * BLOCK_MS + 12.0 + step_s * 1000)
