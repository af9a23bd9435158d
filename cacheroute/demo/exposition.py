"""Prometheus' text format, written as the client library of vLLM writes it.

A family is its help and type, then its samples; counters and histograms have a second
family with the instant they began.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Labels = Mapping[str, str]
Sample = tuple[str, Labels, float]
"""Suffix of the family's name, labels, value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One metric."""

    name: str
    """With its prefix, and without `_total`."""
    kind: str
    """`gauge`, `counter` or `histogram`."""
    help: str


class Histogram:
    """Counts of values by upper bound."""

    __slots__ = ("_counts", "bounds", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.total = 0.0
        """Sum of all values."""
        self._counts = [0] * (len(bounds) + 1)

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self._counts)

    def observe(self, value: float) -> None:
        """Count one value; it belongs to the first bound that is not below it."""
        self._counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def samples(self, labels: Labels) -> list[Sample]:
        """Return the cumulative buckets, the count and the sum."""
        samples: list[Sample] = []
        below = 0
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self._counts, strict=True):
            below += count
            samples.append(("_bucket", {**labels, "le": bound}, below))
        return [*samples, ("_count", labels, below), ("_sum", labels, self.total)]


def render_family(family: Family, samples: Iterable[Sample], created_at_s: float) -> str:
    """Return the lines of one metric."""
    name = f"{family.name}_total" if family.kind == "counter" else family.name
    lines = [f"# HELP {name} {family.help}", f"# TYPE {name} {family.kind}"]
    began: dict[str, None] = {}
    for suffix, labels, value in samples:
        lines.append(f"{name}{suffix}{_render_labels(labels)} {float(value)!r}")
        if family.kind == "counter" or suffix == "_count":
            began[_render_labels(labels)] = None
    if family.kind != "gauge":
        lines += [
            f"# HELP {family.name}_created {family.help}",
            f"# TYPE {family.name}_created gauge",
            *(f"{family.name}_created{labels} {created_at_s!r}" for labels in began),
        ]
    return "\n".join(lines) + "\n"


def _render_labels(labels: Labels) -> str:
    pairs = [f'{name}="{_escape(labels[name])}"' for name in sorted(labels)]
    return "{" + ",".join(pairs) + "}" if pairs else ""


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
