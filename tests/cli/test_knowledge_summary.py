"""What the knowledge demo prints: rows, sentences, one document."""

import json
from typing import Any

import pytest

from cacheroute.core.predict.calibrate import Fit
from cacheroute.core.predict.calibration import Calibration, Part
from cacheroute.core.predict.coefficients import PUBLISHED
from cacheroute.demo.knowledge.figures import Comparison, Run
from cacheroute.demo.knowledge.outcome import Outcome
from cacheroute_cli.context import Context
from cacheroute_cli.knowledge_summary import COLUMNS, Shown, sentences, show, verdict


def a_fit(p50_ratio: float) -> Fit[Any]:
    return Fit(model=None, used=12, held_out=4, dropped=0, p50_ratio=p50_ratio, p90_ratio=0.1)


CALIBRATION = Calibration(
    coefficients=PUBLISHED,
    parts=(
        Part(name="ttft", fit=a_fit(0.004)),
        Part(name="tpot", why_kept="0 usable measurements"),
        Part(name="redis", fit=a_fit(0.03)),
        Part(name="kv", why_kept="nothing"),
    ),
)


def an_outcome(ttft_ms: float, *, path: str = "text_inject", failure: str | None = None) -> Outcome:
    return Outcome(
        number=1,
        text_tokens=300,
        ttft_ms=ttft_ms,
        predicted_ms=round(ttft_ms * 0.9),
        actual_ms=round(ttft_ms),
        path=path,
        reason=None,
        link_wait_ms=3.0 if path == "kv_inject" else None,
        failure=failure,
    )


def shown(*, failure: str | None = None, bandwidths: tuple[float, ...] = (0.2, 10.0)) -> Shown:
    runs = []
    for gbps in bandwidths:
        runs += [
            Run(bandwidth_gbps=gbps, way="text", outcomes=(an_outcome(400, failure=failure),)),
            Run(bandwidth_gbps=gbps, way="kvcache", outcomes=(an_outcome(500, path="kv_inject"),)),
            Run(bandwidth_gbps=gbps, way="iws", outcomes=(an_outcome(300),)),
        ]
    return Shown(runs=runs, calibration=CALIBRATION, speed=12.0, per_second=0.5, took_s=70.4)


def test_the_document_has_rows_mix_and_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    show(Context(output="json"), shown())

    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "cacheroute.demo.knowledge/1"
    assert (document["requests"], document["failures"], document["speed"]) == (6, 0, 12.0)
    assert [(item["bandwidth_gbps"], item["way"]) for item in document["items"]] == [
        (gbps, way) for gbps in (0.2, 10.0) for way in ("text", "kvcache", "iws")
    ]
    assert [(item["way"], item["ttft_mean_ms"]) for item in document["mix"]] == [
        ("text", 400), ("kvcache", 500), ("iws", 300),
    ]  # fmt: skip
    assert document["comparison"]["below_text_ratio"] == pytest.approx(0.25)
    assert document["comparison"]["error_requests"] == 6
    assert document["coefficients"]["ttft"]["b"] == PUBLISHED.prefill.b


def test_the_table_has_a_row_for_each_way_and_one_over_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(Context(output="table", color="never"), shown())

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:4] for line in lines[1:10]] == [
        [gbps, "Gb/s", way, "1"] for gbps in ("0.2", "10") for way in ("text", "kvcache", "iws")
    ] + [["all", way, "2", "0"] for way in ("text", "kvcache", "iws")]
    assert lines[-1] == (
        "iws: 25.0% below always-text, 40.0% below always-kvcache, "
        "prediction error P50 10.0% over 6 requests"
    )


def test_csv_has_the_rows_of_the_table_and_nothing_below(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(Context(output="csv"), shown())

    header, *lines = capsys.readouterr().out.splitlines()
    assert header.startswith("bandwidth_gbps,way,requests,failures,ttft_mean_ms,")
    assert [line.split(",")[:3] for line in lines] == [
        [gbps, way, "1"] for gbps in ("0.2", "10.0") for way in ("text", "kvcache", "iws")
    ] + [["", way, "2"] for way in ("text", "kvcache", "iws")]


def test_one_bandwidth_is_its_own_mix(capsys: pytest.CaptureFixture[str]) -> None:
    show(Context(output="table", color="never"), shown(bandwidths=(1.0,)))

    assert "all" not in capsys.readouterr().out.split()


def test_the_sentences_say_what_was_calibrated_on_what() -> None:
    [count, what, _, calibrated] = sentences(shown())

    assert count == "6 requests, 0 failures, 70 s"
    assert "ran 12 times as fast" in what
    assert calibrated == (
        "calibrated on other texts, one at a time: prefill on 12 (off by 0.4% on 4 others), "
        "loading of KV on 12 (off by 3.0% on 4 others); time per output token as the profile says"
    )


def test_failures_are_told_with_their_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    show(Context(output="table", color="never"), shown(failure="HTTP 503: draining"))

    lines = capsys.readouterr().out.splitlines()
    assert "6 requests, 2 failures, 70 s" in lines
    assert lines[-1] == "text at 10 Gb/s failed: 1x HTTP 503: draining"


@pytest.mark.parametrize(
    ("comparison", "words"),
    [
        (Comparison(below_text_ratio=None, below_kvcache_ratio=None, error_p50_ratio=None,
                    error_requests=0),
         "iws: nothing went well"),
        (Comparison(below_text_ratio=-0.021, below_kvcache_ratio=0.0, error_p50_ratio=None,
                    error_requests=0),
         "iws: 2.1% above always-text, 0.0% below always-kvcache"),
    ],
)  # fmt: skip
def test_the_verdict_hides_nothing(comparison: Comparison, words: str) -> None:
    assert verdict(comparison) == words


def test_every_column_says_what_it_means_and_has_a_name_of_its_own() -> None:
    assert all(column.doc for column in COLUMNS)
    assert len({column.key for column in COLUMNS}) == len(COLUMNS)
