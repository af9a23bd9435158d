"""A request holds its place at every stage, and whatever happens gives all of it back, once."""

import asyncio
from typing import Any

import pytest

from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.errors import Draining
from cacheroute.runtime.passage import InstanceLeft, Passage
from cacheroute.runtime.request_log import KnowledgeRecord
from tests.cacheroute.core.pool_builders import an_instance, joined
from tests.cacheroute.runtime.knowledge_parts import KDN, Waiter, Way

SLOT = an_instance("i-1", max_concurrent=1)


def prepared(way: Way, **task: Any) -> Passage:
    """Return one that has a ticket, and is being prepared if there is room."""
    passage = way.decided(**task)
    assert passage.gate.board.enqueue(passage.new_ticket())
    return passage


def released(way: Way, **task: Any) -> Passage:
    passage = prepared(way, **task)
    assert passage.ticket is not None
    passage.prepared()
    assert passage.ticket.stage == "released"
    return passage


def sent(way: Way, **task: Any) -> Passage:
    passage = released(way, **task)
    passage.transferred()
    way.forecast(passage)
    passage.reserve()
    return passage


@pytest.mark.parametrize("make", [Way.decided, prepared, released, sent])
async def test_whatever_it_holds_is_given_back_once(make: object) -> None:
    way = Way()
    passage = make(way)  # type: ignore[operator]
    assert not way.is_clean
    passage.end()
    assert way.is_clean
    other = sent(way)
    passage.end()
    assert other.gate.board.active_ready == 1
    other.end()
    assert way.is_clean


async def test_a_passage_that_never_began_has_nothing_to_give_back() -> None:
    way = Way()
    passage = way.passage(plain=True)
    passage.reserve()
    assert passage.first_token(way.clock.mono_s) is None
    passage.answered(3, 10.0)
    passage.end()
    assert way.is_clean
    assert passage.as_record() is None


# Waiting


async def test_it_waits_until_it_is_released_and_no_longer() -> None:
    way = Way(SLOT)
    first, second = released(way), prepared(way)
    assert second.ticket is not None
    second.gate.board.prepared(second.ticket)
    waiter = Waiter(second.until_released())
    await asyncio.sleep(0)
    assert not waiter.is_over
    first.end()
    await asyncio.sleep(0)
    assert waiter.is_over
    assert waiter.error is None


async def test_who_is_released_already_does_not_wait() -> None:
    way = Way()
    assert Waiter(released(way).until_released()).is_over


async def test_one_that_is_woken_too_early_goes_on_waiting() -> None:
    way = Way(SLOT)
    released(way)
    second = prepared(way)
    waiter = Waiter(second.until_released())
    for _ in range(3):
        second._signal.notify()
    assert not waiter.is_over


@pytest.mark.parametrize("when", ["waiting", "before"])
async def test_an_instance_that_leaves_ends_the_wait(when: str) -> None:
    way = Way(SLOT)
    first, second = released(way), prepared(way)
    assert second.ticket is not None
    second.gate.board.prepared(second.ticket)
    waiter = Waiter(second.until_released()) if when == "waiting" else None
    way.proxy.turnstiles.forget(second.member)
    await asyncio.sleep(0)
    waiter = waiter or Waiter(second.until_released())
    assert isinstance(waiter.error, InstanceLeft)
    assert isinstance(Waiter(first.until_released()).error, InstanceLeft), "released is too late"
    first.end()
    second.end()
    assert first.gate.board.waiting() == []
    assert first.gate.board.active_ready == 0


async def test_an_instance_that_falls_silent_ends_the_wait_of_those_who_wait_then() -> None:
    way = Way(SLOT)
    first, second = released(way), prepared(way)
    assert second.ticket is not None
    second.gate.board.prepared(second.ticket)
    waiter = Waiter(second.until_released())
    way.proxy.turnstiles.silent(second.member)
    await asyncio.sleep(0)
    assert not waiter.is_over, "there is nowhere to go, and it may come back"
    joined(way.proxy.pool, an_instance("i-2", port=9002), way.clock.now())
    way.proxy.turnstiles.silent(second.member)
    await asyncio.sleep(0)
    assert isinstance(waiter.error, InstanceLeft)
    second.end()
    first.end()


async def test_an_instance_that_is_drained_keeps_who_has_nowhere_else_to_go() -> None:
    way = Way(SLOT)
    released(way)
    second = prepared(way)
    assert second.ticket is not None
    second.gate.board.prepared(second.ticket)
    waiter = Waiter(second.until_released())
    second.member.draining = True
    second._signal.notify()
    assert not waiter.is_over
    joined(way.proxy.pool, an_instance("i-2", port=9002), way.clock.now())
    second._signal.notify()
    assert isinstance(waiter.error, InstanceLeft)


