"""The outcomes of each way summed up, beside each other and over all bandwidths.

Errors of predictions are counted from 200 ms on, as agreed: below that, a few milliseconds of
the machine's own are a large share.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cacheroute.core.predict.errors import error_ratio, quantile
from cacheroute.demo.knowledge.outcome import Outcome
from cacheroute.demo.knowledge.ways import ALWAYS_KV, ALWAYS_TEXT, BY_FORECAST

ERRORS_FROM_MS = 200
_SHOWN_FAILURES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WayRow:
    """One way at one bandwidth; times are of the requests that went well."""

    bandwidth_gbps: float | None
    """Of the link; None is all bandwidths together."""
    way: str
    requests: int
    failures: int
    ttft_mean_ms: float | None
    ttft_p50_ms: float | None
    ttft_p90_ms: float | None
    predicted_mean_ms: float | None
    """The time to first token that the Proxy predicted when it chose."""
    kv_ratio: float | None
    """Share of the requests whose knowledge went in as KV."""
    link_wait_mean_ms: float | None
    """How long KV waited for other transfers; None where none went."""
    error_p50_ratio: float | None
    """Median of |predicted - actual| / actual."""
    error_p90_ratio: float | None
    error_requests: int
    """Requests that these errors are of."""
    reasons: dict[str, int]
    """Why the knowledge was to go the way it went, the commonest reason first."""
    why_failed: list[str]
    """The commonest failures, each with its count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What the choice by forecast gains over the whole mix; None where nothing went well."""

    below_text_ratio: float | None
    """By how much the mean time to first token is below always-text, as a share of it."""
    below_kvcache_ratio: float | None
    error_p50_ratio: float | None
    """Of all predictions of all ways."""
    error_requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Everything that one way was asked at one bandwidth."""

    bandwidth_gbps: float
    way: str
    outcomes: Sequence[Outcome]


def row_of(run: Run) -> WayRow:
    """Sum up one run."""
    return _row(run.bandwidth_gbps, run.way, run.outcomes)


def mix_of(runs: Sequence[Run]) -> list[WayRow]:
    """Sum each way up over all bandwidths, every request alike."""
    ways = dict.fromkeys(run.way for run in runs)
    return [_row(None, way, [o for r in runs if r.way == way for o in r.outcomes]) for way in ways]


def compare(runs: Sequence[Run]) -> Comparison:
    """Say what the choice by forecast gains."""
    means = {row.way: row.ttft_mean_ms for row in mix_of(runs)}
    ours = means.get(BY_FORECAST.name)
    errors = _errors(outcome for run in runs for outcome in run.outcomes)
    return Comparison(
        below_text_ratio=_below(ours, means.get(ALWAYS_TEXT.name)),
        below_kvcache_ratio=_below(ours, means.get(ALWAYS_KV.name)),
        error_p50_ratio=quantile(errors, 0.5),
        error_requests=len(errors),
    )


def _row(bandwidth_gbps: float | None, way: str, outcomes: Sequence[Outcome]) -> WayRow:
    well = [outcome for outcome in outcomes if outcome.failure is None]
    failures = Counter(outcome.failure for outcome in outcomes if outcome.failure is not None)
    reasons = Counter(outcome.reason for outcome in well if outcome.reason is not None)
    ttfts = [outcome.ttft_ms for outcome in well if outcome.ttft_ms is not None]
    waits = [outcome.link_wait_ms or 0.0 for outcome in well if outcome.is_kv]
    errors = _errors(well)
    return WayRow(
        bandwidth_gbps=bandwidth_gbps,
        way=way,
        requests=len(outcomes),
        failures=len(outcomes) - len(well),
        ttft_mean_ms=_mean(ttfts),
        ttft_p50_ms=quantile(ttfts, 0.5),
        ttft_p90_ms=quantile(ttfts, 0.9),
        predicted_mean_ms=_mean([o.predicted_ms for o in well if o.predicted_ms is not None]),
        kv_ratio=sum(outcome.is_kv for outcome in well) / len(well) if well else None,
        link_wait_mean_ms=_mean(waits),
        error_p50_ratio=quantile(errors, 0.5),
        error_p90_ratio=quantile(errors, 0.9),
        error_requests=len(errors),
        reasons=dict(reasons.most_common()),
        why_failed=[f"{count}x {why}" for why, count in failures.most_common(_SHOWN_FAILURES)],
    )


def _errors(outcomes: Iterable[Outcome]) -> list[float]:
    return [
        ratio
        for outcome in outcomes
        if outcome.failure is None
        and (outcome.actual_ms or 0) >= ERRORS_FROM_MS
        and (ratio := error_ratio(outcome.predicted_ms, outcome.actual_ms)) is not None
    ]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _below(ours: float | None, other: float | None) -> float | None:
    return None if ours is None or not other else 1 - ours / other
