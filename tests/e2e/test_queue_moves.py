"""Instances leave, die and fall silent, and the Proxy stops, while requests are queued for them."""

import asyncio
from typing import Any

import pytest

from tests.support.client import Answer, RawClient
from tests.support.knowledge import Piece, Stage, acknowledged, join, player, stage
from tests.support.meta import meta_of_json
from tests.support.openai_shapes import completion
from tests.support.script import Freeze, Gate, json_answer
from tests.support.waiting import eventually, eventually_is

PUMP = Piece("The pump P-7 never runs dry.")
SEAL = Piece("The seal is changed every year.", kv_ready=False)
NARROW: dict[str, Any] = {"queues__prepare_concurrency": 1, "queues__ready_concurrency": 1}


async def answered(clients: list[RawClient]) -> list[Answer]:
    """Return the answers of all, which must be good ones."""
    answers = [await client.over() for client in clients]
    assert [answer.status for answer in answers] == [200] * len(clients)
    return answers


async def unregister(on: Stage, instance_id: str) -> None:
    """Let an Instance go."""
    body = {"instance_id": instance_id}
    assert await on.proxy.control("POST", "/v1/instance/unregister", body) == {"ok": True}


async def test_who_waits_to_be_prepared_moves_on_when_the_instance_leaves() -> None:
    async with stage(PUMP, **NARROW) as on, player() as second:
        on.player.orders = (Freeze(),)
        async with on.clients(*[on.request([PUMP.kid])] * 3) as (first, *waiting):
            await on.shows(inflight=3, active_prepare=1, prepare_queue_depth=2)
            await join(on.proxy, second, instance_id="i-2")
            await unregister(on, "i-1")
            for answer in await answered(waiting):
                assert answer.header("x-cacheroute-instance") == "i-2"
                meta = meta_of_json(answer.body)
                assert meta["trace"]["kvcache_actual_path"] == "kv_inject"
                assert meta["error"] is None
            # The one whose KV is on its way waits for that alone.
            on.player.backend.refuse()
            (moved,) = await answered([first])
            assert moved.header("x-cacheroute-instance") == "i-2"
        assert len(second.ordered) == 3
        assert on.player.asked == []
        await on.nothing_left()
        assert [row["instance_id"] for row in await on.proxy.loads()] == ["i-2"]
        assert len(on.looked_up) == 3  # what was found is not asked for again


async def test_who_waits_for_a_slot_moves_on_when_the_instance_leaves() -> None:
    async with stage(SEAL, **NARROW) as on, player() as second:
        on.player.chats = (Freeze(),)
        async with on.clients(*[on.request([SEAL.kid], mode="text")] * 3) as clients:
            await eventually_is(on.pressure, lambda row: row["ready_queue_depth"] == 2)
            await join(on.proxy, second, instance_id="i-2")
            await unregister(on, "i-1")
            # The one that was sent is not answered yet, so it can move as well.
            for answer in await answered(clients):
                assert answer.header("x-cacheroute-instance") == "i-2"
        assert (len(on.player.asked), len(second.asked)) == (1, 3)
        await on.nothing_left()


async def test_who_waits_moves_on_when_the_instance_dies() -> None:
    async with stage(PUMP, SEAL, **NARROW) as on, player() as second:
        on.player.chats = (Freeze(),)
        bodies = [
            on.request([SEAL.kid], mode="text"), on.request([PUMP.kid]), on.request([PUMP.kid]),
        ]  # fmt: skip
        async with on.clients(*bodies) as clients:
            await eventually_is(on.pressure, lambda row: row["ready_queue_depth"] == 2)
            await join(on.proxy, second, instance_id="i-2")
            on.player.backend.refuse()
            for answer in await answered(clients):
                assert answer.header("x-cacheroute-instance") == "i-2"
                assert meta_of_json(answer.body)["error"] is None
        assert len(second.asked) == 3
        await on.nothing_left()


