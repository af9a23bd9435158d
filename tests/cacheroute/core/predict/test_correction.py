"""What an Instance teaches about its own predictions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.predict.correction import MAX_FACTOR, Correction, Corrections, Factors

NOTHING = [None, 0, -1, math.nan, math.inf]


def test_nothing_is_corrected_before_anything_was_seen() -> None:
    correction = Correction()
    assert (correction.factor, correction.count) == (1.0, 0)


def test_the_first_observation_counts_in_full() -> None:
    correction = Correction()
    assert correction.observe(100, 300)
    assert correction.factor == pytest.approx(3)


def test_twice_as_slow_and_twice_as_fast_cancel_out() -> None:
    correction = Correction()
    correction.observe(100, 200)
    correction.observe(100, 50)
    assert correction.factor == pytest.approx(1)


@pytest.mark.parametrize("value", NOTHING)
def test_a_pair_that_says_nothing_is_left_out(value: float | None) -> None:
    correction = Correction()
    assert not correction.observe(value, 10)
    assert not correction.observe(10, value)
    assert (correction.factor, correction.count) == (1.0, 0)


@pytest.mark.parametrize(("actual", "factor"), [(1e300, MAX_FACTOR), (1e-300, 1 / MAX_FACTOR)])
def test_the_factor_is_bounded(actual: float, factor: float) -> None:
    correction = Correction()
    correction.observe(1e-5 if actual > 1 else 1e5, actual)
    assert correction.factor == pytest.approx(factor)


def test_after_its_half_life_an_observation_weighs_half() -> None:
    correction = Correction(half_life=4)
    for _ in range(1000):
        correction.observe(100, 100)
    for _ in range(4):
        correction.observe(100, 1600)
    assert correction.factor == pytest.approx(4)


@given(st.floats(1 / 60, 60), st.integers(1, 50))
def test_a_constant_ratio_is_found_at_once_and_kept(ratio: float, times: int) -> None:
    correction = Correction()
    for step in range(times):
        correction.observe(10.0 + step, (10.0 + step) * ratio)
    assert correction.factor == pytest.approx(ratio)
    assert correction.count == times


@given(st.floats(1 / 60, 60), st.lists(st.floats(1 / 60, 60), max_size=20))
def test_the_true_ratio_is_reached_from_any_past(ratio: float, past: list[float]) -> None:
    correction = Correction()
    for wrong in past:
        correction.observe(100, 100 * wrong)
    for _ in range(150):
        correction.observe(100, 100 * ratio)
    assert correction.factor == pytest.approx(ratio, rel=0.01)


@pytest.mark.parametrize("half_life", [0, -1, math.nan, math.inf])
def test_a_half_life_is_positive_and_finite(half_life: float) -> None:
    with pytest.raises(ValueError, match=r"^half_life must be a positive, finite number"):
        Correction(half_life)


def test_each_kind_of_prediction_is_corrected_by_itself() -> None:
    corrections = Corrections()
    assert corrections.factors == Factors()
    corrections.kv_prefill.observe(10, 20)
    corrections.transfer.observe(10, 5)
    factors = corrections.factors
    assert factors.kv_prefill == pytest.approx(2)
    assert factors.transfer == pytest.approx(0.5)
    assert (factors.text_prefill, factors.decode) == (1, 1)
