import asyncio
from typing import Any

from cacheroute.demo.kdn.link import LinkRules
from cacheroute.wire import paths
from tests.cacheroute.demo.kdn.live import BLOCK_NOMINAL_BYTES, Live, engine, live, redis_fields
from tests.support.redis import RedisServer
from tests.support.waiting import eventually

GIGABYTE = LinkRules(bandwidth_mbps=8000, efficiency=1.0, delay_ms=1)
"""A million bytes in a millisecond."""
ENDLESS = LinkRules(bandwidth_mbps=0.001)

NO_PART_OF = {
    "ok": True, "injected_kids": [], "text_only_kids": [], "miss_kids": [], "keys_injected": 0,
    "payload_bytes": 0, "payload_files": 0, "network_sim_enabled": False, "detail": "",
    "network_queue_ms": 0, "network_transfer_ms": 0, "network_total_ms": 0,
}  # fmt: skip


async def built(node: Live, target: RedisServer, *texts: str) -> list[str]:
    """Register texts, build their KV, and leave Redis empty."""
    kids = []
    async with engine(target) as each:
        for text in texts:
            kid = await node.register(text)
            reply = await node.build(kid, each, target)
            assert reply["dumped_keys"] == len(text) // 8
            kids.append(kid)
    target.flush()
    return kids


async def test_kv_lands_in_the_redis_that_was_named(redis_server: RedisServer) -> None:
    async with live() as node, engine(redis_server) as each:
        [kid] = await built(node, redis_server, "a" * 24)

        reply = await node.inject([kid.upper()], redis_server)

        keys = each.keys("a" * 24)
        assert redis_server.stored_keys() == set(keys)
        with redis_server.client() as client:
            assert {key: client.get(key) for key in keys} == keys
            assert {client.ttl(key) for key in keys} == {-1}
    assert isinstance(reply.pop("network_transfer_ms"), int)
    reply.pop("network_total_ms")
    expected = {
        **NO_PART_OF, "injected_kids": [kid], "keys_injected": 3, "payload_files": 3,
        "payload_bytes": 3 * BLOCK_NOMINAL_BYTES,
    }  # fmt: skip
    assert reply == {key: value for key, value in expected.items() if key in reply}


async def test_each_id_is_injected_or_text_only_or_missed(redis_server: RedisServer) -> None:
    async with live() as node:
        [ready] = await built(node, redis_server, "a" * 8)
        bare = await node.register("no kv")

        reply = await node.inject(["FF", bare, ready, ready], redis_server)

    assert reply["injected_kids"] == [ready]
    assert reply["text_only_kids"] == [bare]
    assert reply["miss_kids"] == ["ff"]
    assert (reply["ok"], reply["detail"], reply["keys_injected"]) == (True, "", 1)


async def test_kv_of_another_model_is_text_only_and_says_why(redis_server: RedisServer) -> None:
    async with live() as node:
        [kid] = await built(node, redis_server, "a" * 8)

        reply = await node.inject([kid], redis_server, model="other")
        assert reply["text_only_kids"] == [kid]
        assert reply["detail"] == f"the KV of {kid[:12]} is of tiny, not of other"
        assert redis_server.stored_keys() == set()

        assert (await node.inject([kid], redis_server, model=""))["injected_kids"] == [kid]


async def test_a_redis_that_is_down_is_text_only_at_once_and_costs_no_transfer(
    redis_server: RedisServer,
) -> None:
    async with live(link=ENDLESS) as node:
        node.node.link.change(bandwidth_mbps=None)
        [kid] = await built(node, redis_server, "a" * 8)
        node.node.link.change(bandwidth_mbps=0.001)

        with redis_server.stopped():
            async with asyncio.timeout(10):
                reply = await node.inject([kid], redis_server)

    assert (reply["ok"], reply["injected_kids"], reply["text_only_kids"]) == (True, [], [kid])
    assert "cannot be reached" in reply["detail"]
    assert reply["network_total_ms"] == 0


