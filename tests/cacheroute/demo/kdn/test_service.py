import asyncio
from typing import Any

import pytest

from cacheroute.demo.kdn.content import kid_of
from cacheroute.demo.kdn.link import LinkRules
from cacheroute.wire import knowledge as wire
from cacheroute.wire import paths
from tests.cacheroute.demo.kdn.live import Live, engine, live
from tests.support.redis import RedisServer
from tests.support.waiting import eventually

LINK = LinkRules(bandwidth_mbps=1000, delay_ms=1)


async def lookup(node: Live, ids: object, *fields: str) -> dict[str, Any]:
    body = {"knowledge_ids": ids, "need_fields": list(fields)}
    return await node.told(paths.KNOWLEDGE_SEARCH_TEXT, body)


async def error(node: Live, path: str, body: object) -> tuple[int, str]:
    answer = await node.post(path, body)
    return answer.status_code, answer.json()["error"]


async def test_a_text_gets_the_hash_of_its_normal_form_as_its_id() -> None:
    async with live() as node:
        path, text = paths.KNOWLEDGE_REGISTER_TEXT, " one\r\ntwo\n"

        first = await node.told(path, {"content": text, "meta": {"source": "a"}})
        second = await node.told(path, {"content": "one\ntwo"})

    assert first == {"kid": kid_of("one\ntwo"), "status": "created", "length": 7}
    assert second == {**first, "status": "exists"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"content": 5}, 400),
        ({"content": " \r\n "}, 400),
        ({"content": "x", "meta": []}, 400),
        ({"content": "x", "meta": {"k": "v" * 70_000}}, 413),
        ({"content": "x" * 300_000}, 413),
    ],
)
async def test_what_is_no_text_is_refused(body: object, status: int) -> None:
    async with live() as node:
        assert (await error(node, paths.KNOWLEDGE_REGISTER_TEXT, body))[0] == status


async def test_a_lookup_keeps_order_and_duplicates_and_takes_ids_in_any_case() -> None:
    async with live() as node:
        a, b = await node.register("a"), await node.register("b")

        found = await lookup(node, [b.upper(), " FF ", a, f" {b} ", "ff"], "content")

    assert found == {
        "items": [
            {"id": b, "content": "b"}, {"id": a, "content": "a"}, {"id": b, "content": "b"},
        ],
        "miss": ["ff", "ff"],
    }  # fmt: skip


async def test_a_lookup_has_the_fields_that_the_published_proxy_asks_for() -> None:
    asked = (
        "content", "length", "rel_path", "kv_ready", "kv_rel_dir", "kv_dumped_keys",
        "kv_updated_at",
    )  # fmt: skip
    async with live() as node:
        kid = await node.register("über")

        [item] = (await lookup(node, [kid], *asked))["items"]

    assert item == {
        "id": kid, "content": "über", "length": 4, "rel_path": f"texts/{kid}", "kv_ready": 0,
        "kv_rel_dir": None, "kv_dumped_keys": 0, "kv_updated_at": None,
    }  # fmt: skip


async def test_a_lookup_of_nothing_finds_nothing() -> None:
    async with live() as node:
        for ids in (list[str](), None):
            assert await lookup(node, ids) == {"items": [], "miss": []}


@pytest.mark.parametrize(
    "ids", ["ab", [1], [None], [["ab"]], {"ab": 1}, ["x"] * 257, ["x" * 129], 7]
)
async def test_ids_that_are_none_are_a_400_with_an_error(ids: object) -> None:
    async with live() as node:
        status, said = await error(node, paths.KNOWLEDGE_SEARCH_TEXT, {"knowledge_ids": ids})

    assert status == 400
    assert "knowledge_ids" in said


async def test_as_many_ids_as_one_call_may_have() -> None:
    async with live() as node:
        assert len((await lookup(node, ["x" * 128] * 256))["miss"]) == 256


async def test_a_lookup_and_a_ping_take_the_delay_of_the_link() -> None:
    async with live(link=LINK) as node:
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        node.node.link._sleep = sleep
        await lookup(node, ["ab"])
        pong = (await node.http.get(paths.TOPOLOGY_PING)).json()

    assert slept == [0.001, 0.001]
    assert pong["ok"] is True
    assert isinstance(pong["ts_ms"], int)


async def test_a_lookup_is_answered_while_a_transfer_runs() -> None:
    async with live(link=LinkRules(bandwidth_mbps=0.001)) as node:
        kid = await node.register("a")
        transfer = asyncio.ensure_future(node.node.link.transfer(10**12))
        await eventually(lambda: node.node.link.is_busy)

        assert (await lookup(node, [kid], "length"))["items"] == [{"id": kid, "length": 1}]

        transfer.cancel()


