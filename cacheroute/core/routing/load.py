"""What an Instance costs: the least_load pressure, term by term.

Lower wins. A term nobody reported is absent, never zero. The published double count of a
request (inflight and the queue it stands in) stays, since the weights are the contract.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cacheroute.core.pool_member import Member
from cacheroute.core.pressure import Pressure
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


QUEUE_SIGNALS = (
    "active_prepare",
    "active_ready",
    "prepare_queue_depth",
    "ready_queue_depth",
    "pending_prefill_count",
    "active_decode_count",
    "predicted_total_backlog_ms",
)
"""The signals that come from the queues before an Instance, in the order of the weights."""


def signals(
    *, inflight: int, qps_1m: float | None = None, pressure: Pressure | None = None
) -> dict[str, float]:
    """Collect what is known of an Instance's load, by published signal name."""
    found: dict[str, float] = {"inflight": float(inflight)}
    if pressure is not None:
        found.update((name, float(getattr(pressure, name))) for name in QUEUE_SIGNALS)
    if qps_1m is not None:
        found["qps_1m"] = qps_1m
    return found


def signals_of(member: Member, now_mono_s: float) -> dict[str, float]:
    """Collect what is known of a Member's load at this moment."""
    queues = member.queues
    return signals(
        inflight=member.inflight,
        qps_1m=member.qps_1m,
        pressure=None if queues is None else queues.pressure(now_mono_s),
    )


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


def running_cost(member: Member, weights: Weights, now_mono_s: float) -> float:
    """Return just the total, for the index that selections read.

    The moment matters only to a Member with queues.
    """
    total = member.inflight * weights.inflight
    queues = member.queues
    if queues is not None:
        # The wait comes first: it moves the counts along to this moment.
        total += (
            queues.wait_ms(now_mono_s) * weights.predicted_total_backlog_ms
            + queues.active_prepare * weights.active_prepare
            + queues.active_ready * weights.active_ready
            + queues.prepare_queue_depth * weights.prepare_queue_depth
            + queues.ready_queue_depth * weights.ready_queue_depth
            + queues.pending_prefill_count * weights.pending_prefill_count
            + queues.active_decode_count * weights.active_decode_count
        )
    if weights.qps_1m and member.qps_1m is not None:
        total += member.qps_1m * weights.qps_1m
    # One with weight 0 takes nothing new, but what it still has may end.
    return total / (member.weight or 1.0)
