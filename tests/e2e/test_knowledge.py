"""Text, KV and the choice between them: a knowledge node, an Instance, a Redis and a Proxy.

All of them are real; only the GPU is not. The node has its texts and their KV once for all
tests here, and each test has a Proxy and an Instance of its own.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import httpx
import pytest

from cacheroute.demo.kv_store import REST_S
from tests.support.client import post
from tests.support.demo import demo_instance, demo_kdn
from tests.support.knowledge import Told, forwarded
from tests.support.meta import meta_of, meta_of_json
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.redis import RedisServer
from tests.support.waiting import eventually_is

SPEED = 100.0
PROFILE = ("--profile", "llama70b", "--block-size", "256")
BLOCKS = 10
TOKENS = 2600
TEXTS = {
    subject: f"The {subject} is looked after by people who know it, and never by others. " * 160
    for subject in ("pump", "valve", "seal")
}
WITHOUT_KV = "The gauge is read at noon, by whoever has the watch and a pencil. " * 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A knowledge node that is filled."""

    url: str
    kids: dict[str, str]
    """Ids of the texts that have KV, by subject."""
    without_kv: str
    """Id of the one that has none."""

    @property
    def address(self) -> str:
        """Where it is, as a Scheduler names it."""
        return self.url.removeprefix("http://")


def _posted(url: str, body: object) -> dict[str, Any]:
    answer = httpx.post(url, json=body, timeout=60, trust_env=False)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def _store(redis: RedisServer) -> tuple[str, str]:
    return "--kv-redis", f"redis://127.0.0.1:{redis.port}/0"


