"""Defects that the published reference has on the knowledge path, and that this Proxy has not.

One short test for each, by the number it has in the list of its defects; it names where the
same is tested in depth.
"""

import asyncio
import contextlib
import socket
from typing import Any

import pytest

from cacheroute.core.dispatch.timeline import Timeline
from cacheroute.core.predict.coefficients import PUBLISHED, parse_coefficients
from cacheroute.demo.kdn.allowed import Allowed
from cacheroute.demo.kdn.refused import Refused
from cacheroute.formats.address import Address
from tests.cacheroute.runtime.scheduler_stand_in import StandIn, a_server
from tests.support.backend import refusing
from tests.support.client import post
from tests.support.knowledge import (
    Piece,
    acknowledged,
    injecting_at,
    join,
    kid_of,
    player,
    stage,
)
from tests.support.openai_shapes import COMPLETIONS, DONE, chat, completion, token
from tests.support.proxy import running_proxy
from tests.support.script import Freeze, Gate, Script, chunk, json_answer, stream, stream_head
from tests.support.waiting import eventually

PUMP = Piece("The pump P-7 never runs dry.")
VALVE = Piece("The valve V-2 opens to the left.")
SEAL = Piece("The seal is changed every year.", kv_ready=False)
INJECTED = {"kvcache_actual_path": "kv_inject"}
FALLEN_BACK = {"kvcache_actual_path": "kv_inject_failed_fallback_text"}


async def test_1_clients_that_leave_long_streams_wedge_no_instance() -> None:
    """In depth: tests/e2e/test_queues.py, tests/e2e/test_aborts.py."""
    endless: Script = (stream_head(), *(chunk(token("x" * 500)) for _ in range(300)), Freeze())
    async with stage(PUMP, queues__ready_concurrency=2) as on:
        on.player.chats = endless
        for _ in range(4):
            async with on.clients(*[on.request([PUMP.kid], stream=True)] * 2) as held:
                for client in held:
                    await client.body_of(100)
                    client.reset()
            await on.nothing_left()
        await eventually(lambda: on.player.backend.running == 0)
        on.player.chats = json_answer(completion())
        assert (await on.ask([PUMP.kid])).paths == INJECTED


async def test_2_answers_in_one_piece_run_side_by_side_and_before_no_stream() -> None:
    """In depth: tests/e2e/test_queues.py."""
    async with stage(PUMP) as on:
        gate = Gate()
        on.player.chats = (gate, *json_answer(completion()))
        body, port = on.request([PUMP.kid], endpoint="completions"), on.proxy.service_port
        answers = asyncio.gather(
            *(post(port, body, COMPLETIONS) for _ in range(3)), post(port, chat())
        )
        await eventually(lambda: len(on.player.asked) == 4)
        gate.open()
        assert {answer.status for answer in await answers} == {200}


async def test_3_a_request_that_is_never_answered_blocks_nobody() -> None:
    """In depth: tests/e2e/test_queues.py."""
    async with stage(PUMP) as on:
        scripts = iter([(Freeze(),)])
        on.player.chats = lambda _: next(scripts, json_answer(completion()))
        async with on.clients(on.request([PUMP.kid], stream=True)):
            await eventually(lambda: on.player.asked)
            assert (await on.ask([PUMP.kid])).paths == INJECTED


async def test_4_a_transfer_that_was_predicted_too_long_is_not_slept_through() -> None:
    """In depth: tests/cacheroute/core/dispatch/test_links.py."""
    async with stage(PUMP) as on:
        began_s = asyncio.get_running_loop().time()
        for _ in range(2):
            told = await on.ask([PUMP.kid], knowledge_length=2350)
            assert told.paths == INJECTED
            assert told.trace["kv_queue_wait_ms"] == 0, "the link is free, whatever was predicted"
        assert told.trace["kv_transfer_model_ms"] == pytest.approx(2144, abs=1)
        assert asyncio.get_running_loop().time() - began_s < 1.0


