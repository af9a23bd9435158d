"""What a replay came to: one row for each strategy, and how they compare."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cacheroute.console.amounts import render_ms, render_ratio
from cacheroute.console.columns import Column
from cacheroute.demo.replay import Outcome

_SHOWN_FAILURES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyRow:
    """One strategy's replay."""

    strategy: str
    requests: int
    failures: int
    ttft_p50_ms: float | None
    ttft_p90_ms: float | None
    end_to_end_p50_ms: float | None
    end_to_end_p90_ms: float | None
    cached_ratio: float | None
    """Share of all prompt tokens that Instances had in their caches."""
    split: dict[str, int]
    """Requests answered, by Instance."""
    took_s: float
    why_failed: list[str]
    """The commonest reasons, each with its count."""


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return the smallest value that is at least as large as `share` of them; None of none.

    Nearest rank: what is returned has been measured.
    """
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def row_of(strategy: str, outcomes: Sequence[Outcome], *, took_s: float) -> StrategyRow:
    """Sum up one replay; times are of the requests that went well."""
    well = [outcome for outcome in outcomes if outcome.failure is None]
    reasons = Counter(outcome.failure for outcome in outcomes if outcome.failure is not None)
    ttfts = [outcome.ttft_ms for outcome in well if outcome.ttft_ms is not None]
    ends = [outcome.end_to_end_ms for outcome in well]
    split = Counter(outcome.instance or "?" for outcome in well)
    return StrategyRow(
        strategy=strategy,
        requests=len(outcomes),
        failures=len(outcomes) - len(well),
        ttft_p50_ms=percentile(ttfts, 0.5),
        ttft_p90_ms=percentile(ttfts, 0.9),
        end_to_end_p50_ms=percentile(ends, 0.5),
        end_to_end_p90_ms=percentile(ends, 0.9),
        cached_ratio=_cached_ratio(well),
        split=dict(sorted(split.items())),
        took_s=took_s,
        why_failed=[f"{count}x {why}" for why, count in reasons.most_common(_SHOWN_FAILURES)],
    )


def _cached_ratio(outcomes: Sequence[Outcome]) -> float | None:
    known = [
        (outcome.cached_tokens, outcome.prompt_tokens)
        for outcome in outcomes
        if outcome.cached_tokens is not None and outcome.prompt_tokens
    ]
    total = sum(prompt for _, prompt in known)
    return sum(cached for cached, _ in known) / total if total else None


def compare(first: StrategyRow, other: StrategyRow) -> str | None:
    """Say in one line what the other strategy did better or worse than the first."""
    parts = [
        f"{what} {change:+.0f}%"
        for what, before, after in (
            ("TTFT P50", first.ttft_p50_ms, other.ttft_p50_ms),
            ("TTFT P90", first.ttft_p90_ms, other.ttft_p90_ms),
            ("end-to-end P90", first.end_to_end_p90_ms, other.end_to_end_p90_ms),
        )
        if (change := _change_percent(before, after)) is not None
    ]
    return f"{other.strategy} against {first.strategy}: {', '.join(parts)}" if parts else None


def _change_percent(before: float | None, after: float | None) -> float | None:
    return None if not before or after is None else 100 * (after - before) / before


COLUMNS: tuple[Column[StrategyRow], ...] = (
    Column(
        key="strategy",
        header="STRATEGY",
        text=lambda row: row.strategy,
        gives_way=True,
        doc="How an Instance was chosen for each request.",
    ),
    Column(
        key="requests",
        header="REQ",
        text=lambda row: str(row.requests),
        right=True,
        doc="Requests sent.",
    ),
    Column(
        key="failures",
        header="FAIL",
        text=lambda row: str(row.failures),
        tone=lambda row: "bad" if row.failures else "plain",
        right=True,
        doc="Requests that a user would call failed.",
    ),
    Column(
        key="ttft_p50_ms",
        header="TTFT P50",
        text=lambda row: render_ms(row.ttft_p50_ms),
        right=True,
        doc="Time to the first token that half of the requests stayed below.",
    ),
    Column(
        key="ttft_p90_ms",
        header="P90",
        text=lambda row: render_ms(row.ttft_p90_ms),
        right=True,
        doc="Time to the first token that nine in ten stayed below.",
    ),
    Column(
        key="end_to_end_p50_ms",
        header="E2E P50",
        text=lambda row: render_ms(row.end_to_end_p50_ms),
        right=True,
        doc="Time to the end of the answer that half of the requests stayed below.",
    ),
    Column(
        key="end_to_end_p90_ms",
        header="P90",
        text=lambda row: render_ms(row.end_to_end_p90_ms),
        right=True,
        doc="Time to the end of the answer that nine in ten stayed below.",
    ),
    Column(
        key="cached_ratio",
        header="CACHED",
        text=lambda row: render_ratio(row.cached_ratio),
        right=True,
        doc="Share of all prompt tokens that Instances had in their caches.",
    ),
    Column(
        key="split",
        header="SPLIT",
        text=lambda row: "/".join(str(count) for count in row.split.values()),
        doc="Requests answered by each Instance, in the order of their names.",
    ),
)
