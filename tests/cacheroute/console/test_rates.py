"""What two looks tell together."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from cacheroute.console.look import Look
from cacheroute.console.rates import UNTOLD, quantile_ms, rates_of
from cacheroute.wire.console import Totals
from tests.tui.fleet import BOUNDS_S, WALL_S, drawn_fleet


def look(requests: int, counts: list[int], *, after_s: float = 0.0, run: str = "one") -> Look:
    totals = Totals(
        requests=requests,
        failures=requests // 10,
        completion_tokens=7 * requests,
        ttft_counts=counts,
        ttft_bounds_s=BOUNDS_S,
    )
    document = changed(drawn_fleet(), totals=totals, generated_at=WALL_S + after_s, run=run)
    return Look(snapshot=document, url="u")


def test_a_rate_is_the_difference_over_the_time_between() -> None:
    before = look(100, [0, 0, 0, 0, 0, 0])
    now = look(180, [0, 20, 0, 0, 0, 0], after_s=2.0)

    found = rates_of(before, now)

    assert found.requests_s == 40.0
    assert found.failures_s == 4.0
    assert found.completion_tokens_s == 280.0
    # Half of twenty lie half way between 100 and 250 ms.
    assert found.ttft_p50_ms == 175.0


def test_one_look_alone_a_restart_and_no_time_tell_nothing() -> None:
    before = look(100, [0] * 6)

    assert rates_of(None, before) is UNTOLD
    assert rates_of(before, look(3, [0] * 6, after_s=1.0, run="two")) is UNTOLD
    assert rates_of(before, before) is UNTOLD
    silent = replace(before, snapshot=changed(before.snapshot, totals=None))
    assert rates_of(silent, look(100, [0] * 6, after_s=1.0)) is UNTOLD


def test_without_a_first_token_there_is_no_quantile() -> None:
    found = rates_of(look(1, [5] * 6), look(2, [5] * 6, after_s=1.0))

    assert found.requests_s == 1.0
    assert found.ttft_p95_ms is None


def test_above_the_last_bound_it_is_that_bound() -> None:
    assert quantile_ms([0, 0, 0, 0, 0, 9], BOUNDS_S, 0.5) == 2_500.0


@given(st.lists(st.integers(0, 1_000), min_size=6, max_size=6), st.floats(0.01, 0.99))
def test_a_quantile_grows_with_its_share(counts: list[int], share: float) -> None:
    low, high = quantile_ms(counts, BOUNDS_S, share / 2), quantile_ms(counts, BOUNDS_S, share)

    assert (low is None) == (not sum(counts))
    assert low is None or high is None or low <= high
