"""What a replay came to: one row for each strategy, and how they compare."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cacheroute.console import cast
from cacheroute.console.columns import Column
from cacheroute.core.predict.errors import quantile
from cacheroute.demo.replay import Outcome
from cacheroute_cli.figures import FIRST_TOKEN, REQUESTS, failures, half_below, most_below

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
        ttft_p50_ms=quantile(ttfts, 0.5),
        ttft_p90_ms=quantile(ttfts, 0.9),
        end_to_end_p50_ms=quantile(ends, 0.5),
        end_to_end_p90_ms=quantile(ends, 0.9),
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


_END = "Time to the end of the answer"

COLUMNS: tuple[Column[StrategyRow], ...] = (
    cast.word("strategy", "STRATEGY", "How an Instance was chosen for each request.",
        gives_way=True),
    REQUESTS,
    failures("Requests that a user would call failed."),
    half_below("ttft_p50_ms", "TTFT P50", FIRST_TOKEN),
    most_below("ttft_p90_ms", "P90", FIRST_TOKEN),
    half_below("end_to_end_p50_ms", "E2E P50", _END),
    most_below("end_to_end_p90_ms", "P90", _END),
    cast.ratio("cached_ratio", "CACHED",
        "Share of all prompt tokens that Instances had in their caches."),
    cast.word("split", "SPLIT",
        "Requests answered by each Instance, in the order of their names.",
        text=lambda row: "/".join(map(str, row.split.values()))),
)  # fmt: skip
