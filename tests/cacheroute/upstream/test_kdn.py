"""Knowledge nodes and Instances' control planes: what they are asked, and how they disappoint."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from cacheroute.core.errors import UpstreamClosed, UpstreamError, UpstreamTimeout
from cacheroute.core.injection.knowledge import KnowledgeItem
from cacheroute.core.instance import Instance
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.upstream import kdn as module
from cacheroute.upstream.kdn import DEFAULT_CONTROL_PORT, Ack, Kdns, Lookup, control_port
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.upstream.asking import ByHand, Walked, a_pool, by_hand
from tests.support.backend import Reply, ScriptedBackend, scripted
from tests.support.script import Freeze, Reset, Script, Write, answer, head, json_answer

KID = "a" * 64
FOUND = {"items": [{"id": KID, "content": "text", "kv_ready": 1}], "miss": ["b"]}
INJECTED = {
    "ok": True, "injected_kids": [KID], "text_only_kids": [], "miss_kids": [],
    "keys_injected": 3, "payload_bytes": 900, "payload_files": 3, "network_sim_enabled": False,
    "detail": "",
}  # fmt: skip
"""As published, with every key."""


def kdns_of(pool: UpstreamPool, *, timeout_s: float = 5.0, reply_bytes: int = 10_000) -> Kdns:
    return Kdns(
        pool, lookup_timeout_s=timeout_s, inject_timeout_s=timeout_s, reply_bytes=reply_bytes
    )


@contextlib.asynccontextmanager
async def peers(reply: Reply, **given: Any) -> AsyncIterator[tuple[ScriptedBackend, Kdns]]:
    """Run a node, or an Instance's control plane, that answers like this."""
    host = given.pop("host", "127.0.0.1")
    async with scripted(reply, host=host) as backend, a_pool() as pool:
        yield backend, kdns_of(pool, **given)


def at_port_of(backend: ScriptedBackend) -> Instance:
    """An Instance that takes orders at this backend, and requests elsewhere."""
    return an_instance(port=1, host=backend.host, meta={"cp_port": backend.port})


async def looked_up(reply: object) -> Lookup:
    async with peers(json_answer(reply)) as (backend, kdns):
        return await by_hand(kdns.lookup(backend.authority, [KID, "b"]))


async def inject(kdns: Kdns, instance: Instance, request_id: int = 17) -> Ack:
    return await by_hand(
        kdns.inject(
            instance,
            request_id=request_id,
            kdn_address="10.0.0.1:9101",
            model="m",
            knowledge_ids=(KID,),
        )
    )


async def injected(reply: object) -> Ack:
    async with peers(json_answer(reply)) as (backend, kdns):
        return await inject(kdns, at_port_of(backend))


# Lookups


async def test_a_lookup_asks_for_what_is_used_and_nothing_else() -> None:
    async with peers(json_answer(FOUND)) as (backend, kdns):
        found = await by_hand(kdns.lookup(backend.authority, [KID, "B"]))
        (asked,) = backend.requests
        assert (asked.method, asked.target) == ("POST", "/knowledge/search/text")
        assert asked.json() == {
            "knowledge_ids": [KID, "B"],
            "need_fields": ["content", "kv_ready"],
        }
        assert asked.head.one("host") == backend.authority.encode()
        assert found == Lookup(
            items=(KnowledgeItem(id=KID, content="text", kv_ready=True),), missing=("b",)
        )


async def test_the_answer_of_a_published_node_is_read() -> None:
    item = {
        "id": KID, "content": "text", "length": 4, "rel_path": f"texts/{KID}.txt", "kv_ready": 0,
        "kv_rel_dir": None, "kv_dumped_keys": 0, "kv_updated_at": None, "embedding": [0.1, -2e-3],
        "embed_dim": 2, "embedding_head": [0.1],
    }  # fmt: skip
    found = await looked_up({"items": [item, item], "miss": []})
    assert found.items == (KnowledgeItem(id=KID, content="text", kv_ready=False),) * 2


