"""Orders for KV over real sockets; the knowledge node is a tiny one that notes what it is told."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from cacheroute.demo import kv_control
from cacheroute.demo.kv_options import KvOptions
from cacheroute.formats.address import Address
from tests.cacheroute.demo.live import Live, live
from tests.cacheroute.member.control_plane import ControlPlane, control_plane

PATH = "/v1/kv/inject_ready"
STORE = KvOptions(address=Address("127.0.0.1", 1), db=3, password="secret")


def targets(*nodes: ControlPlane) -> dict[str, Any]:
    addresses = tuple(Address("127.0.0.1", node.server.port) for node in nodes)
    return {"kv": STORE, "kdn_targets": addresses}


def order(node: ControlPlane, **changes: object) -> dict[str, object]:
    return {
        "request_id": 7,
        "kdn_addr": f"127.0.0.1:{node.server.port}",
        "model": "tiny",
        "knowledge_ids": ["a", "b"],
        **changes,
    }


async def error_of(on: Live, body: object, status: int) -> tuple[str, str]:
    answer = await on.post(PATH, body)
    assert answer.status_code == status, answer.text
    told = answer.json()
    assert set(told) == {"error", "detail"}
    return told["error"], told["detail"]


async def test_the_node_is_told_where_the_store_is_and_its_answer_is_repeated() -> None:
    async with control_plane() as node, live(**targets(node)) as on:
        answer = await on.post(PATH, order(node))
        told = await node.next("inject_ready_kv")
    assert answer.status_code == 200
    assert answer.json() == {"ok": True, "injected_kids": ["a", "b"], "keys_injected": 7}
    assert told == {
        "request_id": 7, "model": "tiny", "knowledge_ids": ["a", "b"], "redis_host": "127.0.0.1",
        "redis_port": 1, "redis_db": 3, "redis_password": "secret",
    }  # fmt: skip


@pytest.mark.parametrize("form", ["http://127.0.0.1:{}", "localhost:{}", "http://localhost:{}/"])
async def test_a_node_may_be_named_in_several_ways(form: str) -> None:
    async with control_plane() as node, live(**targets(node)) as on:
        answer = await on.post(PATH, order(node, kdn_addr=form.format(node.server.port)))
    assert answer.status_code == 200


async def test_a_request_id_may_be_any_name() -> None:
    async with control_plane() as node, live(**targets(node)) as on:
        assert (await on.post(PATH, order(node, request_id="req-7"))).status_code == 200
        assert (await node.next("inject_ready_kv"))["request_id"] == "req-7"


async def test_the_password_goes_to_no_node_that_was_not_named() -> None:
    async with control_plane() as node, control_plane() as other, live(**targets(node)) as on:
        code, detail = await error_of(on, order(other), 403)
    assert code == "unknown_kdn"
    assert f"127.0.0.1:{other.server.port} is not a knowledge node of this Instance" in detail
    assert f"--kdn-targets: 127.0.0.1:{node.server.port}" in detail
    assert "inject_ready_kv" not in other.told


async def test_without_a_store_nothing_can_be_put_into_it() -> None:
    async with control_plane() as node, live() as on:
        assert await error_of(on, order(node), 409) == (
            "no_kv_store", "This Instance has no KV store: start it with --kv-redis.",
        )  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {"kdn_addr": "nowhere"},
        {"kdn_addr": 5},
        {"kdn_addr": "ftp://127.0.0.1:1"},
        {"knowledge_ids": []},
        {"knowledge_ids": "a"},
        {"knowledge_ids": ["a"] * 1025},
        {"model": "m" * 513},
        {"request_id": None},
    ],
)
async def test_an_order_that_is_none_is_refused_with_a_sentence(changes: dict[str, object]) -> None:
    async with control_plane() as node, live(**targets(node)) as on:
        code, detail = await error_of(on, order(node, **changes), 400)
    assert (code, detail[-1]) == ("invalid_request", ".")
    assert "inject_ready_kv" not in node.told


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 5000])
async def test_a_body_that_is_no_order_is_refused(content: bytes) -> None:
    async with live(kv=STORE) as on:
        assert (await on.http.post(PATH, content=content)).status_code == 400


async def test_a_node_that_cannot_is_told_of_without_what_it_repeats() -> None:
    async with control_plane() as node, live(**targets(node)) as on:
        repeated = json.dumps({"detail": [{"input": "secret"}]}).encode()
        node.answer("inject_ready_kv", (422, repeated))
        code, detail = await error_of(on, order(node), 502)
    assert code == "kdn_failed"
    assert "answered 422: " in detail
    assert "secret" not in detail


async def test_a_node_that_is_not_there_is_told_of() -> None:
    async with control_plane() as node:
        gone = targets(node)
    async with live(**gone) as on:
        code, detail = await error_of(on, order(node), 502)
    assert (code, detail[:12]) == ("kdn_failed", "cannot reach")


async def test_an_order_ends_when_whoever_sent_it_leaves() -> None:
    async with control_plane() as node, live(**targets(node)) as on:
        node.silent.add("inject_ready_kv")
        asking = asyncio.ensure_future(on.post(PATH, order(node)))
        await node.next("inject_ready_kv")
        asking.cancel()
        await node.next("inject_ready_kv gone")


async def test_an_instance_that_stops_drops_its_orders() -> None:
    async with control_plane() as node:
        node.silent.add("inject_ready_kv")
        async with live(**targets(node)) as on:
            asking = asyncio.ensure_future(on.post(PATH, order(node)))
            await node.next("inject_ready_kv")
            await on.instance.close()
            with pytest.raises(httpx.HTTPError):
                await asking
        await node.next("inject_ready_kv gone")


async def test_only_so_many_orders_are_carried_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kv_control, "MAX_AT_ONCE", 1)
    async with control_plane() as node, live(**targets(node)) as on:
        node.silent.add("inject_ready_kv")
        first = asyncio.ensure_future(on.post(PATH, order(node)))
        await node.next("inject_ready_kv")
        assert (await error_of(on, order(node), 503))[0] == "overloaded"
        first.cancel()
