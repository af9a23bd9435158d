"""Pools whose scores a Proxy has worked out itself, for tests that compare what is shown."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from cacheroute.console.look import Look
from cacheroute.core.pressure import FIGURES, Pressure
from cacheroute.core.routing.load import load_cost, signals
from cacheroute.core.routing.weights import Weights
from cacheroute.wire.console import Columns, ConsoleSnapshot, Identities

Loaded = tuple[int, float | None, Pressure | None, float]
"""Requests, QPS, queues, and its own weight."""

counts = st.integers(0, 500)
waits = st.floats(0, 1e6)


@st.composite
def instances(draw: st.DrawFn) -> Loaded:
    """An Instance's load."""
    figures = {name: draw(waits if name.endswith("_ms") else counts) for name in FIGURES}
    pressure = draw(st.one_of(st.none(), st.just(msgspec.convert(figures, Pressure))))
    qps = draw(st.one_of(st.none(), st.floats(0, 1e3)))
    return draw(counts), qps, pressure, draw(st.sampled_from([0.5, 1.0, 2.0]))


def look_of(pool: list[Loaded], weights: Weights) -> Look:
    """Return what a Proxy tells of such Instances, with the totals that it works out itself."""
    known = [signals(inflight=i, qps_1m=q, pressure=p) for i, q, p, _ in pool]
    costs = [
        load_cost(one, weights.as_mapping(), share)
        for one, (_, _, _, share) in zip(known, pool, strict=True)
    ]
    told: dict[str, Any] = {
        "weight": [share for _, _, _, share in pool],
        "score": [None if cost is None else cost.total for cost in costs],
    }
    names = [field for field in Columns.__struct_fields__ if any(field in one for one in known)]
    told |= {name: [one.get(name) for one in known] for name in names}
    return Look(
        url="http://127.0.0.1:8002",
        snapshot=ConsoleSnapshot(
            rev=1,
            generated_at=0.0,
            weights=dict(weights.as_mapping()),
            identities=Identities(ids=[f"i-{at}" for at in range(len(pool))]),
            instances=Columns(state="alive", **told),
        ),
    )
