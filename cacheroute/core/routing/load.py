"""What an Instance costs: the least_load pressure, term by term.

Lower wins. A term nobody reported is absent, never zero. The published double count of a
request (inflight and the queue it stands in) stays, since the weights are the contract.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cacheroute.core.pool_member import Member
from cacheroute.core.routing.weights import Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCost:
    """The pressure on one Instance."""

    total: float
    """Sum of the weighted terms, divided by the Instance's weight."""
    terms: Mapping[str, float]
    """What was known, unweighted, by signal name."""
    weighted: Mapping[str, float]
    """The same times its weight, where the weight is not zero."""


def signals(member: Member) -> dict[str, float]:
    """Collect what is known of a Member's load, by published signal name."""
    found: dict[str, float] = {"inflight": float(member.inflight)}
    if member.qps_1m is not None:
        found["qps_1m"] = member.qps_1m
    return found


def load_cost(
    known: Mapping[str, float],
    weights: Mapping[str, float],
    share: float = 1.0,
) -> LoadCost | None:
    """Weigh what is known about one Instance; None when nothing is.

    `share` is the Instance's own weight: one with twice the share bears twice the load for
    the same cost.
    """
    terms = {name: value for name, value in known.items() if name in weights}
    if not terms:
        return None
    weighted = {name: value * weights[name] for name, value in terms.items() if weights[name]}
    return LoadCost(total=sum(weighted.values()) / share, terms=terms, weighted=weighted)


def running_cost(member: Member, weights: Weights) -> float:
    """Return just the total, for the index that every lease and release updates."""
    total = member.inflight * weights.inflight
    if weights.qps_1m and member.qps_1m is not None:
        total += member.qps_1m * weights.qps_1m
    # One with weight 0 takes nothing new, but what it still has may end.
    return total / (member.instance.weight or 1.0)
