"""How the knowledge demo shows what it found: one table, and what it comes to in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from cacheroute.console import cast
from cacheroute.console.amounts import render_ratio
from cacheroute.console.cells import UNKNOWN
from cacheroute.console.columns import Column
from cacheroute.core.predict.calibration import Calibration
from cacheroute.demo.knowledge.figures import (
    ERRORS_FROM_MS,
    Comparison,
    Run,
    WayRow,
    compare,
    mix_of,
    row_of,
)
from cacheroute_cli.context import Context
from cacheroute_cli.figures import (
    FIRST_TOKEN,
    REQUESTS,
    failures,
    half_below,
    most_below,
    print_figures,
)
from cacheroute_cli.knowledge_launch import PROFILE

SCHEMA = "cacheroute.demo.knowledge/1"
_PARTS = {"ttft": "prefill", "redis": "loading of KV", "tpot": "time per output token"}
"""What the sections of the coefficients are called here; what KV weighs is told, not measured."""

COLUMNS: tuple[Column[WayRow], ...] = (
    cast.word("bandwidth_gbps", "LINK",
        "Bandwidth between knowledge node and Instance, before the speed-up.",
        text=lambda row: "all" if row.bandwidth_gbps is None else f"{row.bandwidth_gbps:g} Gb/s"),
    cast.word("way", "WAY",
        "How knowledge was brought in: always as text, always as KV, or as `iws` chose."),
    REQUESTS,
    failures("Requests that a user would call failed, or that went without their knowledge."),
    cast.span("ttft_mean_ms", "TTFT MEAN",
        "Mean time to the first token, as the client saw it."),
    cast.span("predicted_mean_ms", "PREDICTED",
        "The same as the Proxy predicted it at the moment of choice."),
    half_below("ttft_p50_ms", "P50", FIRST_TOKEN),
    most_below("ttft_p90_ms", "P90", FIRST_TOKEN),
    cast.ratio("kv_ratio", "AS KV", "Share of the requests whose knowledge went in as KV.",
        text=lambda row: UNKNOWN if row.kv_ratio is None else f"{row.kv_ratio:.0%}"),
    cast.span("link_wait_mean_ms", "LINK WAIT",
        "How long KV waited for other transfers on the link, on average."),
    cast.ratio("error_p50_ratio", "ERR P50",
        f"Median error of the prediction, of requests of {ERRORS_FROM_MS} ms and more."),
    cast.ratio("error_p90_ratio", "P90", "The error that nine in ten stayed below."),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Everything that is shown."""

    runs: Sequence[Run]
    calibration: Calibration
    speed: float
    per_second: float
    took_s: float


def show(context: Context, shown: Shown) -> None:
    """Print what was found in the form that is asked for."""
    rows, mix, comparison = _rows(shown.runs), mix_of(shown.runs), compare(shown.runs)
    print_figures(
        context,
        COLUMNS,
        [*rows, *(mix if len(rows) > len(mix) else ())],
        sentences=[*sentences(shown), verdict(comparison), *failures_of(rows)],
        schema=SCHEMA,
        content={
            "requests": sum(row.requests for row in rows),
            "failures": sum(row.failures for row in rows),
            "took_s": shown.took_s,
            "speed": shown.speed,
            "per_second": shown.per_second,
            "profile": PROFILE,
            "items": rows,
            "mix": mix,
            "comparison": comparison,
            "coefficients": shown.calibration.coefficients.as_mapping(),
        },
    )


def sentences(shown: Shown) -> list[str]:
    """Say what the figures are of, and what the forecasts were made from."""
    rows = _rows(shown.runs)
    requests, failures = sum(row.requests for row in rows), sum(row.failures for row in rows)
    return [
        f"{requests} requests, {failures} failures, {shown.took_s:.0f} s",
        f"a 70B model on eight GPUs, its link and the arrivals ({shown.per_second:g} a second) ran "
        f"{shown.speed:g} times as fast as real ones; times are as measured",
        "each way had a new Proxy, a new Instance and an empty Redis; each request had a text of "
        "its own",
        calibrated(shown.calibration),
    ]


def calibrated(calibration: Calibration) -> str:
    """Say what was measured before the comparison, and what was not."""
    fitted = [
        f"{_PARTS[part.name]} on {part.fit.used} (off by {render_ratio(part.fit.p50_ratio)} "
        f"on {part.fit.held_out} others)"
        for part in calibration.parts
        if part.fit is not None and part.name in _PARTS
    ]
    kept = [
        _PARTS[part.name]
        for part in calibration.parts
        if part.fit is None and part.name in _PARTS
    ]  # fmt: skip
    told = f"calibrated on other texts, one at a time: {', '.join(fitted)}"
    return f"{told}; {' and '.join(kept)} as the profile says" if kept else told


def verdict(comparison: Comparison) -> str:
    """Say in a sentence what choosing by forecast came to."""
    parts = [
        f"{_distance(ratio)} {other}"
        for other, ratio in (
            ("always-text", comparison.below_text_ratio),
            ("always-kvcache", comparison.below_kvcache_ratio),
        )
        if ratio is not None
    ]
    if comparison.error_p50_ratio is not None:
        error = render_ratio(comparison.error_p50_ratio)
        parts.append(f"prediction error P50 {error} over {comparison.error_requests} requests")
    return f"iws: {', '.join(parts)}" if parts else "iws: nothing went well"


def failures_of(rows: Sequence[WayRow]) -> list[str]:
    """Say why requests failed, a line for each row that has any."""
    return [
        f"{row.way} at {row.bandwidth_gbps:g} Gb/s failed: {why}"
        for row in rows
        if row.bandwidth_gbps is not None
        for why in row.why_failed
    ]


def _rows(runs: Sequence[Run]) -> list[WayRow]:
    return [row_of(run) for run in runs]


def _distance(ratio: float) -> str:
    return f"{abs(ratio):.1%} {'below' if ratio >= 0 else 'above'}"
