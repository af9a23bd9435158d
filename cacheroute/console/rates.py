"""What two looks tell together: requests a second, and how long first tokens took in between.

Percentiles are of the requests between the looks, from merged buckets; a mean of percentiles
would be wrong. After a restart of the Proxy its counters begin at 0, so nothing is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cacheroute.console.look import Look


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What happened between two looks; None where they cannot tell."""

    requests_s: float | None = None
    """Requests that ended, a second."""
    failures_s: float | None = None
    completion_tokens_s: float | None = None
    ttft_p50_ms: float | None = None
    """Median time to first token; None where no request had one."""
    ttft_p95_ms: float | None = None


UNTOLD = Rates()


def rates_of(before: Look | None, now: Look) -> Rates:
    """Compare two looks at one run of a Proxy."""
    if before is None or before.run != now.run:
        return UNTOLD
    then, since = before.totals, now.totals
    passed_s = now.at_s - before.at_s
    if then is None or since is None or passed_s <= 0:
        return UNTOLD
    buckets = [
        max(0, new - old) for old, new in zip(then.ttft_counts, since.ttft_counts, strict=False)
    ]
    return Rates(
        requests_s=max(0, since.requests - then.requests) / passed_s,
        failures_s=max(0, since.failures - then.failures) / passed_s,
        completion_tokens_s=max(0, since.completion_tokens - then.completion_tokens) / passed_s,
        ttft_p50_ms=quantile_ms(buckets, since.ttft_bounds_s, 0.5),
        ttft_p95_ms=quantile_ms(buckets, since.ttft_bounds_s, 0.95),
    )


def quantile_ms(counts: Sequence[int], bounds_s: Sequence[float], share: float) -> float | None:
    """Return a quantile from buckets, in milliseconds, drawn straight within its bucket.

    Above the last bound it is that bound: there is no telling how far.
    """
    total = sum(counts)
    if not total or not bounds_s:
        return None
    wanted = total * share
    passed = 0.0
    low_s = 0.0
    for count, high_s in zip(counts, bounds_s, strict=False):
        if count and passed + count >= wanted:
            return 1000 * (low_s + (high_s - low_s) * (wanted - passed) / count)
        passed += count
        low_s = high_s
    return 1000 * bounds_s[-1]
