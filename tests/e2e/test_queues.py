"""Nobody waits for anybody without need, and whoever goes leaves nothing behind."""

import asyncio
import contextlib
import random
from typing import Any

import pytest

from tests.support.backend import Reply
from tests.support.client import post
from tests.support.knowledge import (
    Piece,
    Stage,
    injecting,
    injecting_at,
    looking_up,
    stage,
)
from tests.support.meta import meta_of_json
from tests.support.openai_shapes import (
    COMPLETIONS,
    DONE,
    chat,
    completion,
    token,
    tokens,
)
from tests.support.received import Received
from tests.support.script import (
    Freeze,
    Gate,
    Pause,
    Reset,
    Script,
    chunk,
    json_answer,
    stream,
    stream_head,
)
from tests.support.waiting import eventually

PUMP = Piece("The pump P-7 never runs dry.")
SEAL = Piece("The seal is changed every year.", kv_ready=False)
LONG_LIFE: dict[str, Any] = {"pool__ejection__failures": 1_000_000}
"""Settings with which no number of failures puts an Instance to rest."""


# A head that takes its time


async def text_behind(on: Stage, gate: Gate, count: int = 4) -> list[float]:
    """Send text requests behind a KV head that is held at the gate; how long each took."""
    loop = asyncio.get_running_loop()
    on.player.orders = injecting_at(gate)

    async def one() -> float:
        began_s = loop.time()
        answer = await post(on.proxy.service_port, on.request([SEAL.kid], mode="text"))
        assert answer.status == 200
        assert meta_of_json(answer.body)["trace"]["text_actual_path"] == "text_inject"
        return loop.time() - began_s

    async with on.clients(on.request([PUMP.kid])) as (head,):
        await on.player.backend.received()
        texts = asyncio.gather(*(one() for _ in range(count)))
        if on.proxy.app.settings.queues.release_policy == "ordered":
            await on.shows(inflight=count + 1, active_prepare=1, ready_queue_depth=count)
            await asyncio.sleep(0.05)
            assert not texts.done()
            assert on.player.asked == []
            gate.open()
        took_s = await texts
        gate.open()
        trace = meta_of_json((await head.over()).body)["trace"]
        assert trace["kvcache_actual_path"] == "kv_inject"
        await on.nothing_left()
        return took_s


async def test_with_text_bypass_text_does_not_wait_for_a_head_whose_kv_is_on_its_way() -> None:
    async with stage(PUMP, SEAL, queues__release_policy="text_bypass") as on:
        took_s = await text_behind(on, Gate())
        assert max(took_s) < 0.5


async def test_in_order_text_waits_for_the_head() -> None:
    async with stage(PUMP, SEAL) as on:
        await text_behind(on, Gate())
        assert [body["messages"][0]["content"] == PUMP.content for body in on.player.asked] == [
            True, False, False, False, False,
        ]  # fmt: skip


async def test_whoever_passes_the_head_says_so() -> None:
    async with stage(PUMP, SEAL, queues__release_policy="text_bypass") as on:
        gate = Gate()
        on.player.orders = injecting_at(gate)
        async with on.clients(on.request([PUMP.kid])) as (head,):
            await on.player.backend.received()
            passing = (await on.ask([SEAL.kid], mode="text")).trace
            gate.open()
            passed = meta_of_json((await head.over()).body)["trace"]
        assert passing["ready_release_policy"] == "text_bypass"
        assert (passing["ready_release_bypass"], passing["ready_release_blocked_seq"]) == (1, 1)
        assert passed["ready_release_bypass"] == 0
        assert "ready_release_blocked_seq" not in passed
        assert (passing["ready_release_seq"], passed["ready_release_seq"]) == (1, 2)


async def test_a_request_without_knowledge_waits_for_no_head_in_any_order() -> None:
    async with stage(PUMP) as on:
        gate = Gate()
        on.player.orders = injecting_at(gate)
        async with on.clients(on.request([PUMP.kid])) as (head,):
            await on.player.backend.received()
            told = await on.ask([], rag=False)
            assert told.meta["error"] is None
            assert (await post(on.proxy.service_port, chat())).status == 200
            assert not head.answer.whole
            gate.open()
            await head.over()
        await on.nothing_left()


