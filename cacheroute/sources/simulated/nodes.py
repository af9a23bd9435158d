"""The simulated knowledge nodes: one of them fails now and then, and all have something to send."""

from collections import Counter

from cacheroute.sources.simulated.fleet import KDNS, Fleet
from cacheroute.wire.console import KdnNodes

_ROUND_S, _FAILS_FROM_S = 240.0, 200.0
"""Of each round, the last node fails from then on."""
_ASKED_EVERY_S = 1.5


def nodes(fleet: Fleet) -> KdnNodes:
    """Return them as of the last step."""
    now_s = fleet.now_s
    in_round_s = now_s % _ROUND_S
    fails = in_round_s >= _FAILS_FROM_S
    running: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    for at, instance in enumerate(fleet.instances):
        transfers = sum(work.prepares_until_s > now_s for work in instance.work)
        if transfers:
            node = KDNS[at % len(KDNS)]
            running[node] += 1
            waiting[node] += transfers - 1
    best = dict.fromkeys(KDNS, (0.0, 0.0))
    for (_, kdn), link in fleet.links.items():
        best[kdn] = max(best[kdn], link)
    last = KDNS[-1]
    well_s = now_s if now_s < _ROUND_S else in_round_s
    return KdnNodes(
        nodes=list(KDNS),
        answers=[not (fails and kdn == last) for kdn in KDNS],
        state_age_s=[
            now_s if kdn != last else in_round_s - _FAILS_FROM_S if fails else well_s
            for kdn in KDNS
        ],
        asked_age_s=now_s % _ASKED_EVERY_S,
        error=[f"{kdn} refused the connection." if fails and kdn == last else None for kdn in KDNS],
        running=[running[kdn] for kdn in KDNS],
        waiting=[waiting[kdn] for kdn in KDNS],
        bandwidth_mbps=[best[kdn][0] or None for kdn in KDNS],
        latency_ms=[best[kdn][1] or None for kdn in KDNS],
    )