@pytest.fixture(scope="module")
def library(redis_process: RedisServer) -> Iterator[Library]:
    """Run a node, and have the KV of its texts computed by an engine that goes again."""
    redis_process.start()
    with demo_kdn() as url:
        texts = {**TEXTS, "gauge": WITHOUT_KV}
        register = f"{url}/knowledge/register_text"
        kids = {name: _posted(register, {"content": text})["kid"] for name, text in texts.items()}
        with demo_instance(*PROFILE, *_store(redis_process), "--kv-save", speed=1000) as engine:
            for name in TEXTS:
                redis_process.flush()
                built = _posted(
                    f"{url}/knowledge/build_kv",
                    {
                        "kid": kids[name], "api_url": engine, "model": "demo",
                        "redis_host": "127.0.0.1", "redis_port": redis_process.port,
                    },
                )  # fmt: skip
                assert built["dumped_keys"] == BLOCKS
        yield Library(url=url, kids=kids, without_kv=kids.pop("gauge"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A Proxy with an Instance that has registered, measured its way to the node, and waits."""

    proxy: RunningProxy
    library: Library

    async def ask(self, *subjects: str, **fields: Any) -> Told:
        """Ask with these texts in front, by subject or by id; must be answered well."""
        kids = [self.library.kids.get(subject, subject) for subject in subjects]
        known: dict[str, Any] = {"kdn": self.library.address, "model": "demo", "max_tokens": 4}
        body = forwarded(kids, **(known | {"knowledge_length": TOKENS * len(kids)} | fields))
        answer = await post(self.proxy.service_port, body)
        assert answer.status == 200, answer.body
        return Told(answer, (meta_of if fields.get("stream") else meta_of_json)(answer.body))


def cached(told: Told) -> int:
    """Return how many tokens of the prompt the Instance did not have to compute."""
    tokens: int = told.answer.json()["usage"]["prompt_tokens_details"]["cached_tokens"]
    return tokens


@contextlib.asynccontextmanager
async def instance(proxy: RunningProxy, library: Library, *options: str) -> AsyncIterator[None]:
    """Run an Instance until the block ends; it is known, and so is its way to the node."""
    process = demo_instance(
        *PROFILE, "--proxy-cp-url", proxy.control_url, "--kdn-targets", library.address,
        "--heartbeat-s", "0.2", "--topology-interval-s", "0.2", *options, speed=SPEED,
    )  # fmt: skip
    await asyncio.to_thread(process.__enter__)
    try:
        await known(proxy, library)
        yield
    finally:  # beside the loop, for the Proxy in it is told goodbye
        await asyncio.to_thread(process.__exit__, None, None, None)


async def known(proxy: RunningProxy, library: Library) -> None:
    """Wait until the Proxy has an Instance that can be asked, and a link of it to the node."""

    async def links() -> list[str]:
        answer = await proxy.control("GET", "/v1/topology/kdn_links")
        return list(answer["kdn_links"])

    await eventually_is(links, lambda keys: f"kdn://{library.address}" in keys, within_s=10)
    await eventually_is(
        proxy.instances, lambda rows: [row["models"] for row in rows] == [["demo"]], within_s=10
    )


@contextlib.asynccontextmanager
async def a_path(
    library: Library, redis: RedisServer, *options: str, **overrides: object
) -> AsyncIterator[Path]:
    """Run a Proxy and an Instance with this Redis."""
    async with (
        running_proxy(**overrides) as proxy,  # type: ignore[arg-type]
        instance(proxy, library, *_store(redis), *options),
    ):
        yield Path(proxy=proxy, library=library)


async def test_kv_is_brought_and_spares_the_instance_the_reading(
    library: Library, redis_server: RedisServer
) -> None:
    async with a_path(library, redis_server) as path:
        told = await path.ask("pump")
        assert told.paths == {"kvcache_actual_path": "kv_inject"}
        assert len(redis_server.stored_keys()) == BLOCKS
        ack = told.meta["kv_ack"]
        assert (ack["ok"], ack["injected_kids"]) == (True, [library.kids["pump"]])
        assert ack["keys_injected"] == BLOCKS
        assert cached(told) == BLOCKS * 256
        assert told.trace["predict_reused_tokens"] == BLOCKS * 256
        assert told.trace["predict_kv_bandwidth_source"] == "link_snapshot"
        assert told.kids == ([library.kids["pump"]], [], [])
        assert told.meta["error"] is None
        assert 'path="kv_inject"' in await path.proxy.metrics()
        await path.proxy.idle()


async def test_text_is_read_and_nothing_is_brought(
    library: Library, redis_server: RedisServer
) -> None:
    async with a_path(library, redis_server) as path:
        told = await path.ask("pump", mode="text")
        assert told.paths == {"text_actual_path": "text_inject"}
        assert told.meta["kv_ack"] == {}
        assert redis_server.stored_keys() == set()
        assert cached(told) == 0
        assert told.answer.json()["usage"]["prompt_tokens"] > TOKENS
        plain = await path.ask("pump", rag=False)
        assert plain.answer.json()["usage"]["prompt_tokens"] < 100
        assert redis_server.stored_keys() == set()


async def test_a_text_without_kv_goes_as_text_and_behind_one_that_has_it(
    library: Library, redis_server: RedisServer
) -> None:
    async with a_path(library, redis_server) as path:
        alone = await path.ask(library.without_kv)
        assert alone.paths == {"kvcache_actual_path": "no_kv_ready_fallback_text"}
        assert cached(alone) == 0
        assert redis_server.stored_keys() == set()
        both = await path.ask(library.without_kv, "pump", "valve")
        assert both.paths == {"kvcache_actual_path": "kv_inject"}
        # The valve has KV as well, but not behind the pump: bringing it would be for nothing.
        assert both.meta["kv_ack"]["injected_kids"] == [library.kids["pump"]]
        assert cached(both) == BLOCKS * 256
        assert len(redis_server.stored_keys()) == BLOCKS


async def test_iws_brings_kv_where_it_is_faster_and_text_where_it_is_not(
    library: Library, redis_server: RedisServer
) -> None:
    async with a_path(library, redis_server, injection__strategy="iws") as path:
        long = await path.ask("pump", mode="text")
        assert long.paths == {"kvcache_actual_path": "kv_inject"}
        assert long.trace["injection_reason"] == "kvcache_score_better"
        assert cached(long) == BLOCKS * 256
        short = await path.ask("valve", knowledge_length=200)
        assert short.paths == {"text_actual_path": "text_inject"}
        assert short.trace["injection_reason"] == "text_score_better"
        assert len(redis_server.stored_keys()) == BLOCKS
        modes = [row["injection"]["injection_mode"] for row in await path.proxy.decisions()]
        assert modes == ["text", "kvcache"]


async def test_iws_brings_text_over_a_slow_link(
    library: Library, redis_server: RedisServer
) -> None:
    slow = ("--link-bandwidth-mbps", "10")
    async with a_path(library, redis_server, *slow, injection__strategy="iws") as path:
        told = await path.ask("pump", mode="kvcache")
        assert told.paths == {"text_actual_path": "text_inject"}
        assert told.trace["kv_bandwidth_mbps"] == 10
        assert redis_server.stored_keys() == set()


async def test_while_redis_is_down_knowledge_goes_as_text_and_then_as_kv_again(
    library: Library, redis_server: RedisServer
) -> None:
    async with a_path(library, redis_server) as path:
        assert cached(await path.ask("pump")) == BLOCKS * 256
        with redis_server.stopped():
            told = await path.ask("valve", stream=True)
            assert told.paths == {"kvcache_actual_path": "kv_inject_failed_fallback_text"}
            ack = told.meta["kv_ack"]
            assert (ack["ok"], ack["injected_kids"], ack["keys_injected"]) == (True, [], 0)
            assert ack["text_only_kids"] == [library.kids["valve"]]
            assert str(redis_server.port) in ack["detail"]
            assert told.kids == ([library.kids["valve"]], [], [])
            assert told.meta["error"] is None
            assert told.trace["predict_reused_tokens"] == 0
            assert told.trace["first_token_ms"] >= told.trace["forward_start_ms"]
        assert redis_server.stored_keys() == set()
        await asyncio.sleep(REST_S)  # the Instance leaves a Redis alone that has failed it
        back = await path.ask("seal")
        assert back.paths == {"kvcache_actual_path": "kv_inject"}
        assert cached(back) == BLOCKS * 256
        assert len(redis_server.stored_keys()) == BLOCKS
        metrics = await path.proxy.metrics()
        assert 'path="kv_inject_failed_fallback_text"' in metrics
        assert await path.proxy.failures() == 0


async def test_a_proxy_that_is_started_again_finds_its_instance_and_its_links(
    library: Library, redis_server: RedisServer, tmp_path: FilePath
) -> None:
    kept: dict[str, Any] = {"state_dir": str(tmp_path), "proxy__id": "hp_kept"}
    async with contextlib.AsyncExitStack() as stack:
        async with running_proxy(**kept) as proxy:
            await stack.enter_async_context(instance(proxy, library, *_store(redis_server)))
            assert cached(await Path(proxy=proxy, library=library).ask("pump")) == BLOCKS * 256
            ports: dict[str, Any] = {
                "proxy__port": proxy.service_port,
                "control__port": proxy.control_port,
            }
        async with running_proxy(**kept, **ports) as again:
            (row,) = await again.instances()
            assert row["is_alive"], "it is there at once, before it has said anything"
            await known(again, library)
            told = await Path(proxy=again, library=library).ask("valve")
            assert told.paths == {"kvcache_actual_path": "kv_inject"}
            assert cached(told) == BLOCKS * 256


async def test_a_proxy_that_has_forgotten_everything_is_told_again(
    library: Library, redis_server: RedisServer
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        async with running_proxy() as proxy:
            await stack.enter_async_context(instance(proxy, library, *_store(redis_server)))
            ports: dict[str, Any] = {
                "proxy__port": proxy.service_port, "control__port": proxy.control_port,
            }  # fmt: skip
        async with running_proxy(**ports) as again:
            await known(again, library)
            told = await Path(proxy=again, library=library).ask("pump")
            assert told.paths == {"kvcache_actual_path": "kv_inject"}
