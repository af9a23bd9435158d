"""A real knowledge node, filled through a real engine and a real Redis."""

import pytest

from cacheroute.demo.kdn.service import DEMO_LINK
from cacheroute.demo.knowledge.mix import make_questions
from cacheroute.demo.knowledge.shelving import NotShelved, Shelf
from cacheroute.formats.address import Address
from cacheroute.member.peer import Peer
from cacheroute.wire import paths
from tests.support.demo import demo_instance, demo_kdn
from tests.support.redis import RedisServer

QUESTIONS = make_questions(3, seed=1, per_second=1.0)
BLOCK = 256


async def test_texts_with_a_whole_block_have_their_kv_built(redis_server: RedisServer) -> None:
    done: list[int] = []
    store = ("--kv-redis", f"redis://127.0.0.1:{redis_server.port}/0", "--kv-save")
    with demo_kdn() as node, demo_instance("--block-size", f"{BLOCK}", *store) as builder:
        shelf = Shelf(node_url=node, redis=Address("127.0.0.1", redis_server.port))
        built = await shelf.put(
            QUESTIONS,
            builder_url=builder, model="demo", block_tokens=BLOCK, on_done=lambda: done.append(1),
        )  # fmt: skip
        wanted = {"knowledge_ids": [q.kid for q in QUESTIONS], "need_fields": ["kv_ready"]}
        async with Peer(node) as asking:
            told = await asking.post(paths.KNOWLEDGE_SEARCH_TEXT, wanted)

    has_block = {q.kid: int(q.text_tokens >= BLOCK) for q in QUESTIONS}
    assert {item["id"]: item["kv_ready"] for item in told["items"]} == has_block
    assert built == sum(has_block.values()) == 2
    assert len(done) == 3
    assert redis_server.stored_keys() == set()


async def test_without_a_builder_there_are_texts_only(redis_server: RedisServer) -> None:
    with demo_kdn() as node:
        shelf = Shelf(node_url=node, redis=Address("127.0.0.1", redis_server.port))
        built = await shelf.put(
            QUESTIONS, builder_url=None, model="demo", block_tokens=BLOCK, on_done=lambda: None
        )
        async with Peer(node) as asking:
            status = await asking.post(paths.KNOWLEDGE_POOL_STATUS, {})

    assert built == 0
    assert (status["total_blocks"], status["kv_ready_blocks"]) == (3, 0)


async def test_an_engine_that_keeps_nothing_is_told_about(redis_server: RedisServer) -> None:
    with demo_kdn() as node, demo_instance("--block-size", f"{BLOCK}") as builder:
        shelf = Shelf(node_url=node, redis=Address("127.0.0.1", redis_server.port))
        with pytest.raises(
            NotShelved, match=r"no KV of a text of \d+ tokens was built: no new key"
        ):
            await shelf.put(
                QUESTIONS,
                builder_url=builder, model="demo", block_tokens=BLOCK, on_done=lambda: None,
            )  # fmt: skip


async def test_the_link_gets_the_bandwidth_it_is_given(redis_server: RedisServer) -> None:
    with demo_kdn("--bandwidth-mbps", "1000", "--delay-ms", "2") as node:
        shelf = Shelf(node_url=node, redis=Address("127.0.0.1", redis_server.port))
        await shelf.set_link(bandwidth_mbps=2400.0)
        async with Peer(node) as asking:
            link = await asking.get(DEMO_LINK)

    assert (link["bandwidth_mbps"], link["delay_ms"]) == (2400.0, 2.0)


async def test_a_redis_is_emptied(redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        client.set("demo@1@0@00", b"x")

    await Shelf(
        node_url="http://127.0.0.1:1", redis=Address("127.0.0.1", redis_server.port)
    ).empty_redis()

    assert redis_server.stored_keys() == set()