@pytest.mark.parametrize(
    ("item", "content", "kv_ready"),
    [
        ({}, "", False),
        ({"content": None, "kv_ready": None}, "", False),
        ({"content": "t", "kv_ready": True}, "t", True),
        ({"content": "t", "kv_ready": 1.0, "more": {"a": [1]}}, "t", True),
        ({"kv_ready": 0.0}, "", False),
        ({"kv_ready": "no"}, "", True),
        ({"kv_ready": []}, "", False),
        ({"kv_ready": [[]] * 1000, "length": [[]] * 1000}, "", True),
    ],
)
async def test_what_a_node_leaves_out_is_not_there(
    item: dict[str, object], content: str, kv_ready: bool
) -> None:
    found = await looked_up({"items": [{"id": "k", **item}]})
    assert found.items == (KnowledgeItem(id="k", content=content, kv_ready=kv_ready),)
    assert found.missing == ()


async def test_half_a_letter_in_an_id_is_asked_for_all_the_same() -> None:
    async with peers(json_answer({"items": [], "miss": ["?"]})) as (backend, kdns):
        await by_hand(kdns.lookup(backend.authority, ["\ud800"]))
        assert backend.requests[0].json()["knowledge_ids"] == ["?"]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (json_answer({"error": "x"}, 400), 'answered 400: {"error": "x"}.'),
        (json_answer(FOUND, 500), "answered 500: "),
        (answer(b"", 503, None), "answered 503."),
        (answer(b"", 204, None), "answered 204."),
        (json_answer({"error": "TextDatabase not initialized"}), "no list of knowledge: Object mi"),
        (json_answer({"items": None}), "no list of knowledge: Expected `array`"),
        (json_answer({"items": [{"content": "x"}]}), "no list of knowledge: Object missing"),
        (json_answer([]), "no list of knowledge: Expected `object`"),
        (answer(b"<html>busy</html>", 200, "text/html"), "no list of knowledge: JSON is malf"),
        (answer(b""), "no list of knowledge: Input data was truncated"),
        (answer(b'{"items":[{"id":"\xff"}]}'), "no list of knowledge: Invalid UTF-8"),
        (answer(b'{"items":' + b"[" * 5000), "no list of knowledge: "),
    ],
)
async def test_an_answer_that_is_none_is_told_and_not_taken_for_a_miss(
    reply: Script, why: str
) -> None:
    async with peers(reply) as (backend, kdns):
        with pytest.raises(UpstreamError) as caught:
            await by_hand(kdns.lookup(backend.authority, [KID]))
        assert caught.value.message.startswith(f"{backend.authority} answered ")
        assert why in caught.value.message


async def test_what_a_node_says_is_made_fit_for_a_log() -> None:
    said = b"one\r\n  two\x1b[31m\x00" + b"x" * 5000
    async with peers(answer(said, 500, "text/plain")) as (backend, kdns):
        with pytest.raises(UpstreamError) as caught:
            await by_hand(kdns.lookup(backend.authority, [KID]))
        told = caught.value.message.partition(" answered 500: ")[2]
        assert told.startswith("one two?[31m?xxx")
        assert len(told) == len("x" * 200 + ".")


async def test_a_lookup_is_bounded_in_time_and_size_by_settings() -> None:
    async with peers((Freeze(),), timeout_s=0.05) as (backend, kdns):
        with pytest.raises(UpstreamTimeout, match=r"within 0\.05 s \(kdn\.lookup_timeout_s\)"):
            await by_hand(kdns.lookup(backend.authority, [KID]))
    async with peers(json_answer(FOUND), reply_bytes=50) as (backend, kdns):
        with pytest.raises(UpstreamError, match=r"more than 50 bytes \(kdn\.reply_bytes\)"):
            await by_hand(kdns.lookup(backend.authority, [KID]))


