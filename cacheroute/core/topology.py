"""How far each Instance is from each knowledge node, and the best link to each.

A report replaces its Instance's earlier one and leaves with it: published Instances
measure once, at their start, so age alone makes no link wrong. While an Instance is
silent its links are left out. Static links stand under all that is measured.
"""

import math
import re
from collections.abc import Container, KeysView, Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

from cacheroute.core.clock import Instant
from cacheroute.core.node_names import second_names

Scalar = str | int | float | bool | None
LinkSource = Literal["link_snapshot", "static"]

MAX_LINKS_PER_REPORT = 1_000
MAX_FULL_REPORTS = 20
"""How many reports of the largest size there is room for, over all Instances."""
STATIC = "static"
"""Who reports the links that the settings name."""

_AUTHORITY = re.compile(r"(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+):([0-9]{1,5})", re.ASCII)
_SCHEMES = ("http://", "kdn://", "")
"""What may stand before the address in a key; the last one outranks those before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One path between an Instance and a knowledge node."""

    bandwidth_mbps: float | None = None
    """In 10^6 bit/s; None when it was not measured, which loses to any number."""
    latency_ms: float | None = None
    """Round trip; None when it was not measured, which loses a tie. 0 was measured."""
    metrics: Mapping[str, Scalar] = field(default_factory=dict)
    """Everything that was reported of it, as reported."""

    def __post_init__(self) -> None:
        for name, value in (
            ("bandwidth_mbps", self.bandwidth_mbps),
            ("latency_ms", self.latency_ms),
        ):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} of a link must be a finite number >= 0, not {value!r}")

    @classmethod
    def of(cls, metrics: Mapping[str, Scalar]) -> Self:
        """Read a link out of its metrics; `rtt_ms` counts where there is no `latency_ms`."""
        latency_ms = _number(metrics.get("latency_ms"))
        return cls(
            bandwidth_mbps=_number(metrics.get("bandwidth_mbps")),
            latency_ms=_number(metrics.get("rtt_ms")) if latency_ms is None else latency_ms,
            metrics=metrics,
        )

    @property
    def rank(self) -> tuple[float, float]:
        """Larger for the better link: more bandwidth first, then less latency."""
        return (
            -1.0 if self.bandwidth_mbps is None else self.bandwidth_mbps,
            -math.inf if self.latency_ms is None else -self.latency_ms,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BestLink:
    """The winner for one knowledge node."""

    link: Link
    reported_by: str
    """The Instance whose report it is from, or `static`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkReport:
    """What one Instance has reported last."""

    links: Mapping[str, Link]
    """By knowledge node, under the keys it used."""
    by_address: Mapping[str, Link]
    """The same by address, for those keys that are one."""
    at: Instant
    """When it came."""


def address_of(key: str) -> str | None:
    """Return the `host:port` in a key or an address of a knowledge node; None without one.

    `KDN://Host:9101/` is `host:9101`; a bare name of a node leads nowhere by itself.
    """
    plain = key.strip().lower().removesuffix("/")
    for scheme in _SCHEMES:
        if scheme and plain.startswith(scheme):
            plain = plain.removeprefix(scheme)
            break
    found = _AUTHORITY.fullmatch(plain)
    return plain if found and 1 <= int(found[1]) <= 65535 else None


def _number(value: Scalar) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _by_address(links: Mapping[str, Link]) -> dict[str, Link]:
    found: dict[str, Link] = {}
    # A name may look like an address: a node is called `kdn_10.0.0.7:9101` where nobody named it.
    seconds = second_names({key: link.metrics for key, link in links.items()})
    for scheme in _SCHEMES:
        for key, link in links.items():
            if key in seconds:
                continue
            has_it = key.lower().startswith(scheme) if scheme else "://" not in key
            if has_it and (address := address_of(key)) is not None:
                found[address] = link
    return found


class Topology:
    """The links that the settings name and those that Instances have reported.

    Whether an Instance is registered is for the caller to ask before it reports, and who is
    alive is handed in.
    """

    def __init__(
        self, max_links: int = MAX_LINKS_PER_REPORT, *, static: Mapping[str, Link] | None = None
    ) -> None:
        self._max_links = max_links
        self.static: Mapping[str, Link] = dict(static or {})
        """Links that hold for every Instance that has not measured its own."""
        self._static_by_address = _by_address(self.static)
        self.reports: dict[str, LinkReport] = {}
        """The last report of each Instance, to be read only."""
        self.version = 0
        """Moves with every report that comes or goes."""
        self._links = 0
        self._addresses = dict.fromkeys(self._static_by_address, 1)
        self._best: dict[str, BestLink] = {}
        self._best_of: frozenset[str] | None = None

    def report(self, instance_id: str, links: Mapping[str, Link], now: Instant) -> str | None:
        """Replace what one Instance reported; None, or a sentence why that was refused."""
        earlier = len(self.links_of(instance_id))
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
            kept = LinkReport(links=dict(links), by_address=_by_address(links), at=now)
            self.reports[instance_id] = kept
            self._changed()
            self._links += len(links)
            for address in kept.by_address:
                self._addresses[address] = self._addresses.get(address, 0) + 1
        return None

    def drop(self, instance_id: str) -> None:
        """Forget what one Instance reported; nothing happens when it never did."""
        gone = self.reports.pop(instance_id, None)
        if gone is None:
            return
        self._changed()
        self._links -= len(gone.links)
        for address in gone.by_address:
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]

    def links_of(self, instance_id: str) -> Mapping[str, Link]:
        """Return what one Instance reported; empty when it never did."""
        report = self.reports.get(instance_id)
        return {} if report is None else report.links

    def link_of(self, instance_id: str, kdn_address: str) -> tuple[Link, LinkSource] | None:
        """Return the path from an Instance to a knowledge node and where that is known from.

        Its own measurement counts, then what the settings say of that address; a link that
        another Instance measured says nothing of this one.
        """
        address = address_of(kdn_address)
        if address is None:
            return None
        report = self.reports.get(instance_id)
        if report is not None and (link := report.by_address.get(address)) is not None:
            return link, "link_snapshot"
        link = self._static_by_address.get(address)
        return None if link is None else (link, "static")

    def count_of(self, instance_id: str) -> int:
        """Return to how many knowledge nodes a path from an Instance is known."""
        report = self.reports.get(instance_id)
        if report is None:
            return len(self._static_by_address)
        return len(report.by_address.keys() | self._static_by_address.keys())

    def known_addresses(self) -> KeysView[str]:
        """Return the `host:port` of every knowledge node known here; a live view, O(1) to ask.

        Nodes of silent Instances are in it: whether one may be asked is not about who is alive.
        """
        return self._addresses.keys()

    def best(self, alive: Container[str]) -> Mapping[str, BestLink]:
        """Return the best link to each knowledge node, by the key it was reported under.

        Only Instances whose id is in `alive` count; static links fill the gaps.
        """
        reporters = frozenset(instance_id for instance_id in self.reports if instance_id in alive)
        if reporters != self._best_of:
            self._best = self._merged(reporters)
            self._best_of = reporters
        return self._best

    def _changed(self) -> None:
        self._best_of = None
        self.version += 1

    def _merged(self, reporters: frozenset[str]) -> dict[str, BestLink]:
        best: dict[str, BestLink] = {}
        for instance_id, report in self.reports.items():
            if instance_id not in reporters:
                continue
            for key, link in report.links.items():
                known = best.get(key)
                if known is None or link.rank > known.link.rank:
                    best[key] = BestLink(link=link, reported_by=instance_id)
        for key, link in self.static.items():
            best.setdefault(key, BestLink(link=link, reported_by=STATIC))
        return best