def test_5_coefficients_of_zero_are_refused_and_are_no_default() -> None:
    """In depth: tests/cacheroute/core/predict/test_coefficients.py."""
    zeros = dict.fromkeys("abcd", 0.0)
    document = {
        "ttft": {**zeros, "unit": "seconds"},
        "tpot": {"mode": "per_bs_linear", "by_bs": {"1": {"slope": 0, "intercept": 0}}},
        "redis": {"a": 2764.3, "b": 12.5, "unit": "ms"},
    }
    with pytest.raises(ValueError, match="zero") as refused:
        parse_coefficients(document)
    assert "cacheroute calibrate" in str(refused.value)
    assert PUBLISHED.prefill.predict_ms(346) > 400
    assert PUBLISHED.decode.tpot_ms(1000) > 20


async def test_7_a_scheduler_that_has_forgotten_this_proxy_is_told_again() -> None:
    """In depth: tests/e2e/test_scheduler.py, tests/cacheroute/runtime/test_scheduling.py."""
    stand_in = StandIn(interval_s=0.1)
    server = a_server(stand_in)
    await server.listen()
    try:
        async with running_proxy(scheduler__url=server.url):
            await eventually(lambda: stand_in.known)
            stand_in.restart()
            await eventually(lambda: stand_in.known)
            assert len(stand_in.named("register")) == 2
    finally:
        server.refuse()


async def test_14_who_is_queued_for_an_instance_that_leaves_goes_to_another() -> None:
    """In depth: tests/e2e/test_queue_moves.py."""
    async with stage(PUMP, queues__prepare_concurrency=1) as on, player() as second:
        on.player.orders = (Freeze(),)
        async with on.clients(*[on.request([PUMP.kid])] * 2) as (_, waiting):
            await on.shows(inflight=2, active_prepare=1, prepare_queue_depth=1)
            await join(on.proxy, second, instance_id="i-2")
            await on.proxy.control("POST", "/v1/instance/unregister", {"instance_id": "i-1"})
            answer = await waiting.over()
            assert (answer.status, answer.header("x-cacheroute-instance")) == (200, "i-2")
            on.player.backend.refuse()
    assert on.player.asked == []


async def test_15_knowledge_that_nobody_could_look_up_is_told_as_missing_with_the_reason() -> None:
    """In depth: tests/cacheroute/runtime/test_fallbacks.py."""
    async with stage(PUMP) as on, refusing() as dead:
        on.node.reply = json_answer({"error": "TextDatabase not initialized"}, 500)
        for told in (
            await on.ask([PUMP.kid]),
            await on.ask([PUMP.kid], kdn=dead.removeprefix("http://")),
        ):
            assert told.kids == ([], [], [PUMP.kid])
            assert told.meta["error"].startswith("prepare_failed: ")


async def test_16_an_ok_without_injected_ids_is_no_injection() -> None:
    """In depth: tests/cacheroute/runtime/test_fallbacks.py."""
    async with stage(PUMP) as on:
        on.player.orders = json_answer(acknowledged([], text_only_kids=[PUMP.kid]))
        told = await on.ask([PUMP.kid])
        assert told.paths == FALLEN_BACK
        assert told.trace["predict_reused_tokens"] == 0
        assert told.trace["predict_redis_kv_load_ms"] == 0


async def test_17_ids_in_upper_case_are_found() -> None:
    """In depth: tests/cacheroute/core/injection/test_knowledge.py."""
    async with stage(PUMP) as on:
        told = await on.ask([PUMP.kid.upper()])
        assert told.paths == INJECTED
        assert told.kids == ([PUMP.kid.upper()], [], [])


async def test_18_a_request_id_that_is_no_number_breaks_nothing() -> None:
    """In depth: tests/cacheroute/runtime/test_fallbacks.py."""
    async with stage(PUMP) as on:
        assert (await on.ask([PUMP.kid], request_id="chat-7f")).paths == INJECTED
        assert isinstance(on.player.ordered[0]["request_id"], int)


