"""How far each Instance is from each knowledge node, and the best link to each.

A report replaces its Instance's earlier one and leaves with it. Only finite numbers get
in; a latency of 0 ms is a measurement, not a gap.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

Scalar = str | int | float | bool | None

MAX_LINKS_PER_REPORT = 1_000
MAX_FULL_REPORTS = 20
"""How many reports of the largest size there is room for, over all Instances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One measured path between an Instance and a knowledge node."""

    bandwidth_mbps: float | None = None
    """In 10^6 bit/s; None when it was not measured, which loses to any number."""
    latency_ms: float | None = None
    """Round trip; None when it was not measured, which loses a tie."""
    metrics: Mapping[str, Scalar] = field(default_factory=dict)
    """Everything that was reported of it, as reported."""

    def __post_init__(self) -> None:
        for name, value in (
            ("bandwidth_mbps", self.bandwidth_mbps),
            ("latency_ms", self.latency_ms),
        ):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} of a link must be a finite number >= 0, not {value!r}")

    @property
    def rank(self) -> tuple[float, float]:
        """Sorts the better link first: more bandwidth, then less latency."""
        return (
            -1.0 if self.bandwidth_mbps is None else self.bandwidth_mbps,
            -math.inf if self.latency_ms is None else -self.latency_ms,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BestLink:
    """The winner for one knowledge node."""

    link: Link
    reported_by: str
    """The Instance whose report it is from."""


class Topology:
    """The links that the Instances of the pool have reported.

    Whether an Instance is registered is for the caller to ask before it reports.
    """

    def __init__(self, max_links: int = MAX_LINKS_PER_REPORT) -> None:
        self._max_links = max_links
        self._reports: dict[str, dict[str, Link]] = {}
        self._links = 0
        self._best: dict[str, BestLink] | None = None

    def __len__(self) -> int:
        """Return the number of knowledge nodes that can be reached."""
        return len(self.best())

    def report(self, instance_id: str, links: Mapping[str, Link]) -> str | None:
        """Replace what one Instance reported; None, or a sentence why that was refused."""
        earlier = len(self._reports.get(instance_id, ()))
        if len(links) > self._max_links:
            return f"A report may hold {self._max_links} links, not {len(links)}."
        in_all = self._max_links * MAX_FULL_REPORTS
        if self._links - earlier + len(links) > in_all:
            return (
                f"All Instances together may report {in_all} links; "
                f"{self._links - earlier} are known from others and {len(links)} do not fit."
            )
        self.drop(instance_id)
        if links:
            self._reports[instance_id] = dict(links)
            self._links += len(links)
        return None

    def drop(self, instance_id: str) -> None:
        """Forget what one Instance reported; nothing happens when it never did."""
        self._links -= len(self._reports.pop(instance_id, ()))
        self._best = None

    def links_of(self, instance_id: str) -> Mapping[str, Link]:
        """Return what one Instance reported; empty when it never did."""
        return self._reports.get(instance_id, {})

    def best(self) -> Mapping[str, BestLink]:
        """Return the best link to each knowledge node, by the key it was reported under."""
        if self._best is None:
            self._best = self._merged()
        return self._best

    def _merged(self) -> dict[str, BestLink]:
        best: dict[str, BestLink] = {}
        for instance_id, links in self._reports.items():
            for key, link in links.items():
                known = best.get(key)
                if known is None or link.rank > known.link.rank:
                    best[key] = BestLink(link=link, reported_by=instance_id)
        return best