async def test_completions_run_side_by_side() -> None:
    one_s = 0.4
    async with stage(PUMP) as on:
        on.player.chats = (Pause(one_s), *json_answer(completion()))
        began_s = asyncio.get_running_loop().time()
        body, port = on.request([PUMP.kid], endpoint="completions"), on.proxy.service_port
        answers = await asyncio.gather(
            *(post(port, body, COMPLETIONS) for _ in range(3)),
            post(port, on.request([PUMP.kid])),
        )
        took_s = asyncio.get_running_loop().time() - began_s
        assert [answer.status for answer in answers] == [200] * 4
        assert on.player.backend.most_running >= 4
        assert took_s < 2 * one_s
        await on.nothing_left()


async def test_a_head_that_is_never_answered_holds_up_nobody() -> None:
    async with stage(PUMP) as on:
        scripts = iter([(Freeze(),)])
        on.player.chats = lambda _: next(scripts, json_answer(completion()))
        async with on.clients(on.request([PUMP.kid])):
            await eventually(lambda: len(on.player.asked) == 1)
            for endpoint in ("chat/completions", "completions"):
                told = await on.ask([PUMP.kid], endpoint=endpoint)
                assert told.paths == {"kvcache_actual_path": "kv_inject"}
        await on.nothing_left()


# Whoever leaves


async def test_eight_clients_that_leave_long_streams_wedge_nothing() -> None:
    endless: Script = (stream_head(), *(chunk(token("x" * 2000)) for _ in range(500)), Freeze())
    async with stage(PUMP, queues__ready_concurrency=8) as on:
        on.player.chats = endless
        async with on.clients(*[on.request([PUMP.kid], stream=True)] * 8) as held:
            for client in held:
                await client.body_of(1000)
                client.stop_reading()
            assert (await on.counts())["active_ready"] == 8
            for client in held:
                client.reset()
        await on.nothing_left()
        await eventually(lambda: on.player.backend.running == 0)
        on.player.chats = json_answer(completion())
        told = await on.ask([PUMP.kid])
        assert told.paths == {"kvcache_actual_path": "kv_inject"}
        await on.nothing_left()


LEAVING: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "waiting": (
        {"kids": [PUMP.kid]},
        {"inflight": 2, "prepare_queue_depth": 1, "active_prepare": 1},
    ),
    "looking up": ({"kids": [PUMP.kid]}, {"inflight": 1, "active_prepare": 1}),
    "injecting": ({"kids": [PUMP.kid]}, {"inflight": 1, "active_prepare": 1}),
    "ready": (
        {"kids": [PUMP.kid]},
        {"inflight": 2, "ready_queue_depth": 1, "active_ready": 1, "pending_prefill_count": 1},
    ),
    "sent": ({"kids": [PUMP.kid]}, {"inflight": 1, "active_ready": 1, "pending_prefill_count": 1}),
    "streaming": (
        {"kids": [PUMP.kid], "stream": True},
        {"inflight": 1, "active_ready": 1, "active_decode_count": 1},
    ),
    "without knowledge": ({"kids": [], "rag": False}, {"inflight": 1, "pending_prefill_count": 1}),
}


@pytest.mark.parametrize("where", LEAVING)
async def test_whoever_leaves_frees_its_place_at_once(where: str) -> None:
    fields, seen = LEAVING[where]
    rules = {"queues__prepare_concurrency": 1, "queues__ready_concurrency": 1}
    async with stage(PUMP, **rules) as on:
        if where in ("waiting", "looking up"):
            on.node.reply = (Freeze(),)
        elif where == "injecting":
            on.player.orders = (Freeze(),)
        elif where == "streaming":
            on.player.chats = (stream_head(), chunk(token("a")), Freeze())
        else:
            on.player.chats = (Freeze(),)
        async with on.clients(*[on.request(**fields)] * seen["inflight"]) as held:
            await on.shows(**seen)
            for client in reversed(held):  # the one behind first
                client.reset()
            await on.nothing_left()
        await eventually(lambda: not (on.node.running or on.player.backend.running))
        on.node.reply = looking_up({PUMP.kid: PUMP})
        on.player.orders, on.player.chats = injecting, json_answer(completion())
        told = await on.ask([PUMP.kid])
        assert told.paths == {"kvcache_actual_path": "kv_inject"}
        assert await on.proxy.unhappy_ends() == {"client_gone": seen["inflight"]}


