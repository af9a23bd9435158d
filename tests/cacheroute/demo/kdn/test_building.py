import asyncio
from typing import Any

import pytest

from cacheroute.demo.kdn import building as room
from cacheroute.wire import paths
from tests.cacheroute.demo.kdn.live import MODEL, Live, engine, live, redis_fields
from tests.support.redis import RedisServer
from tests.support.waiting import eventually


async def refused(node: Live, target: RedisServer, **fields: Any) -> tuple[int, str]:
    body = {
        "kid": "ff", "api_url": "http://127.0.0.1:9", "model": MODEL, **redis_fields(target),
    }  # fmt: skip
    answer = await node.post(paths.KNOWLEDGE_BUILD_KV, {**body, **fields})
    return answer.status_code, answer.json()["error"]


async def test_the_engine_is_asked_for_exactly_the_text_in_one_system_message(
    redis_server: RedisServer,
) -> None:
    async with live() as node, engine(redis_server) as each:
        kid = await node.register("  two\r\nlines of text\n")

        reply = await node.build(kid.upper(), each, redis_server)

        assert each.asked == [
            {
                "model": MODEL,
                "messages": [{"role": "system", "content": "two\nlines of text"}],
                "max_tokens": 1, "temperature": 0.0, "stream": False,
            }
        ]  # fmt: skip
        path = node.node.database.path
    assert reply == {
        "kid": kid, "kv_dir": f"{path}#{kid}", "dumped_keys": 2, "kv_root": path,
        "nominal_bytes": 2_000_000, "detail": "",
    }  # fmt: skip


async def test_a_built_text_is_ready(redis_server: RedisServer) -> None:
    async with live() as node, engine(redis_server) as each:
        kid = await node.register("sixteen letters!")
        await node.build(kid, each, redis_server)

        found = await node.told(paths.KNOWLEDGE_SEARCH_TEXT, {"knowledge_ids": [kid]})

    [item] = found["items"]
    assert (item["kv_ready"], item["kv_dumped_keys"], item["kv_rel_dir"]) == (1, 2, kid)
    assert item["kv_updated_at"] > 0


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/chat/completions"])
async def test_the_engine_may_be_named_by_its_base_or_by_its_endpoint(
    redis_server: RedisServer, suffix: str
) -> None:
    async with live() as node, engine(redis_server) as each:
        kid = await node.register("12345678")

        reply = await node.build(kid, each, redis_server, api_url=each.url + suffix)

    assert reply["dumped_keys"] == 1


async def test_keys_of_somebody_else_are_not_kept(redis_server: RedisServer) -> None:
    async with live() as node, engine(redis_server) as each:
        with redis_server.client() as client:
            client.set("tiny@1@0@somebody", "x")
        kid = await node.register("12345678")

        assert (await node.build(kid, each, redis_server))["dumped_keys"] == 1

        assert b"tiny@1@0@somebody" in redis_server.stored_keys()
        again = await node.build(kid, each, redis_server)
        assert again["dumped_keys"] == 0
        assert "flushdb" in again["detail"]
        # What was kept before is still good.
        assert (await node.inject([kid], redis_server))["injected_kids"] == [kid]
        fresh = await node.build(kid, each, redis_server, flushdb=True)
        assert fresh["dumped_keys"] == 1
        assert redis_server.stored_keys() == set(each.keys("12345678"))


async def test_only_keys_of_the_pattern_are_kept(redis_server: RedisServer) -> None:
    async with live() as node, engine(redis_server) as each:
        kid = await node.register("12345678")

        assert (await node.build(kid, each, redis_server, match="vllm@*"))["dumped_keys"] == 0


async def test_an_engine_that_keeps_nothing_leaves_the_text_as_text(
    redis_server: RedisServer,
) -> None:
    async with live() as node, engine(redis_server) as each:
        each.keeps = False
        node.node.building._looks = 2
        kid = await node.register("12345678")

        reply = await node.build(kid, each, redis_server)

        assert reply["dumped_keys"] == 0
        assert (await node.inject([kid], redis_server))["text_only_kids"] == [kid]