async def test_a_greeting_tells_who_it_is_and_what_its_link_is_like() -> None:
    hello = {"instance_id": "i-1", "instance_host": "127.0.0.1", "instance_port": 9001}
    async with live(kdn_id="k-1", link=LINK) as simulated, live() as real:
        told = await simulated.told(paths.TOPOLOGY_HELLO, hello)
        plain = await real.told(paths.TOPOLOGY_HELLO, hello)

    assert told == {
        "ok": True, "kdn_id": "k-1", "kdn_host": "127.0.0.1", "kdn_port": simulated.node.port,
        "echo_instance_id": "i-1", "link_bandwidth_mbps": 1000, "link_delay_ms": 1,
    }  # fmt: skip
    assert plain["kdn_id"] == f"kdn_127.0.0.1:{real.node.port}"
    assert plain["link_bandwidth_mbps"] is plain["link_delay_ms"] is None


async def test_a_snapshot_comes_page_by_page() -> None:
    async with live() as node:
        kids = [await node.register(each) for each in "abc"]
        body = {"need_fields": ["kid", "length"], "limit": 2, "offset": 1}

        page = await node.told(paths.KNOWLEDGE_SNAPSHOT, body)
        whole = await node.told(paths.KNOWLEDGE_SNAPSHOT, {"limit": 1_000_000})

    assert page == {
        "items": [{"kid": kid, "length": 1} for kid in kids[1:]],
        "count": 2, "limit": 2, "offset": 1,
    }  # fmt: skip
    assert [item["kid"] for item in whole["items"]] == kids
    assert whole["limit"] == wire.MAX_SNAPSHOT_ITEMS
    assert whole["items"][0]["embedding"] is None


async def test_texts_can_be_deleted_one_by_one_or_all(redis_server: RedisServer) -> None:
    async with live() as node, engine(redis_server) as each:
        a, b, c = [await node.register(letter * 8) for letter in "abc"]
        await node.build(a, each, redis_server)

        gone = await node.told(
            paths.KNOWLEDGE_DELETE, {"knowledge_ids": [a.upper(), "ff"], "delete_kv": True}
        )
        one = await node.told(paths.KNOWLEDGE_DELETE, {"knowledge_ids": b})
        status, _ = await error(node, paths.KNOWLEDGE_DELETE, {"knowledge_ids": []})
        purged = await node.told(paths.KNOWLEDGE_PURGE_ALL, {})

        assert (await lookup(node, [a, b, c]))["miss"] == [a, b, c]
    assert gone == {
        "deleted": [a], "not_found": ["ff"], "errors": [], "kv_deleted": [a], "kv_errors": [],
    }  # fmt: skip
    assert one["deleted"] == [b]
    assert status == 400
    assert (purged["purged"], purged["errors"]) == (True, [])


async def test_the_state_of_the_pool_is_counted(redis_server: RedisServer) -> None:
    async with live() as node, engine(redis_server) as each:
        kid = await node.register("a" * 16)
        await node.register("bb")
        await node.build(kid, each, redis_server)

        status = await node.told(paths.KNOWLEDGE_POOL_STATUS, {"sample_limit": 1})

    assert (status["total_blocks"], status["kv_ready_blocks"], status["text_only_blocks"]) == (
        2, 1, 1,
    )  # fmt: skip
    assert (status["avg_length"], status["avg_dumped_keys_on_ready"]) == (9.0, 2.0)
    assert [item["kid"] for item in status["sample_items"]] == [kid]


async def test_the_link_can_be_changed_while_it_runs() -> None:
    async with live(link=LINK) as node:
        changed = await node.told("/demo/link", {"bandwidth_mbps": 200})
        ended = await node.told("/demo/link", {"bandwidth_mbps": None})
        shown = (await node.http.get("/demo/link")).json()
        status, said = await error(node, "/demo/link", {"delay_ms": 5})
        bad, _ = await error(node, "/demo/link", {"bandwidth_mbps": 0})

    assert (changed["bandwidth_mbps"], changed["delay_ms"]) == (200, 1)
    assert (ended["network_sim_enabled"], shown) == (False, ended)
    assert (status, said) == (400, "delay_ms needs a bandwidth_mbps: there is no link")
    assert bad == 400


async def test_faults_can_be_ordered_seen_and_taken_back() -> None:
    async with live() as node:
        await node.told("/demo/fault", {"lookup_status": 503, "inject_status": 500})
        body = {"knowledge_ids": ["ab"], "need_fields": []}
        assert (await error(node, paths.KNOWLEDGE_SEARCH_TEXT, body))[0] == 503
        assert (await node.post(paths.KNOWLEDGE_SEARCH_TEXT, body)).status_code == 200
        shown = (await node.http.get("/demo/fault")).json()
        assert shown["left"] == {"lookup": 0, "inject": 1}

        await node.http.delete("/demo/fault")

        assert (await node.http.get("/demo/fault")).json()["fault"] is None


async def test_there_is_a_health_route_and_nothing_else() -> None:
    async with live() as node:
        assert (await node.http.get(paths.HEALTHZ)).json() == {"ok": True}
        assert (await node.http.get("/")).status_code == 404
        wrong = await node.http.get(paths.KNOWLEDGE_SEARCH_TEXT)
        assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
        assert (await node.post("/demo/link", "x" * 9_000_000)).status_code == 413
