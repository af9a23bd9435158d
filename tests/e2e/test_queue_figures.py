"""What is queued is shown, in the figures by which it is weighed, and so is each decision."""

import contextlib

import pytest

from tests.support.knowledge import BACKLOG, COUNTS, Piece, injecting_at, stage
from tests.support.openai_shapes import DONE, chat, token
from tests.support.script import END, Gate, chunk, stream, stream_head
from tests.support.waiting import eventually_is

PUMP = Piece("The pump P-7 never runs dry.")
SEAL = Piece("The seal is changed every year.", kv_ready=False)


async def test_an_instance_that_nothing_was_queued_for_has_no_figures() -> None:
    async with stage(PUMP) as on:
        row = await on.pressure()
        assert row["inflight"] == 0
        assert {row[name] for name in (*COUNTS[1:], *BACKLOG)} == {None}
        assert row["least_load_score"]["queue_source"] == "unavailable"


async def test_all_nine_figures_are_shown_and_weighed_while_requests_run() -> None:
    rules = {"queues__prepare_concurrency": 1, "queues__ready_concurrency": 2}
    async with (
        stage(PUMP, SEAL, strategy="least_load", **rules) as on,
        contextlib.AsyncExitStack() as stack,
    ):
        gate = Gate()
        scripts = iter([(stream_head(), chunk(token("a")), gate, chunk(DONE), END)])
        on.player.chats = lambda _: next(scripts, (gate, *stream(token("b"), DONE)))
        on.player.orders = injecting_at(gate)
        text = on.request([SEAL.kid], mode="text", stream=True)
        seen: dict[str, int] = {}
        for body, more in (
            (text, {"active_ready": 1, "active_decode_count": 1}),
            (text, {"active_ready": 2, "pending_prefill_count": 1}),
            (text, {"ready_queue_depth": 1}),
            (on.request([PUMP.kid]), {"active_prepare": 1}),
            (on.request([PUMP.kid]), {"prepare_queue_depth": 1}),
        ):
            await stack.enter_async_context(on.clients(body))
            seen |= {"inflight": seen.get("inflight", 0) + 1, **more}
            await on.shows(**seen)
        row = await on.pressure()
        assert row["predicted_total_backlog_ms"] >= row["prefill_free_in_ms"] > 0
        assert row["next_slot_ready_in_ms"] > 0
        score = row["least_load_score"]
        assert score["components"] == {
            name: row[name] for name in (*COUNTS, "predicted_total_backlog_ms")
        }
        assert {name for name, source in score["source"].items() if source[-7:] == "manager"} == {
            *COUNTS[1:], "predicted_total_backlog_ms",
        }  # fmt: skip
        weights = score["weights"]
        assert len(weights) == 9
        total = sum(weights[name] * value for name, value in score["components"].items())
        assert score["total"] == pytest.approx(total)
        assert sum(score["weighted_components"].values()) == pytest.approx(total)

        # The same figures choose: a plain client's request costs what was just shown.
        await stack.enter_async_context(on.clients(chat()))
        newest, *_ = await eventually_is(on.proxy.decisions, lambda rows: len(rows) == 6)
        assert newest["cost"] == pytest.approx(score["total"], abs=0.5)  # 500 ms of backlog
        gate.open()
        await on.nothing_left()


async def test_the_pool_tells_how_long_its_queues_are() -> None:
    async with stage(PUMP, queues__prepare_concurrency=1) as on:
        gate = Gate()
        on.player.orders = injecting_at(gate)
        async with on.clients(*[on.request([PUMP.kid])] * 3):
            await on.shows(inflight=3, active_prepare=1, prepare_queue_depth=2)
            pool = (await on.proxy.control("GET", "/debug/pool_resource"))["pool_resource"]
            assert (pool["load"]["prepare_queue_depth"], pool["load"]["ready_queue_depth"]) == (
                2,
                0,
            )
            gate.open()
        await on.nothing_left()


async def test_a_decision_shows_how_the_knowledge_was_brought_and_all_that_was_weighed() -> None:
    async with stage(PUMP, injection__strategy="iws") as on:
        links = {on.node.authority: {"bandwidth_mbps": 1000.0, "latency_ms": 2.0}}
        await on.proxy.control(
            "POST", "/v1/topology/report", {"instance_id": "i-1", "links": links}
        )
        told = await on.ask([PUMP.kid], mode="text", knowledge_length=1024)
        (decision,) = await on.proxy.decisions()
        shown = decision["injection"]
        assert shown["injection_strategy"] == "iws"
        assert shown["injection_mode"] == "kvcache"
        assert shown["injection_reason"] == "kvcache_score_better"
        assert told.paths == {"kvcache_actual_path": "kv_inject"}
        terms = {
            "ready_wait_ms": 0, "text_net_wait_ms": 0, "text_prepare_ms": 5, "kv_queue_wait_ms": 0,
            "kv_transfer_ms": 953, "kv_prepare_ms": 953, "redis_kv_load_ms": 120,
            "kdn_queue_penalty_ms": 0, "margin_ms": 100, "kv_bandwidth_mbps": 1000,
            "kv_bandwidth_source": "link_snapshot", "text_tokens": 1110, "reused_tokens": 1024,
            "residual_tokens": 86,
        }  # fmt: skip
        assert {name: shown[name] for name in terms} == terms
        for name in ("text_prefill_ms", "text_total_ms", "residual_prefill_ms", "kv_total_ms"):
            assert shown[name] > 0
        assert {name: told.trace[name] for name in shown} == shown
        await on.ask([], rag=False)
        assert (await on.proxy.decisions())[0]["injection"] is None
