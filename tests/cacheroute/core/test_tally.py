import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cacheroute.core.tally import (
    ERROR_RATIOS,
    MILLISECONDS,
    SECONDS,
    TOKEN_SECONDS,
    Histogram,
    Tally,
)

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

BOUNDS = (0.1, 1.0, 10.0)


def test_a_value_falls_under_the_first_bound_that_is_not_below_it() -> None:
    histogram = Histogram(BOUNDS)
    for value in (0.0, 0.1, 0.11, 1.0, 10.0, 10.1):
        histogram.observe(value)
    assert histogram.cumulative() == [("0.1", 2.0), ("1.0", 4.0), ("10.0", 5.0), ("+Inf", 6.0)]
    assert histogram.total == pytest.approx(21.31)


def test_a_histogram_begins_at_nothing() -> None:
    assert Histogram(BOUNDS).cumulative() == [
        ("0.1", 0.0), ("1.0", 0.0), ("10.0", 0.0), ("+Inf", 0.0),
    ]  # fmt: skip
    assert Histogram(BOUNDS).total == 0.0


@patient
@given(st.lists(st.floats(0, 1e6)))
def test_a_histogram_counts_as_prometheus_means_it(values: list[float]) -> None:
    histogram = Histogram(BOUNDS)
    for value in values:
        histogram.observe(value)
    expected = [float(sum(v <= bound for v in values)) for bound in (*BOUNDS, math.inf)]
    assert [count for _, count in histogram.cumulative()] == expected
    assert histogram.total == pytest.approx(sum(values))


@pytest.mark.parametrize("bounds", [SECONDS, TOKEN_SECONDS, MILLISECONDS, ERROR_RATIOS])
def test_bounds_rise(bounds: tuple[float, ...]) -> None:
    assert list(bounds) == sorted(set(bounds))


def test_failures_are_counted_by_cause() -> None:
    tally = Tally()
    for cause in ("client_gone", "upstream_closed", "client_gone"):
        tally.fail(cause)
    assert tally.failures == {"client_gone": 2, "upstream_closed": 1}


def test_two_tallies_share_nothing() -> None:
    one, other = Tally(), Tally()
    one.ttft_s.observe(0.2)
    one.fail("x")
    assert other.ttft_s.total == 0.0
    assert other.failures == {}


def test_a_tally_that_absorbs_another_counts_what_both_have_counted() -> None:
    one, other = Tally(), Tally()
    for tally, words in ((one, ("a", "b")), (other, ("b",))):
        tally.requests, tally.prompt_tokens = 2, 10
        tally.ttft_s.observe(0.02)
        for word in words:
            tally.fail(word)
    other.paths["kv_inject"] = 3

    one.absorb(other)

    assert (one.requests, one.prompt_tokens) == (4, 20)
    assert one.failures == {"a": 1, "b": 2}
    assert one.paths == {"kv_inject": 3}
    assert sum(one.ttft_s.counts) == 2
    assert one.ttft_s.total == pytest.approx(0.04)
    assert len(one.histograms) == 5