async def test_21_who_waits_to_be_prepared_is_counted_and_bounded() -> None:
    """In depth: tests/cacheroute/core/dispatch/test_board.py, tests/e2e/test_queues.py."""
    async with stage(PUMP, queues__prepare_concurrency=1, queues__max_queue=3) as on:
        gate = Gate()
        on.player.orders = injecting_at(gate)
        async with on.clients(*[on.request([PUMP.kid])] * 4):
            await on.shows(inflight=4, active_prepare=1, prepare_queue_depth=3)
            got = await post(on.proxy.service_port, on.request([PUMP.kid]))
            assert (got.status, got.json()["error"]) == (429, "queue_full")
            gate.open()
        await on.nothing_left()


async def test_23_what_preparing_took_does_not_replace_what_was_predicted_of_it() -> None:
    """In depth: tests/cacheroute/runtime/test_passage.py."""
    async with stage(PUMP) as on:
        on.player.chats = stream(token("a"), DONE)
        trace = (await on.ask([PUMP.kid], stream=True, knowledge_length=2350)).trace
        assert trace["predict_know_prepare_ms"] == 2144
        assert trace["actual_know_prepare_ms"] < 500
        error_ms = trace["actual_total_ms"] - trace["predict_total_ms"]
        assert trace["predict_error_ms"] == pytest.approx(error_ms, abs=1)
        assert error_ms < -1500, "that the transfer was quick is part of the error"


def test_24_slots_are_taken_until_the_last_token_and_a_first_token_frees_none() -> None:
    """In depth: tests/cacheroute/core/dispatch/test_timeline.py, test_slots.py."""
    timeline = Timeline(2)
    first = timeline.reserve(0.0, 100, 5000)
    timeline.reserve(0.0, 100, 9000)
    timeline.first_token(first, 0.1)
    assert timeline.prefill_free_in_ms(0.1) == pytest.approx(100)
    assert timeline.next_slot_ready_in_ms(0.1) == pytest.approx(5000)
    assert timeline.wait_ms(0.1) == pytest.approx(5000)


def test_25_a_head_that_is_stuck_is_a_backlog() -> None:
    """In depth: tests/cacheroute/core/dispatch/test_timeline.py."""
    timeline = Timeline(8)
    timeline.reserve(0.0, 100, 1000)
    waits_ms = [timeline.wait_ms(at_s) for at_s in (1.0, 10.0, 100.0)]
    assert waits_ms == sorted(waits_ms)
    assert waits_ms[0] > 0


async def test_29_kv_requests_without_knowledge_leave_nothing_behind() -> None:
    """In depth: tests/cacheroute/runtime/test_passage.py."""
    async with stage(PUMP) as on:
        for _ in range(10):
            await on.ask([], mode="kvcache", rag=False)
            await on.ask([PUMP.kid], mode="kvcache", kdn="")
        on.node.reply = json_answer({"error": "no"}, 500)
        await on.ask([PUMP.kid], mode="kvcache")
        turnstiles = on.proxy.app.proxy.turnstiles
        assert len(turnstiles.links) == 0
        assert [len(gate.upcoming) for gate in turnstiles._gates.values()] == [0]
        assert turnstiles.links._by_instance == {}
        await on.nothing_left()