async def test_a_trace_is_that_of_the_instance_that_answered() -> None:
    async with stage(PUMP) as on, player() as second:
        gate = Gate()
        on.player.chats = json_answer({"error": {"message": "broken"}}, 500)
        on.player.orders = (gate, *json_answer({"detail": "no Redis"}, 500))
        second.orders = json_answer(acknowledged([PUMP.kid], detail="from i-2"))
        async with on.clients(on.request([PUMP.kid])) as clients:
            await on.player.backend.received()
            await join(on.proxy, second, instance_id="i-2")
            gate.open()
            (answer,) = await answered(clients)
        meta, trace = meta_of_json(answer.body), meta_of_json(answer.body)["trace"]
        assert trace["kvcache_actual_path"] == "kv_inject"
        assert meta["kv_ack"]["detail"] == "from i-2"
        assert trace["prepare_start_ms"] <= trace["kdn_fetch_start_ms"] <= trace["kv_ack_start_ms"]
        assert len(on.looked_up) == 1


async def test_with_nobody_else_there_those_who_wait_are_told() -> None:
    async with stage(PUMP, **NARROW) as on:
        on.player.orders = (Freeze(),)
        async with on.clients(*[on.request([PUMP.kid])] * 2) as (_, waiting):
            await on.shows(inflight=2, active_prepare=1, prepare_queue_depth=1)
            await unregister(on, "i-1")
            answer = await waiting.over()
            assert (answer.status, answer.json()["error"]) == (503, "no_instance")
        await on.nothing_left()


async def test_an_instance_that_moves_gets_what_is_queued_where_it_is_now() -> None:
    async with stage(SEAL, **NARROW) as on, player() as elsewhere:
        gate = Gate()
        on.player.chats = (gate, *json_answer(completion()))
        async with on.clients(*[on.request([SEAL.kid], mode="text")] * 3) as clients:
            await eventually_is(on.pressure, lambda row: row["ready_queue_depth"] == 2)
            await join(on.proxy, elsewhere)  # the same id at another address
            gate.open()
            await answered(clients)
        assert (len(on.player.asked), len(elsewhere.asked)) == (1, 2)
        await on.nothing_left()


@pytest.mark.parametrize("stage_name", ["looking up", "injecting", "ready"])
async def test_when_the_grace_ends_those_who_wait_are_told_that_it_drains(stage_name: str) -> None:
    async with stage(PUMP, **NARROW) as on:
        if stage_name == "looking up":
            on.node.reply = (Freeze(),)
        elif stage_name == "injecting":
            on.player.orders = (Freeze(),)
        else:
            on.player.chats = (Freeze(),)
        async with on.clients(*[on.request([PUMP.kid])] * 3) as clients:
            await eventually_is(on.pressure, lambda row: row["inflight"] == 3)
            if stage_name == "ready":
                await eventually_is(on.pressure, lambda row: row["ready_queue_depth"] == 2)
            async with asyncio.timeout(2):
                await on.proxy.app.stop(grace_s=0.05)
            for client in clients:
                answer = await client.over()
                assert (answer.status, answer.json()["error"]) == (503, "draining"), answer.body
            assert len(on.player.asked) == (1 if stage_name == "ready" else 0)
        for member in on.proxy.app.proxy.pool.members.values():
            assert member.inflight == 0
            pressure = on.proxy.app.proxy.turnstiles.gate(member).board.pressure(0)
            assert not any(pressure.as_mapping().values()), pressure


async def test_within_the_grace_those_who_wait_are_served() -> None:
    async with stage(PUMP, **NARROW) as on:
        gate = Gate()
        on.player.chats = (gate, *json_answer(completion()))
        async with on.clients(*[on.request([PUMP.kid])] * 3) as clients:
            await eventually_is(on.pressure, lambda row: row["inflight"] == 3)
            stopping = asyncio.gather(on.proxy.app.stop(grace_s=5))
            await eventually(lambda: on.proxy.app.proxy.draining)
            gate.open()
            await answered(clients)
            await stopping
