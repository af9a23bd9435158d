"""Outcomes summed up: rows, the mix, and what is gained over it."""

import pytest

from cacheroute.demo.knowledge.figures import Run, compare, mix_of, row_of
from cacheroute.demo.knowledge.outcome import Outcome


def an_outcome(
    ttft_ms: float | None = 300.0,
    *,
    predicted_ms: int | None = 300,
    actual_ms: int | None = 300,
    path: str = "text_inject",
    link_wait_ms: float | None = None,
    failure: str | None = None,
) -> Outcome:
    return Outcome(
        number=1,
        text_tokens=300,
        ttft_ms=ttft_ms,
        predicted_ms=predicted_ms,
        actual_ms=actual_ms,
        path=path,
        reason="text_score_better" if path == "text_inject" else "kvcache_score_better",
        link_wait_ms=link_wait_ms,
        failure=failure,
    )


def a_run(way: str, *outcomes: Outcome, gbps: float = 1.0) -> Run:
    return Run(bandwidth_gbps=gbps, way=way, outcomes=outcomes)


def test_a_row_is_of_the_requests_that_went_well() -> None:
    row = row_of(
        a_run(
            "iws",
            an_outcome(100.0, path="kv_inject", link_wait_ms=20.0),
            an_outcome(200.0, path="kv_inject", link_wait_ms=None),
            an_outcome(600.0, predicted_ms=None),
            an_outcome(9000.0, predicted_ms=1, actual_ms=9000, failure="HTTP 503: no"),
        )
    )

    assert (row.way, row.bandwidth_gbps, row.requests, row.failures) == ("iws", 1.0, 4, 1)
    assert (row.ttft_mean_ms, row.ttft_p50_ms, row.ttft_p90_ms) == (300.0, 200.0, 600.0)
    assert row.predicted_mean_ms == 300.0
    assert row.kv_ratio == pytest.approx(2 / 3)
    assert row.link_wait_mean_ms == 10.0
    assert row.reasons == {"kvcache_score_better": 2, "text_score_better": 1}
    assert row.why_failed == ["1x HTTP 503: no"]


def test_errors_are_of_predictions_of_two_hundred_milliseconds_and_more() -> None:
    row = row_of(
        a_run(
            "text",
            an_outcome(predicted_ms=100, actual_ms=199),
            an_outcome(predicted_ms=180, actual_ms=200),
            an_outcome(predicted_ms=450, actual_ms=300),
            an_outcome(predicted_ms=0, actual_ms=400),
            an_outcome(predicted_ms=None, actual_ms=400),
            an_outcome(predicted_ms=400, actual_ms=None),
        )
    )

    assert (row.error_p50_ratio, row.error_p90_ratio, row.error_requests) == (0.5, 1.0, 3)


def test_a_row_of_nothing_knows_nothing() -> None:
    row = row_of(a_run("text", an_outcome(failure="gone")))

    assert (row.requests, row.failures) == (1, 1)
    assert row.ttft_mean_ms is None
    assert row.kv_ratio is None
    assert row.link_wait_mean_ms is None
    assert (row.error_p50_ratio, row.error_requests) == (None, 0)


def test_the_mix_counts_every_request_alike() -> None:
    rows = mix_of(
        [
            a_run("text", an_outcome(100.0), gbps=1.0),
            a_run("iws", an_outcome(50.0), gbps=1.0),
            a_run("text", an_outcome(400.0), an_outcome(400.0), gbps=10.0),
        ]
    )

    assert [(row.way, row.bandwidth_gbps, row.ttft_mean_ms) for row in rows] == [
        ("text", None, 300.0),
        ("iws", None, 50.0),
    ]


def test_the_comparison_is_of_the_means_over_the_mix() -> None:
    comparison = compare(
        [
            a_run("text", an_outcome(400.0, predicted_ms=330)),
            a_run("kvcache", an_outcome(250.0)),
            a_run("iws", an_outcome(300.0, predicted_ms=360)),
        ]
    )

    assert comparison.below_text_ratio == pytest.approx(0.25)
    assert comparison.below_kvcache_ratio == pytest.approx(-0.2)
    assert (comparison.error_p50_ratio, comparison.error_requests) == (0.1, 3)


@pytest.mark.parametrize("way", ["text", "iws"])
def test_there_is_nothing_to_compare_where_a_way_failed(way: str) -> None:
    good = an_outcome()
    bad = an_outcome(failure="gone")
    runs = [a_run(name, bad if name == way else good) for name in ("text", "kvcache", "iws")]

    comparison = compare(runs)

    assert comparison.below_text_ratio is None
    assert comparison.error_requests == 2
