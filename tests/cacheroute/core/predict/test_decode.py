"""protocol 3.8: time per output token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.predict.coefficients import PUBLISHED
from cacheroute.core.predict.decode import DecodeLine, DecodeModel

ONE = DecodeLine(batch=1, slope_s=1e-6, intercept_s=0.020)
FIVE = DecodeLine(batch=5, slope_s=3e-6, intercept_s=0.040)
MODEL = DecodeModel(by_batch=(ONE, FIVE))


def test_the_published_fit_comes_out() -> None:
    assert PUBLISHED.decode.tpot_ms(1000) == pytest.approx(0.2017646 + 23.94211)
    assert PUBLISHED.decode.tpot_ms(0, batch=7) == pytest.approx(27.66)


def test_a_batch_between_two_measured_ones_is_between_them() -> None:
    assert MODEL.tpot_ms(1000, batch=3) == pytest.approx((21 + 43) / 2)


@pytest.mark.parametrize("batch", [5, 6, 1000])
def test_beyond_the_largest_measured_batch_the_largest_holds(batch: int) -> None:
    assert MODEL.tpot_ms(1000, batch=batch) == pytest.approx(43)


def test_below_the_smallest_measured_batch_the_smallest_holds() -> None:
    assert DecodeModel(by_batch=(FIVE,)).tpot_ms(1000, batch=1) == pytest.approx(43)


def test_a_model_without_lines_per_batch_grows_by_the_request() -> None:
    model = DecodeModel(by_batch=(ONE,), per_request_s=0.001)
    assert model.tpot_ms(0, batch=4) == pytest.approx(20 + 3)


def test_a_token_never_takes_less_than_nothing() -> None:
    line = DecodeLine(batch=1, slope_s=-1.0, intercept_s=0.0)
    assert DecodeModel(by_batch=(line,)).tpot_ms(10) == 0


@pytest.mark.parametrize("lines", [(), (FIVE, ONE), (ONE, ONE)])
def test_lines_are_one_per_batch_in_rising_order(lines: tuple[DecodeLine, ...]) -> None:
    with pytest.raises(ValueError, match=r"^by_batch needs one line per batch, in rising order"):
        DecodeModel(by_batch=lines)


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 20))
def test_more_context_never_takes_less(less: float, more: float, batch: int) -> None:
    less, more = sorted((less, more))
    assert MODEL.tpot_ms(less, batch=batch) <= MODEL.tpot_ms(more, batch=batch) * (1 + 1e-12)
