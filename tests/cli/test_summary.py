"""Figures of a replay, and what they say about each other."""

import pytest

from cacheroute.demo.replay import Outcome
from cacheroute_cli.summary import COLUMNS, compare, row_of
from cacheroute_cli.tables import render_table


def an_outcome(
    index: int = 0,
    *,
    ttft_ms: float | None = 100.0,
    end_to_end_ms: float = 500.0,
    instance: str | None = "demo-1",
    cached: int | None = 10,
    failure: str | None = None,
) -> Outcome:
    return Outcome(
        index=index,
        ttft_ms=ttft_ms,
        end_to_end_ms=end_to_end_ms,
        instance=instance,
        prompt_tokens=100,
        cached_tokens=cached,
        failure=failure,
    )


def test_a_replay_is_summed_up_by_what_went_well() -> None:
    outcomes = [
        an_outcome(0, ttft_ms=100, instance="demo-2"),
        an_outcome(1, ttft_ms=300, instance="demo-1", cached=30),
        an_outcome(2, ttft_ms=1, end_to_end_ms=1, failure="HTTP 503: no"),
        an_outcome(3, ttft_ms=1, end_to_end_ms=1, failure="HTTP 503: no"),
        an_outcome(4, failure="odd"),
    ]

    row = row_of("round_robin", outcomes, took_s=1.0)

    assert (row.requests, row.failures) == (5, 3)
    assert (row.ttft_p50_ms, row.ttft_p90_ms) == (100, 300)
    assert row.cached_ratio == 0.2
    assert row.split == {"demo-1": 1, "demo-2": 1}
    assert row.why_failed == ["2x HTTP 503: no", "1x odd"]


def test_what_nobody_reported_is_unknown() -> None:
    row = row_of("x", [an_outcome(cached=None, instance=None)], took_s=1.0)

    assert row.cached_ratio is None
    assert row.split == {"?": 1}


def test_a_replay_in_which_all_failed_has_no_times() -> None:
    row = row_of("x", [an_outcome(failure="no")], took_s=1.0)

    assert (row.ttft_p50_ms, row.end_to_end_p90_ms, row.cached_ratio) == (None, None, None)


def test_strategies_are_compared_by_how_much_they_change() -> None:
    first = row_of("rr", [an_outcome(ttft_ms=100, end_to_end_ms=1000)], took_s=1)
    other = row_of("ll", [an_outcome(ttft_ms=80, end_to_end_ms=1100)], took_s=1)

    assert compare(first, other) == (
        "ll against rr: TTFT P50 -20%, TTFT P90 -20%, end-to-end P90 +10%"
    )
    nothing = row_of("none", [an_outcome(failure="no")], took_s=1)
    assert compare(nothing, other) is None


@pytest.mark.parametrize("width", [80])
def test_the_summary_fits_eighty_columns(width: int) -> None:
    outcomes = [
        an_outcome(n, ttft_ms=9_999, end_to_end_ms=99_999, instance=f"demo-{n % 3}")
        for n in range(302)
    ]
    row = row_of("round_robin", outcomes, took_s=1)

    lines = render_table(COLUMNS, [row], width=width, color=False)

    assert all(len(line) <= width for line in lines)
    assert "101/101/100" in lines[1]
