"""Predictions start from the fleet's coefficients and follow what is seen of each Instance."""

import math

import pytest

from cacheroute.core.dispatch.busy import BusyPeriod
from cacheroute.core.pool_member import Member
from cacheroute.core.predict.coefficients import PUBLISHED
from cacheroute.runtime.forecasts import Forecasts
from tests.cacheroute.core.injection.injection_builders import a_task
from tests.cacheroute.core.pool_builders import an_instance

KDN = "10.0.0.7:9101"
FIRST, SECOND = (Member(an_instance(f"i-{n}", port=n)) for n in (1, 2))


def forecasts() -> Forecasts:
    return Forecasts(PUBLISHED, 36)


def text_ms(each: Forecasts, member: Member = FIRST) -> float:
    return each.service(member, a_task(), mode="text", knowledge_tokens=1024).service_ms


def kv_ms(each: Forecasts, member: Member = FIRST) -> float:
    forecast = each.service(
        member, a_task(), mode="kvcache", knowledge_tokens=1024, reusable_tokens=1024
    )
    assert forecast.reused_tokens == 1024
    return forecast.service_ms


def period(path: str, actual_ms: float, model_ms: float) -> BusyPeriod:
    return BusyPeriod(
        predicted_ms={path: model_ms}, model_ms={path: model_ms}, actual_ms=actual_ms, members=1
    )


def test_a_full_step_takes_what_its_prompts_would_on_this_instance() -> None:
    each = forecasts()
    as_modelled_ms = PUBLISHED.prefill.predict_ms(2048)
    assert each.step_ms(FIRST) == as_modelled_ms
    each.saw_prefills(FIRST, period("text", 3000, 1000))
    assert each.step_ms(FIRST) == pytest.approx(3 * as_modelled_ms)
    assert each.step_ms(SECOND) == as_modelled_ms


def test_a_new_instance_is_as_fast_as_the_coefficients_say() -> None:
    each = forecasts()
    prefill_ms = PUBLISHED.prefill.predict_ms(50 + 1024 + 36)
    assert text_ms(each) == pytest.approx(prefill_ms)
    rest_ms = PUBLISHED.prefill.predict_ms(50 + 36, 1024)
    pull_ms = PUBLISHED.pull.pull_ms(PUBLISHED.kv.redis_gb(1024))
    assert kv_ms(each) == pytest.approx(rest_ms + pull_ms)


@pytest.mark.parametrize("path", ["text", "kv"])
def test_what_is_seen_of_one_way_and_one_instance_says_nothing_of_others(path: str) -> None:
    each = forecasts()
    before = {"text": text_ms(each), "kv": kv_ms(each)}
    each.saw_prefills(FIRST, period(path, 3000, 1000))
    after = {"text": text_ms(each), "kv": kv_ms(each)}
    other = "kv" if path == "text" else "text"
    assert after[path] == pytest.approx(3 * before[path])
    assert after[other] == before[other]
    assert (text_ms(each, SECOND), kv_ms(each, SECOND)) == (before["text"], before["kv"])


def test_the_model_is_compared_and_not_what_was_made_of_it() -> None:
    """Else a correction would teach itself to be forgotten."""
    each = forecasts()
    model_ms = text_ms(each)
    for _ in range(50):
        each.saw_prefills(FIRST, period("text", 2 * model_ms, model_ms))
    assert text_ms(each) == pytest.approx(2 * model_ms)


def test_two_ways_that_went_together_are_both_as_slow_as_they_were_together() -> None:
    each = forecasts()
    before = {"text": text_ms(each), "kv": kv_ms(each)}
    together = BusyPeriod(
        predicted_ms={"text": 1000, "kv": 500},
        model_ms={"text": 1000, "kv": 250},
        actual_ms=3000,
        members=3,
    )
    each.saw_prefills(FIRST, together)
    assert text_ms(each) == pytest.approx(2 * before["text"])
    assert kv_ms(each) == pytest.approx(4 * before["kv"])


