"""protocol 3.3: what one request costs its Instance."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.predict.coefficients import PUBLISHED
from cacheroute.core.predict.correction import Factors
from cacheroute.core.predict.service import ServiceForecast, predict_service


def forecast(**given_numbers: Any) -> ServiceForecast:
    numbers: dict[str, Any] = {
        "prompt_tokens": 50,
        "knowledge_tokens": 1024,
        "header_tokens": 36,
        "mode": "text",
    }
    return predict_service(coefficients=PUBLISHED, **(numbers | given_numbers))


def test_text_is_computed_as_a_whole() -> None:
    found = forecast()
    assert (found.reused_tokens, found.residual_tokens, found.total_tokens) == (0, 1110, 1110)
    assert found.pull_ms == 0
    assert found.service_ms == found.prefill_ms == PUBLISHED.prefill.predict_ms(1110)


def test_kv_is_loaded_in_whole_blocks_and_the_rest_is_computed() -> None:
    found = forecast(mode="kvcache", knowledge_tokens=1000, reusable_tokens=1000)
    assert (found.reused_tokens, found.residual_tokens) == (768, 50 + 232 + 36)
    assert found.pull_ms == pytest.approx(768 * 0.0000381 * 2764.3407821694204 + 12.460820712239126)
    assert found.service_ms == pytest.approx(found.pull_ms + found.prefill_ms)


def test_kv_that_was_not_injected_is_computed_and_nothing_is_loaded() -> None:
    assert forecast(mode="kvcache", reusable_tokens=0) == forecast()


def test_text_reuses_nothing_even_if_something_could_be() -> None:
    assert forecast(reusable_tokens=1024) == forecast()


def test_no_more_is_reused_than_the_knowledge_has() -> None:
    assert forecast(mode="kvcache", reusable_tokens=10**9).reused_tokens == 1024


def test_knowledge_that_was_not_found_counts_nothing() -> None:
    """The published rule counts it even where the fetch missed."""
    assert forecast(knowledge_tokens=0).total_tokens == 86


def test_there_is_always_a_token_to_compute() -> None:
    found = forecast(prompt_tokens=0, knowledge_tokens=0, header_tokens=0)
    assert (found.residual_tokens, found.total_tokens) == (1, 1)


def test_the_rest_of_the_answer_is_counted_by_the_token() -> None:
    found = forecast(output_tokens=20)
    assert found.tpot_ms == PUBLISHED.decode.tpot_ms(1110)
    assert found.decode_ms == pytest.approx(20 * found.tpot_ms)


def test_what_was_learned_is_applied_and_the_model_is_told_as_well() -> None:
    factors = Factors(text_prefill=2, kv_prefill=3, decode=4)
    plain, text = forecast(), forecast(factors=factors)
    assert text.service_ms == pytest.approx(2 * plain.service_ms)
    assert text.uncorrected_ms == plain.service_ms == plain.uncorrected_ms
    assert text.tpot_ms == pytest.approx(4 * plain.tpot_ms)
    kv = forecast(mode="kvcache", reusable_tokens=1024, factors=factors)
    assert kv.service_ms == pytest.approx(3 * kv.uncorrected_ms)
    assert kv.service_ms == pytest.approx(kv.prefill_ms + kv.pull_ms)


@given(*[st.integers(-10, 10**6)] * 3, st.sampled_from(["text", "kvcache", "?"]))
def test_every_token_is_either_reused_or_computed(
    prompt: int, knowledge: int, reusable: int, mode: str
) -> None:
    found = forecast(
        prompt_tokens=prompt, knowledge_tokens=knowledge, reusable_tokens=reusable, mode=mode
    )
    assert found.reused_tokens + found.residual_tokens == found.total_tokens
    assert found.service_ms >= 0
