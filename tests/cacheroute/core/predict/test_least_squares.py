"""Lines through measurements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.predict.least_squares import fit

XS = [1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0]
ONES = [1.0] * len(XS)


@given(st.floats(0.001, 1000), st.floats(0.001, 1000))
def test_a_line_is_found_again(slope: float, intercept: float) -> None:
    found = fit([XS, ONES], [slope * x + intercept for x in XS])
    assert found == pytest.approx([slope, intercept], rel=1e-6)


def test_a_column_that_follows_from_those_before_it_gets_nothing() -> None:
    doubled = [2 * x for x in XS]
    assert fit([XS, doubled, ONES], [3 * x + 1 for x in XS]) == pytest.approx([3, 0, 1])


def test_what_may_not_be_negative_is_left_out_and_the_rest_fitted_again() -> None:
    falling = [100 - x for x in XS]
    assert fit([XS, ONES], falling)[0] < 0
    slope, level = fit([XS, ONES], falling, {0})
    assert slope == 0
    assert min(falling) < level < max(falling)


def test_a_few_that_are_far_off_hardly_count() -> None:
    xs = [float(x) for x in range(1, 41)]
    measured = [2 * x + 1 + (0.01 if x % 2 else -0.01) for x in xs]
    measured[5] *= 10
    measured[20] *= 8
    assert fit([xs, [1.0] * 40], measured) == pytest.approx([2, 1], rel=0.05)


def test_errors_count_relative_to_what_was_measured() -> None:
    """One constant for 10 and 1000: an absolute fit would take 505."""
    [level] = fit([[1.0, 1.0]], [10.0, 1000.0])
    assert 10 <= level < 20
