"""What a log teaches, and what it must not."""

from typing import Any

import pytest

from cacheroute.core.predict.lessons import (
    MIN_OF_BATCH,
    LoggedKnowledge,
    LoggedRequest,
    learn,
    models_of,
)


def a_request(at: float = 0.0, **given: Any) -> LoggedRequest:
    whole: dict[str, Any] = {
        "at": at,
        "endpoint": "chat/completions",
        "model": "m",
        "stream": True,
        "instance": "i-1",
        "attempts": 1,
        "outcome": "ok",
        "ttft_ms": 100.0,
        "e2e_ms": 300.0,
        "prompt_tokens": 500,
        "completion_tokens": 21,
        "cached_tokens": 0,
        "knowledge": None,
        **given,
    }
    return LoggedRequest(**whole)


def knowledge(**given: Any) -> LoggedKnowledge:
    whole: dict[str, Any] = {
        "service_ms": 80.0,
        "residual_tokens": 400,
        "reused_tokens": 0,
        "alone": True,
        **given,
    }
    return LoggedKnowledge(**whole)


def test_a_plain_request_that_was_alone_teaches_prefill_by_the_instances_counts() -> None:
    lessons = learn([a_request(cached_tokens=128)])

    [sample] = lessons.by_count
    assert (sample.uncached_tokens, sample.context_tokens, sample.ttft_ms) == (372, 128, 100)
    assert (lessons.by_forecast, lessons.kv, lessons.left_out) == ([], [], {})


def test_a_schedulers_request_teaches_prefill_by_the_counts_of_forecasts() -> None:
    lessons = learn([a_request(knowledge=knowledge())])

    [sample] = lessons.by_forecast
    assert (sample.uncached_tokens, sample.context_tokens, sample.ttft_ms) == (400, 0, 80)
    assert lessons.by_count == []


def test_one_that_reused_kv_teaches_its_whole_service_time() -> None:
    lessons = learn([a_request(knowledge=knowledge(reused_tokens=512), cached_tokens=None)])

    [service] = lessons.kv
    assert (service.residual_tokens, service.reused_tokens, service.service_ms) == (400, 512, 80)
    assert lessons.by_forecast == []


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"outcome": "upstream_error"}, "did not go well at once"),
        ({"attempts": 2}, "did not go well at once"),
        ({"instance": None}, "did not go well at once"),
        ({"endpoint": "messages"}, "no chat"),
        ({"stream": False}, "not streamed"),
        ({"ttft_ms": None}, "not streamed"),
        ({"prompt_tokens": None}, "tokens not counted"),
        ({"cached_tokens": None}, "cached tokens not told"),
        ({"cached_tokens": 500}, "nothing computed"),
        ({"knowledge": knowledge(alone=False)}, "not alone"),
        ({"knowledge": knowledge(service_ms=None)}, "not forecast"),
        ({"knowledge": knowledge(residual_tokens=None)}, "not forecast"),
        ({"knowledge": knowledge(), "cached_tokens": 256}, "cached otherwise than forecast"),
        (
            {"knowledge": knowledge(reused_tokens=512), "cached_tokens": 0},
            "cached otherwise than forecast",
        ),
    ],
)
def test_what_is_ambiguous_teaches_no_prefill_and_is_counted(
    given: dict[str, Any], reason: str
) -> None:
    lessons = learn([a_request(**given)])

    assert (lessons.by_count, lessons.by_forecast, lessons.kv) == ([], [], [])
    assert lessons.left_out == {reason: 1}


def test_what_every_prompt_begins_with_may_be_in_the_cache() -> None:
    lessons = learn([a_request(knowledge=knowledge(), cached_tokens=32)])

    assert len(lessons.by_forecast) == 1


@pytest.mark.parametrize(("other_at", "alone"), [(-0.31, True), (-0.29, False), (0.09, False)])
def test_whoever_was_there_before_the_first_token_took_part_of_the_time(
    other_at: float, alone: bool
) -> None:
    other = a_request(other_at, stream=False, ttft_ms=None)
    lessons = learn([other, a_request(0.0)])

    assert len(lessons.by_count) == alone
    assert lessons.left_out["not alone"] == (not alone)


def test_somebody_elsewhere_or_later_did_not() -> None:
    others = [a_request(0.0, instance="i-2"), a_request(0.1)]
    lessons = learn([a_request(0.0), *others])

    assert len(lessons.by_count) == 2  # the later one came while the first was decoding


def test_one_that_failed_was_there_all_the_same() -> None:
    lessons = learn([a_request(0.0), a_request(0.05, outcome="timeout", ttft_ms=None)])

    assert lessons.by_count == []


def test_requests_to_other_models_are_in_the_way_and_no_measurement() -> None:
    requests = [a_request(0.0), a_request(0.05, model="other"), a_request(9.0)]

    assert len(learn(requests, model="m").by_count) == 1
    assert learn(requests, model="m").left_out == {"not alone": 1}
    assert models_of(requests) == {"m": 2, "other": 1}


def test_a_steady_answer_teaches_the_time_per_token() -> None:
    lessons = learn([a_request(10.0 * n) for n in range(MIN_OF_BATCH)])

    assert len(lessons.decode) == MIN_OF_BATCH
    sample = lessons.decode[0]
    assert sample.tpot_ms == pytest.approx(10)
    assert (sample.context_tokens, sample.batch) == (510.5, 1)


def test_a_batch_is_who_decoded_together_all_the_time() -> None:
    pairs = [a_request(10.0 * n + offset) for n in range(2) for offset in (0.0, 0.001)]
    lessons = learn(pairs)

    # Of each pair, the first had its neighbour's prefill to wait for.
    assert lessons.decode == []
    four = [a_request(10.0 * n + offset) for n in range(4) for offset in (0.0, 0.001)]
    assert [sample.batch for sample in learn(four).decode] == [2] * 4


@pytest.mark.parametrize(
    "other",
    [
        a_request(0.15),  # came in between
        a_request(-0.05, ttft_ms=200.0),  # got its first token in between
        a_request(-0.1, e2e_ms=300.0),  # left in between
        a_request(-0.1, ttft_ms=None, stream=False, e2e_ms=900.0),  # nobody knows
    ],
)
def test_an_answer_whose_neighbours_changed_teaches_nothing_of_decoding(
    other: LoggedRequest,
) -> None:
    one = a_request(0.0)
    lessons = learn([one, other, *[a_request(10.0 * n) for n in range(1, MIN_OF_BATCH)]])

    assert not any(sample.batch > 1 for sample in lessons.decode)
    # One short of enough, unless the neighbour itself was steady.
    assert len(lessons.decode) in (0, MIN_OF_BATCH)


def test_a_short_answer_has_no_pace() -> None:
    assert learn([a_request(10.0 * n, completion_tokens=7) for n in range(8)]).decode == []


def test_a_log_of_nothing_teaches_nothing() -> None:
    lessons = learn([])

    assert (lessons.by_count, lessons.decode, lessons.left_out) == ([], [], {})