async def test_a_node_that_breaks_off_midway_has_said_nothing() -> None:
    said = json.dumps(FOUND).encode()
    reply = (Write(head(200, [("Content-Length", str(len(said)))]) + said[:-5]), Reset())
    async with peers(reply) as (backend, kdns):
        with pytest.raises(UpstreamClosed, match="in the middle of its answer"):
            await by_hand(kdns.lookup(backend.authority, [KID]))


@pytest.mark.parametrize(
    "address", ["nowhere", "h:0", "h:99999", "a b:1", "http://h/x", "\ud800:1"]
)
async def test_an_address_that_is_none_is_an_error_like_any_other(address: str) -> None:
    async with a_pool() as pool:
        with pytest.raises(UpstreamError, match="cannot be used"):
            await by_hand(kdns_of(pool).lookup(address, [KID]))


@pytest.mark.parametrize("form", ["{}", "kdn://{}", "http://{}"])
async def test_an_address_may_have_a_scheme(form: str) -> None:
    async with peers(json_answer(FOUND)) as (backend, kdns):
        assert (await by_hand(kdns.lookup(form.format(backend.authority), [KID]))).items


async def test_lookups_share_a_warm_connection() -> None:
    async with peers(json_answer(FOUND)) as (backend, kdns):
        for _ in range(10):
            await by_hand(kdns.lookup(backend.authority, [KID]))
        assert (len(backend.requests), backend.connections) == (10, 1)


async def test_a_client_that_leaves_ends_its_lookup_at_once() -> None:
    async with peers((Freeze(),)) as (backend, kdns):
        asking = ByHand(kdns.lookup(backend.authority, [KID]))
        received = await backend.received()
        asking.walk_away()
        with pytest.raises(Walked):
            await asking.result
        await asyncio.wait_for(received.gone.wait(), 5)


# Injections


async def test_an_order_goes_to_the_port_that_the_instance_gave() -> None:
    async with peers(json_answer(INJECTED)) as (backend, kdns):
        ack = await inject(kdns, at_port_of(backend))
        (asked,) = backend.requests
        assert (asked.method, asked.target) == ("POST", "/v1/kv/inject_ready")
        assert asked.json() == {
            "request_id": 17, "kdn_addr": "10.0.0.1:9101", "model": "m", "knowledge_ids": [KID],
        }  # fmt: skip
        assert ack == Ack(reply=INJECTED, injected=(KID,), transfer_ms=None)


async def test_an_ipv6_instance_is_named_with_brackets() -> None:
    async with peers(json_answer(INJECTED), host="::1") as (backend, kdns):
        await inject(kdns, at_port_of(backend))
        assert backend.requests[0].head.one("host") == f"[::1]:{backend.port}".encode()


async def test_an_id_of_any_size_is_passed_on() -> None:
    async with peers(json_answer(INJECTED)) as (backend, kdns):
        await inject(kdns, at_port_of(backend), request_id=2**80)
        assert backend.requests[0].json()["request_id"] == 2**80


@pytest.mark.parametrize(
    ("meta", "port"),
    [
        ({}, DEFAULT_CONTROL_PORT),
        ({"cp_port": 9102}, 9102),
        ({"cp_port": "9102"}, 9102),
        ({"cp_port": None}, 9002),
        ({"cp_port": True}, 9002),
        ({"cp_port": 0}, 9002),
        ({"cp_port": 70000}, 9002),
        ({"cp_port": 9102.5}, 9002),
        ({"cp_port": "-1"}, 9002),
        ({"cp_port": "٣"}, 9002),
        ({"cp_port": "9" * 5000}, 9002),
        ({"cp_port": [9102]}, 9002),
    ],
)
def test_an_instance_that_gives_no_port_takes_orders_at_9002(
    meta: dict[str, object], port: int
) -> None:
    assert control_port(an_instance(meta=meta)) == port