async def test_a_redis_that_dies_during_the_transfer_is_text_only(
    redis_server: RedisServer,
) -> None:
    async with live() as node:
        [kid] = await built(node, redis_server, "a" * 8)
        transferring, go_on = asyncio.Event(), asyncio.Event()

        async def sleep(_: float) -> None:
            transferring.set()
            await go_on.wait()

        node.node.link.change(bandwidth_mbps=1)
        node.node.link._sleep = sleep
        injecting = asyncio.ensure_future(node.inject([kid], redis_server))
        await transferring.wait()
        with redis_server.stopped():
            go_on.set()
            reply = await injecting

        assert reply["text_only_kids"] == [kid]
        assert "cannot be reached" in reply["detail"]
        # And nothing is broken for the next one.
        assert (await node.inject([kid], redis_server))["injected_kids"] == [kid]


async def test_a_text_that_was_not_taken_whole_costs_only_itself(
    redis_server: RedisServer,
) -> None:
    async with live() as node:
        kids = await built(node, redis_server, "a" * 8, "b" * 8)
        await node.node.database.work(
            lambda db: db.execute("UPDATE kv SET keys = 2 WHERE kid = ?", (kids[0],)).rowcount
        )

        reply = await node.inject(kids, redis_server)

    assert (reply["injected_kids"], reply["text_only_kids"]) == (kids[1:], kids[:1])
    assert reply["detail"] == f"the KV of {kids[0][:12]} changed meanwhile"


async def test_a_full_redis_is_text_only_in_its_own_words(redis_server: RedisServer) -> None:
    async with live() as node:
        [kid] = await built(node, redis_server, "a" * 8)
        with redis_server.client() as client:
            client.config_set("maxmemory", 1)
            try:
                reply = await node.inject([kid], redis_server)
            finally:
                client.config_set("maxmemory", 0)

    assert reply["text_only_kids"] == [kid]
    assert "maxmemory" in reply["detail"]


async def test_the_link_takes_the_nominal_size_and_the_reply_tells(
    redis_server: RedisServer,
) -> None:
    async with live(link=GIGABYTE) as node:
        [kid] = await built(node, redis_server, "a" * 160)
        planned: list[float] = []

        async def sleep(seconds: float) -> None:
            planned.append(seconds)

        node.node.link._sleep = sleep
        reply = await node.inject([kid], redis_server)

    # 20 blocks of 1 MB, and the delay.
    assert planned == [0.021]
    assert reply["network_sim_enabled"] is True
    assert all(
        isinstance(reply[f"network_{part}_ms"], int) for part in ("queue", "transfer", "total")
    )
    assert reply["network_total_ms"] == reply["network_queue_ms"] + reply["network_transfer_ms"]


async def test_injections_queue_for_the_link_and_lookups_do_not(redis_server: RedisServer) -> None:
    async with live() as node:
        first, second = await built(node, redis_server, "a" * 8, "b" * 8)
        node.node.link.change(bandwidth_mbps=0.001)
        link = node.node.link

        running = asyncio.ensure_future(node.inject([first], redis_server))
        await eventually(lambda: link.is_busy)
        waiting = asyncio.ensure_future(node.inject([second], redis_server))
        await eventually(lambda: link.waiting == 1)
        found = await node.told(paths.KNOWLEDGE_SEARCH_TEXT, {"knowledge_ids": [first]})
        assert [item["id"] for item in found["items"]] == [first]

        # The caller of the first one leaves; the link is free for the second at once.
        node.node.link.change(bandwidth_mbps=8000)
        running.cancel()
        assert (await waiting)["injected_kids"] == [second]
        assert not link.is_busy
        assert redis_server.stored_keys() != set()


async def refused(node: Live, body: dict[str, Any]) -> tuple[int, str]:
    answer = await node.post(paths.KNOWLEDGE_INJECT_READY_KV, body)
    said = answer.json()
    assert said["ok"] is False
    return answer.status_code, said["detail"]


async def test_no_id_at_all_is_refused_as_published(redis_server: RedisServer) -> None:
    async with live() as node:
        for ids in (list[str](), None):
            body = {"model": "m", "knowledge_ids": ids, **redis_fields(redis_server)}
            assert await refused(node, body) == (400, "knowledge_ids is empty")


async def test_no_password_is_sent_to_a_redis_that_nobody_allowed() -> None:
    async with live() as node:
        status, detail = await refused(
            node,
            {
                "model": "m", "knowledge_ids": ["ab"], "redis_host": "10.0.0.5",
                "redis_port": 6379, "redis_password": "sesame",
            },
        )  # fmt: skip

    assert status == 403
    assert detail == "Redis 10.0.0.5:6379 is another machine, and no --redis allows it"
