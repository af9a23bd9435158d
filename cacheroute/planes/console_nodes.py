"""The knowledge nodes as columns: whether they answer, what they send, and the best way to each."""

from itertools import islice

from cacheroute.core.dispatch.links import Outstanding
from cacheroute.core.health.nodes import NodeHealth
from cacheroute.core.node_names import second_names
from cacheroute.core.pool_snapshot import PoolSnapshot
from cacheroute.core.topology import Link, address_of
from cacheroute.planes.control_owner import ControlOwner
from cacheroute.planes.topology import best_links
from cacheroute.wire.console import KdnNodes
from cacheroute.wire.console_columns import folded

MAX_TOLD = 256
"""Nodes that are told of, those that fail before all others."""
_IDLE = Outstanding(0, 0)
_UNMEASURED = Link()


def kdn_nodes(owner: ControlOwner, snapshot: PoolSnapshot) -> KdnNodes:
    """Put together what requests saw of each node and what Instances measured to it."""
    now_mono_s = snapshot.taken_at.mono_s
    sending = _sending(owner)
    links, left_out = _links(owner, snapshot)
    health = {node: owner.nodes.of(node) for node in {*owner.nodes, *sending, *links}}
    names = sorted(health, key=lambda node: (_is_well(health[node]), node))
    told = names[:MAX_TOLD]
    seen = [health[node] for node in told]
    return KdnNodes(
        nodes=told,
        answers=folded([None if one is None else one.answers for one in seen]),
        state_age_s=folded(
            [None if one is None else _age_s(one.since_mono_s, now_mono_s) for one in seen]
        ),
        asked_age_s=folded(
            [None if one is None else _age_s(one.asked_mono_s, now_mono_s) for one in seen]
        ),
        error=folded([None if one is None else one.error for one in seen]),
        running=folded([sending.get(node, _IDLE).running for node in told]),
        waiting=folded([sending.get(node, _IDLE).waiting for node in told]),
        bandwidth_mbps=folded([links.get(node, _UNMEASURED).bandwidth_mbps for node in told]),
        latency_ms=folded([links.get(node, _UNMEASURED).latency_ms for node in told]),
        left_out=left_out + len(names) - len(told),
    )


def _is_well(health: NodeHealth | None) -> bool:
    return health is None or health.answers


def _age_s(then_mono_s: float, now_mono_s: float) -> float:
    return round(max(0.0, now_mono_s - then_mono_s), 3)


def _sending(owner: ControlOwner) -> dict[str, Outstanding]:
    """Return who sends, by address; requests may name one node in several ways."""
    found: dict[str, Outstanding] = {}
    for name, one in owner.links.by_node().items():
        address = address_of(name) or name
        running, waiting = found.get(address, _IDLE)
        found[address] = Outstanding(running + one.running, waiting + one.waiting)
    return found


def _links(owner: ControlOwner, snapshot: PoolSnapshot) -> tuple[dict[str, Link], int]:
    best = best_links(owner.topology, snapshot)
    told = dict(islice(best.items(), MAX_TOLD))
    seconds = second_names({key: (one.reported_by, one.link.metrics) for key, one in told.items()})
    found: dict[str, Link] = {}
    for key, one in told.items():
        if key in seconds:
            continue
        address = address_of(key) or key
        known = found.get(address)
        if known is None or one.link.rank > known.rank:
            found[address] = one.link
    return found, max(0, len(best) - MAX_TOLD)