async def test_keys_that_come_after_the_answer_are_waited_for(redis_server: RedisServer) -> None:
    async with live() as node, engine(redis_server) as each:
        each.keeps = False
        kid = await node.register("12345678")
        looks = 0

        async def sleep(_: float) -> None:
            nonlocal looks
            looks += 1
            if looks == 3:
                with redis_server.client() as client:
                    client.set("tiny@late", "x")

        node.node.building._sleep = sleep

        assert (await node.build(kid, each, redis_server))["dumped_keys"] == 1
        assert looks == 4


async def test_an_unknown_id_is_a_404(redis_server: RedisServer) -> None:
    async with live() as node:
        assert await refused(node, redis_server) == (404, "kid not found: ff")


async def test_an_engine_that_fails_is_a_502_with_its_words(redis_server: RedisServer) -> None:
    async with live() as node, engine(redis_server) as each:
        kid = await node.register("12345678")
        each.status = 400

        status, said = await refused(node, redis_server, kid=kid, api_url=each.url)

    assert status == 502
    assert "answered 400" in said


async def test_a_redis_that_is_down_is_a_502_and_the_engine_is_not_asked(
    redis_server: RedisServer,
) -> None:
    async with live() as node, engine(redis_server) as each:
        kid = await node.register("12345678")
        with redis_server.stopped():
            status, said = await refused(node, redis_server, kid=kid, api_url=each.url)

        assert each.asked == []
    assert status == 502
    assert "cannot be reached" in said


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"api_url": "http://10.0.0.9:8000"}, 403),
        ({"api_url": "https://127.0.0.1:8000"}, 400),
        ({"api_url": "http://user:secret@127.0.0.1:8000"}, 400),
        ({"api_url": "http://127.0.0.1:99999"}, 400),
        ({"redis_host": "10.0.0.5"}, 403),
        ({"model": ""}, 400),
        ({"redis_port": 0}, 400),
    ],
)
async def test_only_allowed_peers_are_connected_to(
    redis_server: RedisServer, fields: dict[str, Any], status: int
) -> None:
    async with live() as node:
        kid = await node.register("12345678")

        got, said = await refused(node, redis_server, **{"kid": kid, **fields})

    assert got == status
    assert "secret" not in said


async def test_a_dump_that_fails_half_way_leaves_nothing(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "BATCH_KEYS", 1)
    async with live() as node, engine(redis_server) as each:
        kid = await node.register("x" * 32)
        add = node.node.kv.add
        added = 0

        async def stop_then_add(of: str, batch: dict[bytes, bytes]) -> None:
            nonlocal added
            added += 1
            await add(of, batch)
            if added == 2:
                redis_server.stop()

        monkeypatch.setattr(node.node.kv, "add", stop_then_add)
        status, _ = await refused(node, redis_server, kid=kid, api_url=each.url)

        assert status == 502
        assert await node.node.kv.batch(kid) == []


async def test_one_text_is_built_at_a_time(redis_server: RedisServer) -> None:
    async with live() as node, engine(redis_server) as each:
        kids = [await node.register(letter * 8) for letter in "abc"]

        replies = await asyncio.gather(*(node.build(kid, each, redis_server) for kid in kids))

        assert [reply["dumped_keys"] for reply in replies] == [1, 1, 1]
        for kid, text in zip(kids, ("a" * 8, "b" * 8, "c" * 8), strict=True):
            [(key, _)] = await node.node.kv.batch(kid)
            assert key in each.keys(text)


async def test_more_builds_than_may_wait_are_refused(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MAX_WAITING", 1)
    async with live() as node, engine(redis_server) as each:
        kid = await node.register("12345678")
        async with node.node.building._turn:
            first = asyncio.ensure_future(node.build(kid, each, redis_server))
            await eventually(lambda: node.node.building._waiting == 1)

            status, _ = await refused(node, redis_server, kid=kid, api_url=each.url)

        assert status == 503
        assert (await first)["dumped_keys"] == 1