async def test_a_head_that_leaves_lets_those_behind_it_go() -> None:
    async with stage(PUMP, SEAL) as on:
        on.player.orders = (Freeze(),)
        async with on.clients(
            on.request([PUMP.kid]), *[on.request([SEAL.kid], mode="text")] * 3
        ) as (head, *others):
            await on.shows(inflight=4, active_prepare=1, ready_queue_depth=3)
            head.reset()
            assert [(await other.over()).status for other in others] == [200] * 3
        await on.nothing_left()


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_fails_and_whoever_leaves_nothing_is_left(seed: int) -> None:
    dice = random.Random(seed)
    rules: dict[str, Any] = {
        "queues__prepare_concurrency": 2, "queues__ready_concurrency": 3, "queues__max_queue": 8,
        "queues__release_policy": dice.choice(["ordered", "text_bypass"]),
        "kdn__lookup_timeout_s": 0.2, "kdn__inject_timeout_s": 0.2, **LONG_LIFE,
    }  # fmt: skip
    wrong: list[Script] = [(Freeze(),), (Reset(),), json_answer({"error": "no"}, 500)]

    def at_times_wrong(right: Reply) -> Reply:
        def reply(received: Received) -> Script:
            if dice.random() < 0.2:
                return dice.choice(wrong)
            said = right(received) if callable(right) else right
            return (Pause(dice.random() * 0.02), *said)

        return reply

    async def one(on: Stage) -> None:
        fields: dict[str, Any] = {
            "mode": dice.choice(["text", "kvcache"]), "stream": dice.random() < 0.5,
            "rag": dice.random() < 0.8,
        }  # fmt: skip
        await asyncio.sleep(dice.random() * 0.3)
        async with on.clients(on.request([PUMP.kid], **fields)) as (client,):
            with contextlib.suppress(TimeoutError):
                await client.over(within_s=0.01 + dice.random() * 0.5)
            client.reset()

    async with stage(PUMP, **rules) as on:
        on.node.reply = at_times_wrong(looking_up({PUMP.kid: PUMP}))
        on.player.orders = at_times_wrong(injecting)
        on.player.chats = at_times_wrong(stream(*tokens(4), DONE))
        await asyncio.gather(*(one(on) for _ in range(120)))
        await on.nothing_left()
        on.node.reply, on.player.orders = looking_up({PUMP.kid: PUMP}), injecting
        on.player.chats = json_answer(completion())
        assert (await on.ask([PUMP.kid])).paths == {"kvcache_actual_path": "kv_inject"}


# Too many


async def test_one_more_than_may_wait_is_told_to_come_again() -> None:
    async with stage(PUMP, queues__prepare_concurrency=1, queues__max_queue=1) as on:
        gate = Gate()
        on.player.orders = injecting_at(gate)
        async with on.clients(*[on.request([PUMP.kid])] * 2) as held:
            await on.shows(inflight=2, active_prepare=1, prepare_queue_depth=1)
            got = await post(on.proxy.service_port, on.request([PUMP.kid]))
            assert (got.status, got.json()["error"]) == (429, "queue_full")
            assert got.json()["detail"] == (
                "1 requests wait to be prepared at i-1, and no more than 1 may (queues.max_queue)."
            )
            assert got.header("retry-after") == "1"
            assert (await on.counts())["inflight"] == 2
            # What needs no preparing does not stand in that queue.
            assert (await post(on.proxy.service_port, chat())).status == 200
            gate.open()
            assert [(await client.over()).status for client in held] == [200, 200]
        await on.nothing_left()


async def test_a_full_instance_holds_up_preparing_too() -> None:
    """What is prepared must not pile up without end before an Instance that takes nobody."""
    rules: dict[str, Any] = {
        "queues__prepare_concurrency": 4, "queues__ready_concurrency": 1, "queues__max_queue": 2,
    }  # fmt: skip
    async with stage(SEAL, **rules) as on, contextlib.AsyncExitStack() as stack:
        gate = Gate()
        on.player.chats = (gate, *json_answer(completion()))
        body = on.request([SEAL.kid], mode="text", stream=True)
        seen = {"active_ready": 1, "pending_prefill_count": 1}
        for number, more in enumerate(
            [
                {}, {"ready_queue_depth": 1}, {"ready_queue_depth": 2},
                {"ready_queue_depth": 2, "prepare_queue_depth": 1},
                {"ready_queue_depth": 2, "prepare_queue_depth": 2},
            ],
            start=1,
        ):  # fmt: skip
            await stack.enter_async_context(on.clients(body))
            await on.shows(inflight=number, **seen, **more)
        assert len(on.looked_up) == 3
        got = await post(on.proxy.service_port, body)
        assert (got.status, got.json()["error"]) == (429, "queue_full")
        gate.open()
        await on.nothing_left()
        assert len(on.player.asked) == 5