async def test_33_links_come_from_registered_instances_as_finite_numbers_and_go_with_them() -> None:
    """In depth: tests/cacheroute/core/test_topology.py, and test_topology.py of the planes."""
    async with stage(PUMP) as on, player() as second:
        await join(on.proxy, second, instance_id="i-2")

        async def report(instance_id: str, status: int = 200, **link: object) -> Any:
            body = {"instance_id": instance_id, "links": {"kdn://k:1": link}}
            return await on.proxy.control("POST", "/v1/topology/report", body, status)

        assert (await report("stranger", bandwidth_mbps=9e9))["ok"] is False
        await report("i-1", 422, bandwidth_mbps=-1)
        await report("i-1", 422, bandwidth_mbps=float("inf"))
        await report("i-1", bandwidth_mbps=1000, latency_ms=3)
        await report("i-2", bandwidth_mbps=1000, latency_ms=0)

        async def best() -> Any:
            return (await on.proxy.control("GET", "/v1/topology/kdn_links"))["kdn_links"]

        assert (await best())["kdn://k:1"]["reported_by"] == "i-2", "0 ms is the shorter way"
        for instance_id in ("i-2", "i-1"):
            await on.proxy.control("POST", "/v1/instance/unregister", {"instance_id": instance_id})
        assert await best() == {}


async def test_35_only_kv_that_can_be_hit_is_counted_and_by_one_size() -> None:
    """In depth: tests/cacheroute/core/injection/test_knowledge.py, test_cost.py."""
    async with stage(PUMP, VALVE) as on:
        told = await on.ask([PUMP.kid, VALVE.kid, kid_of("gone")], knowledge_length=3072)
        assert told.paths == INJECTED
        assert told.trace["predict_total_tokens"] == 50 + 2048 + 36, "a third is not there"
        assert told.trace["predict_reused_tokens"] == 768, "the first piece of two, in blocks"
        assert told.trace["reused_tokens"] == 1024, "a third each, as long as nothing is known"
    kv = PUBLISHED.kv
    assert kv.redis_gb(1000) * 1000 == pytest.approx(kv.network_mb(1000))


async def test_38_sixty_requests_at_once_are_dispatched_at_once_over_warm_connections() -> None:
    """In depth: tests/cacheroute/core/dispatch/test_board_properties.py, tests/bench."""
    async with stage(SEAL) as on:
        for _ in range(20):
            await on.ask([SEAL.kid], mode="text")
        assert on.node.connections == 1
        gate = Gate()
        on.player.chats = (gate, *json_answer(completion()))
        bodies = [on.request([SEAL.kid], mode="text")] * 60
        async with on.clients(*bodies) as held:
            began_s = asyncio.get_running_loop().time()
            await eventually(lambda: len(on.player.asked) == 80)
            assert asyncio.get_running_loop().time() - began_s < 1.0, "20 ms each would be 1.2 s"
            gate.open()
            for client in held:
                assert (await client.over()).status == 200


async def test_41_nodes_are_asked_and_write_only_where_they_may() -> None:
    """In depth: test_fallbacks.py; tests/cacheroute/demo: kdn/test_allowed, test_kv_control."""
    async with stage(PUMP) as on:
        told = await on.ask([PUMP.kid], kdn="169.254.169.254:80")
        assert told.meta["error"].startswith("prepare_failed: '169.254.169.254:80' is no knowledge")
    redis = Allowed([], what="Redis", option="--redis")
    assert redis.check("127.0.0.1", 6379) == Address("127.0.0.1", 6379)
    with pytest.raises(Refused, match="another machine"):
        redis.check("10.0.0.5", 6379)


async def test_44_two_instances_of_one_host_both_get_kv_and_ipv6_hosts_too() -> None:
    """In depth: tests/cacheroute/upstream/test_kdn.py, tests/cases/test_addressing.py."""
    async with contextlib.AsyncExitStack() as stack:
        on = await stack.enter_async_context(stage(PUMP))
        players = [on.player, await stack.enter_async_context(player())]
        await join(on.proxy, players[1], instance_id="i-2")
        if socket.has_ipv6:
            players.append(await stack.enter_async_context(player(host="::1")))
            await join(on.proxy, players[2], instance_id="i-3")
        for _ in players:
            told = await on.ask([PUMP.kid])
            assert told.paths == INJECTED
        assert [len(each.ordered) for each in players] == [1] * len(players)
        assert [len(each.asked) for each in players] == [1] * len(players)
