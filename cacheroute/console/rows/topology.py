"""The links between Instances and knowledge nodes: who measured what, and which is the best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cacheroute.console import cast
from cacheroute.console.columns import Column, Kind
from cacheroute.core.node_names import second_names

if TYPE_CHECKING:
    from cacheroute.wire.links import KdnLinksReply, TopologyReply

_REPORTER = "the Instance that measured it, or the settings"
_STATIC = "static"
_READ = frozenset({"bandwidth_mbps", "latency_ms", "rtt_ms", "reported_by"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """One path between an Instance and a knowledge node."""

    kdn: str
    """The node, by its name or its address."""
    reported_by: str | None
    """The Instance, or `static`."""
    state: str | None
    """Of the Instance; None for a static link, and where the Proxy does not say."""
    bandwidth_mbps: float | None
    latency_ms: float | None
    is_best: bool
    """Whether the Scheduler is told this one."""
    report_age_s: float | None
    metrics: dict[str, object]
    """Whatever else was reported of it."""

    def later(self, passed_s: float) -> LinkRow:
        """Return the same so many seconds later."""
        age_s = self.report_age_s
        return self if age_s is None else replace(self, report_age_s=age_s + passed_s)


def link_rows(topology: TopologyReply) -> list[LinkRow]:
    """Return every link that was reported or is in the settings, by node, the best on top.

    What was reported under a node's name and under its address is one link.
    """
    best = {key: link.get("reported_by") for key, link in topology.kdn_links.items()}
    rows = [
        _row(kdn, link, report.instance_id, best, state=report.state, age_s=report.report_age_s)
        for report in topology.instances
        for kdn, link in _each_once(report.links)
    ]
    rows += [_row(kdn, link, _STATIC, best) for kdn, link in topology.static.items()]
    return sorted(rows, key=_order)


def best_link_rows(links: KdnLinksReply) -> list[LinkRow]:
    """Return the best link to each node, which is all that a published Proxy tells."""
    best = {key: link.get("reported_by") for key, link in links.kdn_links.items()}
    rows = [
        _row(kdn, link, who if isinstance(who := best[kdn], str) else None, best)
        for kdn, link in _each_once(links.kdn_links)
    ]
    return sorted(rows, key=_order)


def _each_once(
    links: Mapping[str, Mapping[str, object]],
) -> Iterator[tuple[str, Mapping[str, object]]]:
    seconds = second_names(links)
    return ((kdn, link) for kdn, link in links.items() if kdn not in seconds)


def _row(
    kdn: str,
    link: Mapping[str, object],
    reported_by: str | None,
    best: Mapping[str, object],
    *,
    state: str | None = None,
    age_s: float | None = None,
) -> LinkRow:
    latency_ms = _number(link.get("latency_ms"))
    return LinkRow(
        kdn=kdn,
        reported_by=reported_by,
        state=state,
        bandwidth_mbps=_number(link.get("bandwidth_mbps")),
        latency_ms=_number(link.get("rtt_ms")) if latency_ms is None else latency_ms,
        is_best=kdn in best and best[kdn] == reported_by,
        report_age_s=age_s,
        metrics={key: value for key, value in link.items() if key not in _READ},
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _order(row: LinkRow) -> tuple[str, bool, float]:
    return (row.kdn, not row.is_best, -(row.bandwidth_mbps or 0.0))


COLUMNS: tuple[Column[LinkRow], ...] = (
    cast.word("kdn", "KDN", "The knowledge node, by its name or its address.", gives_way=True),
    cast.word(
        "reported_by", "REPORTED BY", "The Instance that measured it, or static.",
        unknown="The Proxy does not say.", aliases=("instance", "id"), gives_way=True,
    ),
    cast.word(
        "state", "STATE", "How the Instance is; links of one that is not alive do not count.",
        unknown="It is a link of the settings, or the Proxy does not say.",
    ),
    cast.bandwidth("bandwidth_mbps", "Mbps", "Bandwidth.", source=_REPORTER,
        unknown="It was not measured.", aliases=("bandwidth", "mbit/s")),
    cast.latency(
        "latency_ms", "LATENCY", "Round trip; 0 was measured.", source=_REPORTER,
        unknown="It was not measured.", aliases=("rtt",),
    ),
    cast.yes("is_best", "BEST", "Whether the Scheduler is told this one."),
    cast.duration(
        "report_age_s", "AGE", "Time since the report came.", source="the Proxy's clock",
        unknown="It is a link of the settings, or the Proxy does not say.", rank=1,
    ),
    Column(
        key="metrics",
        header="MORE",
        text=lambda row: " ".join(f"{key}={value}" for key, value in row.metrics.items()),
        doc="Whatever else was reported of it.",
        source=_REPORTER,
        wide=True,
    ),
)  # fmt: skip

TOPOLOGY: Kind[LinkRow] = Kind(
    name="topology",
    noun="links",
    columns=COLUMNS,
    name_of=lambda row: row.kdn,
    searched=lambda row: f"{row.kdn} {row.reported_by or ''}",
)
