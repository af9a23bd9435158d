"""How wrong predictions were."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.predict.errors import (
    PredictionErrors,
    error_ratio,
    quantile,
)


@pytest.mark.parametrize(
    ("predicted", "actual", "ratio"), [(110, 100, 0.1), (90, 100, 0.1), (0, 5, 1), (7, 7, 0)]
)
def test_an_error_is_relative_to_what_happened(
    predicted: float, actual: float, ratio: float
) -> None:
    assert error_ratio(predicted, actual) == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("predicted", "actual"),
    [(None, 1), (1, None), (1, 0), (1, -1), (-1, 1), (math.nan, 1), (1, math.inf), (1e300, 1e-300)],
)
def test_a_pair_without_meaning_has_no_error(predicted: float | None, actual: float | None) -> None:
    errors = PredictionErrors()
    assert errors.add(predicted, actual) is None
    assert (errors.count, errors.p50_ratio, errors.p90_ratio) == (0, None, None)


def test_a_copy_of_the_window_stays_as_it_was() -> None:
    errors = PredictionErrors(window=2)
    for predicted in (110, 120, 130):
        errors.add(predicted, 100)
    recent = errors.recent
    errors.add(140, 100)
    assert recent == pytest.approx((0.2, 0.3))
    assert errors.count == 4


def test_half_and_nine_in_ten_are_told() -> None:
    errors = PredictionErrors()
    for percent in range(1, 11):
        assert errors.add(100 + percent, 100) == pytest.approx(percent / 100)
    assert errors.p50_ratio == pytest.approx(0.05)
    assert errors.p90_ratio == pytest.approx(0.09)


def test_the_window_forgets_and_the_count_does_not() -> None:
    errors = PredictionErrors(window=4)
    for _ in range(10):
        errors.add(200, 100)
    for _ in range(4):
        errors.add(100, 100)
    assert errors.p90_ratio == 0
    assert errors.count == 14


@given(st.lists(st.floats(0, 10), min_size=1), st.floats(0, 1))
def test_a_quantile_is_one_of_the_values_and_enough_are_below_it(
    values: list[float], share: float
) -> None:
    found = quantile(values, share)
    assert found in values
    assert sum(v <= found for v in values) >= share * len(values) - 1e-9