@pytest.mark.parametrize(
    ("said", "kids"),
    [
        ({"ok": True}, ()),
        ({"ok": True, "injected_kids": []}, ()),
        ({"ok": True, "injected_kids": None}, ()),
        ({"ok": True, "injected_kids": "abc"}, ()),
        ({"injected_kids": ["a", 1, None, "b"]}, ("a", "b")),
    ],
)
async def test_only_what_is_named_was_injected(
    said: dict[str, object], kids: tuple[str, ...]
) -> None:
    ack = await injected(said)
    assert (ack.injected, ack.reply) == (kids, said)


@pytest.mark.parametrize(
    ("told", "transfer_ms"),
    [(12, 12.0), (0.5, 0.5), (0, None), (-1, None), (None, None), (True, None), ("9", None),
     (10**300, None)],
)  # fmt: skip
async def test_a_time_of_transfer_that_makes_no_sense_is_not_known(
    told: object, transfer_ms: float | None
) -> None:
    assert (await injected({"network_transfer_ms": told})).transfer_ms == transfer_ms


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (answer(b"Internal Server Error", 500, "text/plain"), "with 500: Internal Server Error."),
        (json_answer({"ok": False, "detail": "knowledge_ids is empty"}, 400), "with 400: {"),
        (answer(b"ok", 200, "text/plain"), "with no JSON object: ok."),
        (answer(b""), "with no JSON object."),
        (json_answer([INJECTED]), "with no JSON object: ["),
        (answer(b'{"a":1e999}'), "with no JSON object: "),
        (answer(b"[" * 5000), "with no JSON object: "),
        (answer(b'{"a":' + b"[" * 40 + b"]" * 40 + b"}"), "with JSON that is nested deeper"),
        (answer(b'{"a":"' + b"x" * 70_000 + b'"}'), "answered more than 65536 bytes."),
    ],
)
async def test_an_order_that_failed_says_how(reply: Script, why: str) -> None:
    async with peers(reply) as (backend, kdns):
        with pytest.raises(UpstreamError) as caught:
            await inject(kdns, at_port_of(backend))
        assert why in caught.value.message


async def test_an_order_is_bounded_in_time_by_a_setting_of_its_own() -> None:
    async with peers((Freeze(),), timeout_s=0.05) as (backend, kdns):
        with pytest.raises(UpstreamTimeout, match=r"\(kdn\.inject_timeout_s\)"):
            await inject(kdns, at_port_of(backend))


# Peers


async def test_peers_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PEERS", 3)
    async with contextlib.AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(scripted(json_answer(FOUND))) for _ in range(5)]
        pool = await stack.enter_async_context(a_pool())
        kdns = kdns_of(pool)
        for node in nodes:
            await by_hand(kdns.lookup(node.authority, [KID]))
        await by_hand(kdns.lookup(nodes[2].authority, [KID]))
        assert [key[1] for key in kdns._peers] == [nodes[n].port for n in (3, 4, 2)]
        for node in nodes[:2]:
            await node.closed_down_to(0)
            assert pool.known_peer(node.host, node.port) is None
        assert [node.open_sockets for node in nodes[2:]] == [1, 1, 1]


async def test_whoever_is_being_asked_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PEERS", 1)
    async with (
        scripted((Freeze(),)) as slow,
        scripted(json_answer(FOUND)) as quick,
        a_pool() as pool,
    ):
        kdns = kdns_of(pool)
        asking = ByHand(kdns.lookup(slow.authority, [KID]))
        await slow.received()
        for _ in range(2):
            await by_hand(kdns.lookup(quick.authority, [KID]))
        assert quick.connections == 1
        assert pool.known_peer(quick.host, quick.port) is not None
        assert not asking.result.done()
        asking.walk_away()
        with pytest.raises(Walked):
            await asking.result


async def test_a_peer_that_was_retired_is_made_anew() -> None:
    async with scripted(json_answer(FOUND)) as node, a_pool() as pool:
        kdns = kdns_of(pool)
        await by_hand(kdns.lookup(node.authority, [KID]))
        pool.peer(node.host, node.port).retire()
        assert (await by_hand(kdns.lookup(node.authority, [KID]))).items
        assert node.connections == 2
