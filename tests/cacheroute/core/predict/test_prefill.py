"""protocol 3.8: time to first token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.predict.coefficients import PUBLISHED_CURVE, REFERENCE
from cacheroute.core.predict.prefill import PrefillModel, attention_pairs

PUBLISHED_TTFT_MS = {
    1: 60,
    36: 47.626,
    116: 108.175,
    200: 233.003,
    345: 472,
    346: 449.965,
    500: 678.815,
    1000: 1421.835,
    2400: 3502.292,
}

tokens = st.floats(0, 1e6)
rates = st.floats(0, 1e-2)


def a_model(**fields: float) -> PrefillModel:
    return PrefillModel(**({"a": 0.0, "b": 1e-3, "c": 0.0, "d": 0.0} | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(("length", "published_ms"), PUBLISHED_TTFT_MS.items())
def test_the_published_figures_come_out(length: int, published_ms: float) -> None:
    assert REFERENCE.prefill.predict_ms(length) == pytest.approx(published_ms, abs=1e-3)


def test_the_line_is_in_tokens_and_batch() -> None:
    model = PrefillModel(a=1.0, b=2.0, c=3.0, d=4.0)
    assert model.predict_ms(10, batch=5) == pytest.approx((50 + 20 + 15 + 4) * 1e3)


def test_a_short_prompt_is_on_the_curve_whatever_the_line_says() -> None:
    slow_line = PrefillModel(a=0.0, b=1.0, c=0.0, d=0.0, curve=PUBLISHED_CURVE)
    assert slow_line.predict_ms(115) == pytest.approx(95.67)
    assert slow_line.predict_ms(116) == pytest.approx(116_000)


def test_with_a_line_of_zeros_a_middling_prompt_is_on_the_curve_and_a_long_one_is_free() -> None:
    zeros = PrefillModel(a=0.0, b=0.0, c=0.0, d=0.0, curve=PUBLISHED_CURVE)
    assert zeros.predict_ms(303) == pytest.approx(396)
    assert zeros.predict_ms(346) == 0


def test_the_curve_is_for_one_request_at_a_time() -> None:
    model = PrefillModel(a=0.0, b=1e-3, c=0.0, d=0.0, curve=PUBLISHED_CURVE)
    assert model.predict_ms(35, batch=2) == pytest.approx(35)


def test_the_curve_holds_its_ends() -> None:
    model = PrefillModel(a=0.0, b=0.0, c=0.0, d=0.0, curve=((10.0, 7.0), (20.0, 9.0)))
    assert model.predict_ms(0) == 7
    assert model.predict_ms(20) == 9


def test_a_prediction_is_never_below_zero_or_the_floor() -> None:
    assert a_model(d=-1.0).predict_ms(10) == 0
    assert a_model(d=-1.0, floor_ms=5.0).predict_ms(10) == 5


def test_a_token_attends_to_the_context_to_those_before_it_and_to_itself() -> None:
    assert attention_pairs(100, 1000) == sum(1000 + before + 1 for before in range(100))
    model = PrefillModel(a=0.0, b=0.0, c=0.0, d=0.0, attention_s_per_pair=1e-6)
    assert model.predict_ms(100, 1000) == pytest.approx(105.05)


def test_a_prompt_read_in_chunks_has_the_pairs_of_one_read_at_once() -> None:
    chunks = ((2048, 0), (2048, 2048), (904, 4096))
    assert sum(attention_pairs(*chunk) for chunk in chunks) == attention_pairs(5000, 0)


def test_the_published_form_does_not_care_for_context() -> None:
    assert REFERENCE.prefill.predict_ms(500, 9000) == REFERENCE.prefill.predict_ms(500)


@given(tokens, tokens, tokens, rates, rates, st.floats(-1, 1), st.floats(0, 1e-6))
def test_more_to_read_never_takes_less(
    less: float, more: float, context: float, a: float, b: float, d: float, attention: float
) -> None:
    less, more = sorted((less, more))
    model = PrefillModel(a=a, b=b, c=0.0, d=d, attention_s_per_pair=attention)
    assert 0 <= model.predict_ms(less, context) <= model.predict_ms(more, context)
    assert model.predict_ms(context, less) <= model.predict_ms(context, more)