async def test_a_proxy_that_stops_ends_the_wait_and_lets_nobody_through() -> None:
    way = Way(SLOT)
    first, second = released(way), prepared(way)
    waiter = Waiter(second.until_released())
    way.proxy.turnstiles.close()
    await asyncio.sleep(0)
    assert not waiter.is_over, "what is being prepared comes by when that is done"
    assert second.ticket is not None
    second.gate.board.prepared(second.ticket)
    second._signal.notify()
    for error in (waiter.error, Waiter(first.until_released()).error):
        assert isinstance(error, Draining)
        assert error.retry_after_s == 5.0


async def test_it_waits_before_the_first_turnstile_too() -> None:
    way = Way()
    board = way.proxy.turnstiles.gate(way.passage().member).board
    inside = [prepared(way) for _ in range(board.rules.prepare_concurrency)]
    late = prepared(way)
    waiter = Waiter(late.until_preparing())
    assert not waiter.is_over
    inside[0].end()
    await asyncio.sleep(0)
    assert waiter.is_over


async def test_those_behind_see_how_far_it_has_come() -> None:
    way = Way(queue_rules=QueueRules(prepare_concurrency=1))
    way.measured()
    first = prepared(way)
    gate = first.gate
    await first.until_preparing()
    way.clock.wait(0.1)
    approach = gate.upcoming.approach(way.clock.mono_s, 0)
    assert approach.place_in_ms == pytest.approx(853, abs=1)
    first.transferred()
    way.forecast(first, tokens=10)
    first.path = "kv_inject"
    first.prepared()
    assert first.ticket is not None
    assert (first.ticket.stage, first.ticket.is_text) == ("released", False)
    approach = gate.upcoming.approach(way.clock.mono_s, 0)
    assert approach.place_in_ms == 0
    assert first.forecast is not None
    wait_ms = approach.wait_ms(0, passes=False)
    assert wait_ms == pytest.approx(first.forecast.service_ms), "as it is known by now"


async def test_what_is_known_to_be_text_when_it_is_prepared_may_pass() -> None:
    way = Way(queue_rules=QueueRules(release_policy="text_bypass"))
    way.measured()
    first, second = prepared(way), prepared(way)
    way.forecast(second)
    second.path = "kv_inject_failed_fallback_text"
    second.prepared()
    assert first.ticket is not None
    assert second.ticket is not None
    assert (first.ticket.stage, second.ticket.bypassed) == ("preparing", True)


# On the Instance


async def test_it_is_counted_on_the_timeline_as_it_was_predicted() -> None:
    way = Way()
    first, second = sent(way), sent(way)
    assert (first.is_alone, second.is_alone) == (True, False)
    assert first.forecast is not None
    service_ms = first.forecast.service_ms
    trace = second.story.trace.values
    assert trace["predict_queue_wait_ms"] == int(service_ms)
    assert trace["predict_vllm_internal_ms"] == int(2 * service_ms)
    assert trace["predict_prefill_service_ms"] == int(service_ms)
    assert (trace["predict_stage"], trace["predict_bs"]) == ("prefill", 1)
    assert (trace["predict_total_tokens"], trace["predict_reused_tokens"]) == (1074, 0)
    first_token_ms = 1_700_000_000_000 + 2 * service_ms
    assert trace["pred_first_token_ts_ms"] == pytest.approx(first_token_ms, abs=1)
    assert trace["pred_forward_end_ts_ms"] > trace["pred_first_token_ts_ms"]  # type: ignore[operator]
    assert len(second.gate.upcoming) == 0, "it comes no more, it is there"


async def test_a_first_token_corrects_what_is_predicted_for_the_others() -> None:
    way = Way()
    first, second = sent(way), sent(way)
    way.clock.wait(0.2)
    error_ratio = first.first_token(way.clock.mono_s)
    assert first.predicted_ttft_ms is not None
    assert error_ratio == pytest.approx(abs(first.predicted_ttft_ms - 200) / 200)
    assert second.reservation is not None
    assert second.reservation.prefill_start_s == pytest.approx(way.clock.mono_s)
    timeline = first.gate.board.timeline
    assert (timeline.pending_count, timeline.decode_count) == (1, 1)


async def test_a_stretch_of_prefills_teaches_the_way_they_went() -> None:
    way = Way()
    passage = sent(way)
    assert passage.forecast is not None
    way.clock.wait(2 * passage.forecast.uncorrected_ms / 1000)
    passage.first_token(way.clock.mono_s)
    corrections = way.proxy.forecasts.of(passage.member).corrections
    assert corrections.text_prefill.factor == pytest.approx(2.0)
    assert corrections.kv_prefill.count == 0