def test_transfers_have_a_factor_of_their_own() -> None:
    each = forecasts()
    each.saw_transfer(FIRST, 1000, 250)
    factors = each.of(FIRST).corrections.factors
    assert factors.transfer == pytest.approx(0.25)
    assert (factors.text_prefill, factors.kv_prefill, factors.decode) == (1, 1, 1)


def test_answers_teach_how_long_they_are_and_how_fast() -> None:
    each = forecasts()
    start = each.of(FIRST).answer_tokens
    each.saw_answer(FIRST, tokens=28, decode_ms=270.0, model_tpot_ms=5.0)
    assert each.of(FIRST).answer_tokens == pytest.approx(start + 0.1 * (28 - start))
    assert each.of(FIRST).corrections.factors.decode == pytest.approx(2.0)


@pytest.mark.parametrize(("tokens", "decode_ms"), [(1, 3.0), (5, None)])
def test_an_answer_whose_pace_cannot_be_seen_teaches_no_pace(
    tokens: int, decode_ms: float | None
) -> None:
    each = forecasts()
    each.saw_answer(FIRST, tokens=tokens, decode_ms=decode_ms, model_tpot_ms=5.0)
    assert each.of(FIRST).corrections.decode.count == 0


@pytest.mark.parametrize(
    ("max_tokens", "tokens"), [(None, 127), (10, 9), (1, 0), (0, 0), (1_000_000, 127), (2.5, 1)]
)
def test_an_answer_is_no_longer_than_was_asked_for(max_tokens: float | None, tokens: int) -> None:
    forecast = forecasts().service(
        FIRST, a_task(max_tokens=max_tokens), mode="text", knowledge_tokens=0
    )
    assert forecast.decode_ms == pytest.approx(tokens * forecast.tpot_ms)


def test_a_lookup_waits_for_a_whole_transfer_until_it_was_seen_not_to() -> None:
    each = forecasts()
    assert each.lookup_share_ratio(KDN) == 1.0
    for _ in range(12):
        each.saw_lookup(KDN, waited_ms=-1.0, transfer_ms=500)
    assert each.lookup_share_ratio(KDN) == pytest.approx(0.0, abs=0.001)
    each.saw_lookup(KDN, waited_ms=9999, transfer_ms=500)
    assert each.lookup_share_ratio(KDN) == pytest.approx(0.5, abs=0.001)
    assert each.lookup_share_ratio("other:1") == 1.0


def test_a_lookup_beside_no_transfer_tells_nothing() -> None:
    each = forecasts()
    each.saw_lookup(KDN, waited_ms=0, transfer_ms=19.9)
    assert each.lookup_share_ratio(KDN) == 1.0


def test_what_is_known_of_nodes_is_bounded_and_the_oldest_goes() -> None:
    each = forecasts()
    for number in range(300):
        each.saw_lookup(f"kdn-{number}:1", waited_ms=0, transfer_ms=100)
    assert len(each._lookups) == 256
    assert each.lookup_share_ratio("kdn-0:1") == 1.0
    assert each.lookup_share_ratio("kdn-299:1") == 0.5


def test_errors_are_kept_for_each_instance_and_for_all() -> None:
    each = forecasts()
    assert each.saw_ttft(FIRST, 150, 100) == pytest.approx(0.5)
    assert each.saw_ttft(SECOND, 100, 100) == 0.0
    assert each.saw_ttft(SECOND, 100, 0) is None
    assert each.saw_ttft(SECOND, math.nan, 100) is None
    assert each.errors.count == 2
    assert (each.of(FIRST).errors.p50_ratio, each.of(SECOND).errors.p50_ratio) == (0.5, 0.0)


def test_an_instance_that_leaves_takes_what_is_known_of_it_along() -> None:
    each = forecasts()
    each.saw_prefills(FIRST, period("text", 3000, 1000))
    assert [member for member, _ in each.known()] == [FIRST]
    each.forget(FIRST)
    each.forget(FIRST)
    assert list(each.known()) == []
    assert each.of(FIRST).corrections.factors.text_prefill == 1
