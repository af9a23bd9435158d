"""What has been counted: requests, failures by cause, tokens, and how long things took.

Plain attributes that the owner moves in place; names, labels and text are made at scrape
time. Counted per Instance, and once for what reached none.
"""

from bisect import bisect_left

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds of TTFT and queue-wait buckets."""
TOKEN_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0)
"""Upper bounds of time-per-output-token buckets."""
MILLISECONDS = (10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 5000.0)
"""Upper bounds of the published request duration histogram."""
ERROR_RATIOS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0)
"""Upper bounds of the buckets of prediction errors; 0.15 is wrong by 15 %."""


class Histogram:
    """Counts by upper bound, as Prometheus means them, not yet summed up."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        """How many fell into each bucket; the last one has no upper bound."""
        self.total = 0.0
        """Sum of all values."""

    def observe(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def absorb(self, other: "Histogram") -> None:
        """Count what another one of the same bounds has counted."""
        self.counts = [mine + its for mine, its in zip(self.counts, other.counts, strict=True)]
        self.total += other.total

    def cumulative(self) -> list[tuple[str, float]]:
        """Return (le, count of values up to it) for every bound, `+Inf` last."""
        running = 0
        rows: list[tuple[str, float]] = []
        for bound, count in zip((*self.bounds, None), self.counts, strict=True):
            running += count
            rows.append(("+Inf" if bound is None else repr(bound), float(running)))
        return rows


class Tally:
    """The counters of one Instance."""

    __slots__ = (
        "cached_tokens", "completion_tokens", "duration_ms", "failures", "paths",
        "prediction_error", "prompt_tokens", "queue_wait_s", "requests", "tpot_s", "ttft_s",
    )  # fmt: skip

    def __init__(self) -> None:
        self.requests = 0
        """Requests that were sent to it and have ended, however."""
        self.failures: dict[str, int] = {}
        """Those that did not end well, by cause."""
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.cached_tokens = 0
        """Prompt tokens it said it had in its prefix cache."""
        self.duration_ms = Histogram(MILLISECONDS)
        """From the whole request's arrival to the end of the answer."""
        self.ttft_s = Histogram(SECONDS)
        """From arrival to the first generated content of a stream."""
        self.tpot_s = Histogram(TOKEN_SECONDS)
        """Per output token after the first one of a stream."""
        self.queue_wait_s = Histogram(SECONDS)
        """From arrival until it was sent to the Instance."""
        self.prediction_error = Histogram(ERROR_RATIOS)
        """|predicted - actual| / actual of the time to first token."""
        self.paths: dict[str, int] = {}
        """How knowledge reached it, or why it did not: requests by path."""

    def fail(self, cause: str) -> None:
        """Count a failure."""
        self.failures[cause] = self.failures.get(cause, 0) + 1

    def absorb(self, other: "Tally") -> None:
        """Count what another one has counted."""
        self.requests += other.requests
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.cached_tokens += other.cached_tokens
        for mine, its in ((self.failures, other.failures), (self.paths, other.paths)):
            for word, count in its.items():
                mine[word] = mine.get(word, 0) + count
        for mine_of, its_of in zip(self.histograms, other.histograms, strict=True):
            mine_of.absorb(its_of)

    @property
    def histograms(self) -> "tuple[Histogram, ...]":
        """All of them, in a fixed order."""
        return (
            self.duration_ms,
            self.ttft_s,
            self.tpot_s,
            self.queue_wait_s,
            self.prediction_error,
        )
