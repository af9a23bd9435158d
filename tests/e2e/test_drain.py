"""An Instance is drained and undrained on a running Proxy: with requests on it, and before it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import post
from tests.support.knowledge import Piece, Stage, join, player, stage
from tests.support.meta import meta_of_json
from tests.support.openai_shapes import CHAT, chat, completion
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.script import Gate, json_answer
from tests.support.waiting import eventually_is

PUMP = Piece("The pump P-7 never runs dry.")
SEAL = Piece("The seal is changed every year.", kv_ready=False)
NARROW: dict[str, Any] = {"queues__prepare_concurrency": 1, "queues__ready_concurrency": 1}


async def ordered(
    proxy: RunningProxy, verb: str, *ids: str, status: int = 200, **fields: object
) -> Any:
    """Let an operator change something; what he is told."""
    body = {"instance_ids": list(ids), **fields}
    return await proxy.control("POST", f"/v1/admin/instance/{verb}", body, status)


async def answerers(on: Stage, count: int) -> set[str | None]:
    """Ask a few times, one after the other, and return who answered."""
    answers = [await post(on.proxy.service_port, chat()) for _ in range(count)]
    assert {answer.status for answer in answers} == {200}
    return {answer.header("x-cacheroute-instance") for answer in answers}


async def test_a_drained_instance_ends_what_runs_and_takes_nothing_new() -> None:
    async with stage(PUMP) as on, player() as second:
        await join(on.proxy, second, instance_id="i-2")
        gate = Gate()
        on.player.chats = (gate, *json_answer(completion()))
        second.chats = json_answer(completion())
        async with on.clients(on.request(), on.request()) as clients:
            await eventually_is(on.proxy.inflight, lambda now: now["i-1"] == 1)
            told = await ordered(on.proxy, "drain", "i-1", reason="new driver")
            assert (told["changes"][0]["inflight"], told["left_ids"]) == (1, ["i-2"])
            assert await answerers(on, 4) == {"i-2"}
            gate.open()
            got = {(await client.over()).header("x-cacheroute-instance") for client in clients}
        assert got == {"i-1", "i-2"}
        await on.nothing_left()
        row = next(r for r in await on.proxy.instances() if r["instance_id"] == "i-1")
        assert (row["draining"], row["drain_reason"], row["state"]) == (True, "new driver", "alive")
        await ordered(on.proxy, "undrain", "i-1")
        assert await answerers(on, 4) == {"i-1", "i-2"}


@pytest.mark.parametrize("at", ["turnstile 1", "turnstile 2"])
async def test_who_waits_at_a_drained_instance_goes_elsewhere(at: str) -> None:
    async with stage(PUMP, SEAL, **NARROW) as on, player() as second:
        gate = Gate()
        if at == "turnstile 1":
            on.player.orders = (gate, *json_answer({"detail": "no Redis"}, 500))
            body = on.request([PUMP.kid])
        else:
            on.player.chats = (gate, *json_answer(completion()))
            body = on.request([SEAL.kid], mode="text")
        async with on.clients(*[body] * 3) as clients:
            waiting = "prepare_queue_depth" if at == "turnstile 1" else "ready_queue_depth"
            await eventually_is(on.pressure, lambda row: row[waiting] == 2)
            await join(on.proxy, second, instance_id="i-2")
            told = await ordered(on.proxy, "drain", "i-1")
            assert told["changes"][0]["inflight"] == 3
            assert told["changes"][0]["waiting"] == (3 if at == "turnstile 1" else 2)
            for client in clients[1:]:
                answer = await client.over()
                assert (answer.status, answer.header("x-cacheroute-instance")) == (200, "i-2")
                assert meta_of_json(answer.body)["error"] is None
            gate.open()
            first = await clients[0].over()
        assert first.status == 200
        await on.nothing_left()
        assert await on.proxy.failures() == 0


async def test_with_nobody_else_there_who_waits_stays_and_is_served() -> None:
    async with stage(SEAL, **NARROW) as on:
        gate = Gate()
        on.player.chats = (gate, *json_answer(completion()))
        async with on.clients(*[on.request([SEAL.kid], mode="text")] * 3) as clients:
            await eventually_is(on.pressure, lambda row: row["ready_queue_depth"] == 2)
            refused = await ordered(on.proxy, "drain", "i-1", status=409)
            assert refused["error"] == "nobody_left"
            await ordered(on.proxy, "drain", "i-1", force=True)
            gate.open()
            for client in clients:
                answer = await client.over()
                assert (answer.status, answer.header("x-cacheroute-instance")) == (200, "i-1")
        nobody = await post(on.proxy.service_port, on.request())
        assert (nobody.status, "1 draining (i-1)" in nobody.json()["detail"]) == (503, True)
        await on.nothing_left()


async def test_nobody_is_moved_only_to_be_refused() -> None:
    async with stage(SEAL, queues__max_queue=1, **NARROW) as on, player() as second:
        gate = Gate()
        on.player.chats = second.chats = (gate, *json_answer(completion()))
        await join(on.proxy, second, instance_id="i-2")
        body = on.request([SEAL.kid], mode="text")

        async def queued() -> list[int]:
            return [row["ready_queue_depth"] for row in await on.proxy.loads()]

        async with on.clients(*[body] * 4) as clients:
            await eventually_is(queued, lambda depths: depths == [1, 1])
            await ordered(on.proxy, "drain", "i-1")
            assert await queued() == [1, 1]
            gate.open()
            answers = [await client.over() for client in clients]
        assert [answer.status for answer in answers] == [200] * 4
        await on.nothing_left()


async def test_a_request_that_failed_elsewhere_is_not_sent_back_there() -> None:
    async with stage(SEAL, **NARROW) as on, player() as second:
        gate = Gate()
        on.player.chats = (gate, *json_answer(completion()))
        second.chats = json_answer({"error": {"message": "broken"}}, 500)
        body = on.request([SEAL.kid], mode="text")
        async with on.clients(body) as (first,):
            await eventually_is(on.pressure, lambda row: row["inflight"] == 1)
            await join(on.proxy, second, instance_id="i-2")
            async with on.clients(body) as (failed_once,):
                await eventually_is(on.proxy.inflight, lambda now: now == {"i-1": 2, "i-2": 0})
                assert len(second.asked) == 1
                await ordered(on.proxy, "drain", "i-1")
                gate.open()
                for client in (first, failed_once):
                    answer = await client.over()
                    assert answer.status == 200
                    assert answer.header("x-cacheroute-instance") == "i-1"
        await on.nothing_left()


async def test_a_drained_instance_stays_drained_through_registrations_and_restarts(
    tmp_path: Path,
) -> None:
    async with player() as first, player() as second:
        async with running_proxy(state_dir=str(tmp_path), proxy__id="p") as proxy:
            await join(proxy, first)
            await join(proxy, second, instance_id="i-2")
            await ordered(proxy, "drain", "i-1", reason="memory")
            await ordered(proxy, "weight", "i-2", weight=3)
            await join(proxy, first)
            await proxy.control("POST", "/v1/instance/unregister", {"instance_id": "i-1"})
            await join(proxy, first, weight=9.0)
            rows = {row["instance_id"]: row for row in await proxy.instances()}
            assert (rows["i-1"]["draining"], rows["i-1"]["weight"]) == (True, 9.0)
        async with running_proxy(state_dir=str(tmp_path), proxy__id="p") as proxy:
            rows = {row["instance_id"]: row for row in await proxy.instances()}
            assert (rows["i-1"]["draining"], rows["i-1"]["drain_reason"]) == (True, "memory")
            assert (rows["i-2"]["weight"], rows["i-2"]["own_weight"]) == (3.0, 1.0)
            answer = await post(proxy.service_port, chat(), CHAT)
            assert answer.header("x-cacheroute-instance") == "i-2"
            await ordered(proxy, "undrain", "i-1")
            await ordered(proxy, "weight", "i-2", weight=None)
        async with running_proxy(state_dir=str(tmp_path), proxy__id="p") as proxy:
            rows = {row["instance_id"]: row for row in await proxy.instances()}
            assert not rows["i-1"]["draining"]
            assert rows["i-2"]["weight"] == 1.0
        written = (tmp_path / "p" / "audit.jsonl").read_text()
        lines = [json.loads(line) for line in written.splitlines()]
        told = [(line["verb"], line["instance_id"], line["peer"]) for line in lines]
        assert told == [
            ("drain", "i-1", "127.0.0.1"),
            ("weight", "i-2", "127.0.0.1"),
            ("undrain", "i-1", "127.0.0.1"),
            ("weight", "i-2", "127.0.0.1"),
        ]
