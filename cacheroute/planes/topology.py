"""The links to knowledge nodes as the control plane shows them, merged and one by one.

Pure builders from the topology and a snapshot of the pool, which says who counts.
"""

from collections.abc import Mapping
from itertools import islice

from cacheroute.core.pool_snapshot import PoolSnapshot
from cacheroute.core.topology import MAX_LINKS_PER_REPORT, BestLink, Topology

JsonObject = dict[str, object]


def kdn_links(
    topology: Topology, snapshot: PoolSnapshot, *, at_most: int | None = None
) -> dict[str, object]:
    """Return the best link to each knowledge node by its key, with who reported it."""
    best = best_links(topology, snapshot)
    return {
        key: {**one.link.metrics, "reported_by": one.reported_by}
        for key, one in islice(best.items(), at_most)
    }


def count_links(topology: Topology, snapshot: PoolSnapshot) -> int:
    """Return how many keys of knowledge nodes there is a link for."""
    return len(best_links(topology, snapshot))


def told_links(topology: Topology, snapshot: PoolSnapshot) -> dict[str, object]:
    """Return the links that a Scheduler is told: a heartbeat must stay a small message."""
    return kdn_links(topology, snapshot, at_most=MAX_LINKS_PER_REPORT)


def topology_page(topology: Topology, snapshot: PoolSnapshot) -> JsonObject:
    """Build `GET /debug/topology`: every report, the static links, and what comes of them."""
    now = snapshot.taken_at
    return {
        "ok": True,
        "generated_at": now.wall_s,
        "instances": [
            {
                "instance_id": view.instance.instance_id,
                "state": view.liveness,
                "is_alive": view.is_alive,
                "age_s": view.age_s,
                "report_age_s": max(0.0, now.mono_s - report.at.mono_s),
                "links": {key: dict(link.metrics) for key, link in report.links.items()},
            }
            for view in snapshot.views
            if (report := topology.reports.get(view.instance.instance_id)) is not None
        ],
        "static": {key: dict(link.metrics) for key, link in topology.static.items()},
        "kdn_links": kdn_links(topology, snapshot),
        "known_addresses": sorted(topology.known_addresses()),
    }


def best_links(topology: Topology, snapshot: PoolSnapshot) -> Mapping[str, BestLink]:
    """Return the best link to each knowledge node by its key, of those that alive ones measured."""
    return topology.best({view.instance.instance_id for view in snapshot.alive})