async def test_what_was_learned_does_not_teach_itself_to_be_forgotten() -> None:
    way = Way()
    for _ in range(6):
        passage = sent(way)
        assert passage.forecast is not None
        way.clock.wait(2 * passage.forecast.uncorrected_ms / 1000)
        passage.first_token(way.clock.mono_s)
        passage.end()
    correction = way.proxy.forecasts.of(passage.member).corrections.text_prefill
    assert correction.count == 6
    assert correction.factor == pytest.approx(2.0)


async def test_an_answer_in_one_piece_is_past_its_first_token_when_that_was_due() -> None:
    way = Way()
    passage = sent(way, stream=False)
    assert passage.forecast is not None
    timeline = passage.gate.board.timeline
    assert timeline.wait_ms(way.clock.mono_s) == pytest.approx(passage.forecast.service_ms)
    way.clock.wait(passage.forecast.service_ms / 1000 + 0.01)
    assert timeline.wait_ms(way.clock.mono_s) == 0
    assert (timeline.pending_count, timeline.decode_count) == (0, 1)
    passage.end()
    assert way.is_clean


async def test_an_answer_teaches_its_length_and_its_pace() -> None:
    way = Way()
    passage = sent(way)
    passage.answered(21, 400.0)
    learned = way.proxy.forecasts.of(passage.member)
    assert learned.answer_tokens == pytest.approx(128 + 0.1 * (21 - 128))
    tpot_ms = way.proxy.forecasts.coefficients.decode.tpot_ms(1074)
    assert learned.corrections.decode.factor == pytest.approx(20 / tpot_ms)


# What is told


async def test_what_was_measured_stands_beside_what_was_predicted() -> None:
    way = Way()
    passage = released(way)
    trace = passage.story.trace
    trace.mark("proxy_enqueue_ms", passage.placed_mono_s)
    way.clock.wait(0.3)
    trace.mark("ready_enqueue_ms", way.clock.mono_s)
    way.clock.wait(0.1)
    trace.mark("forward_start_ms", way.clock.mono_s)
    way.forecast(passage)
    passage.reserve()
    way.clock.wait(0.5)
    first_mono_s = way.clock.mono_s
    way.clock.wait(1.0)
    passage.sum_up(first_mono_s)
    told = trace.values
    measured = {
        "actual_know_prepare_ms": 300, "actual_prepare_total_ms": 300, "actual_ready_queue_ms": 100,
        "actual_vllm_internal_ms": 500, "actual_compute_ms": 500, "actual_total_ms": 900,
    }  # fmt: skip
    assert {name: told[name] for name in measured} == pytest.approx(measured, abs=1)
    assert told["ttft_observable"] == 1
    assert told["decode_end_ms"] - told["decode_start_ms"] == pytest.approx(1000, abs=1)  # type: ignore[operator]
    assert passage.predicted_ttft_ms is not None
    assert told["predict_error_ms"] == pytest.approx(900 - passage.predicted_ttft_ms, abs=1)
    assert "first_token_missing_reason" not in told


@pytest.mark.parametrize(("stream", "why"), [(True, "no_content"), (False, "answer_in_one_piece")])
async def test_without_a_first_token_its_trace_says_why(stream: bool, why: str) -> None:
    way = Way()
    passage = way.decided(stream=stream)
    passage.sum_up(None)
    told = passage.story.trace.values
    assert told["first_token_missing_reason"] == why
    assert told["ttft_observable"] == int(stream)
    assert "first_token_ms" not in told
    assert "actual_total_ms" not in told


async def test_the_log_keeps_predictions_and_what_came_of_them() -> None:
    way = Way()
    passage = sent(way)
    passage.path = "text_inject"
    way.clock.wait(0.25)
    passage.first_token(way.clock.mono_s)
    assert passage.predicted_ttft_ms is not None
    assert passage.forecast is not None
    assert passage.as_record() == KnowledgeRecord(
        path="text_inject",
        predicted_ttft_ms=round(passage.predicted_ttft_ms, 3),
        ttft_ms=250.0,
        service_ms=250.0,
        predicted_service_ms=round(passage.forecast.service_ms, 3),
        residual_tokens=1074,
        reused_tokens=0,
        alone=True,
    )
    early = way.decided()
    record = early.as_record()
    assert record is not None
    assert (record.path, record.ttft_ms, record.predicted_service_ms) == (None, None, None)


async def test_a_transfer_that_is_over_frees_the_link_whatever_was_predicted() -> None:
    way = Way()
    passage = way.decided()
    links, key = way.proxy.turnstiles.links, ("i-1", KDN)
    assert links.free_in_ms(key, way.clock.mono_s) > 900
    way.clock.wait(0.08)
    passage.transferred()
    passage.transferred()
    assert links.free_in_ms(key, way.clock.mono_s) == 0
