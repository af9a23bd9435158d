"""Pools as they come: of any size, in any state, reported of or not, with queues or without."""

from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.orders import Orders
from cacheroute.core.pool import Pool
from cacheroute.core.pool_member import Member
from cacheroute.core.resources import normalise
from cacheroute.core.tally import Tally
from tests.cacheroute.core.pool_builders import a_pool, an_instance, at, joined
from tests.cacheroute.planes.control_parts import Owner

NOW_S = 1_000.0


@dataclass(frozen=True)
class Drawn:
    """What is drawn of one Instance."""

    silent_s: float
    inflight: int
    qps_1m: float | None
    gpu_util: float | None
    weight: float
    draining: bool
    resting_s: float
    queued: int | None
    reported: dict[str, object] | None
    models: frozenset[str] | None
    static: bool


sizes = st.none() | st.integers(1_000, 1_000_000).map(lambda value: value / 1.0)
measures = st.none() | st.floats(0, 1e6, allow_nan=False).map(lambda value: round(value, 6))
reports = st.fixed_dictionaries(
    {
        "timestamp_ms": st.none() | st.integers(0, 2**41),
        "devices": st.fixed_dictionaries(
            {
                "cpu": st.fixed_dictionaries({"utilization_pct": measures}),
                "memory": st.fixed_dictionaries({"used_mb": sizes, "total_mb": sizes}),
                "gpu": st.lists(
                    st.fixed_dictionaries(
                        {
                            "utilization_pct_avg": measures,
                            "memory_used_mb": sizes,
                            "memory_total_mb": sizes,
                        }
                    ),
                    max_size=2,
                ),
                "network": st.lists(
                    st.fixed_dictionaries({"rx_mbps": measures, "tx_mbps": measures}), max_size=1
                ),
            }
        ),
    }
)
drawn = st.builds(
    Drawn,
    silent_s=st.sampled_from([0.0, 0.25, 29.5, 31.0, 89.0, 95.0]),
    inflight=st.integers(0, 50),
    qps_1m=st.none() | st.floats(0, 100).map(lambda value: round(value, 3)),
    gpu_util=st.none() | st.floats(0, 100).map(lambda value: round(value, 2)),
    weight=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    draining=st.booleans(),
    resting_s=st.sampled_from([0.0, 12.5]),
    queued=st.none() | st.integers(0, 20),
    reported=st.none() | reports,
    models=st.none() | st.frozensets(st.sampled_from(["a", "b", "c"])),
    static=st.booleans(),
)
pools = st.lists(drawn, max_size=12)


def an_owner(*instances: Drawn) -> Owner:
    """Return the owner of a pool with these Instances, at 1,000 s."""
    owner = Owner()
    owner.clock.instant = at(NOW_S)
    owner.pool = a_pool()
    for number, one in enumerate(instances):
        _join(owner, number, one)
    return owner


def _join(owner: Owner, number: int, one: Drawn) -> Member:
    seen = at(NOW_S - one.silent_s)
    instance = an_instance(
        f"i-{number}", port=9001 + number, models=one.models, weight=one.weight,
        origin="static" if one.static else "registered", tags=("t",) if number % 2 else (),
    )  # fmt: skip
    member = joined(owner.pool, instance, seen)
    if one.reported is not None:
        owner.pool.report_resource(instance.instance_id, normalise(one.reported, {}, seen), seen)
    owner.pool.heartbeat(instance.instance_id, seen, qps_1m=one.qps_1m, gpu_util=one.gpu_util)
    member.inflight = member.awaiting = one.inflight
    member.unanswered_since_mono_s = seen.mono_s
    member.ejected_until_mono_s = NOW_S + one.resting_s if one.resting_s else 0.0
    if one.queued is not None:
        member.queues = a_board(one.queued)
    if one.draining:
        owner.pool.order(instance.instance_id, Orders(draining=True))
    tally = owner.tallies[member] = Tally()
    tally.requests = number
    return member


def a_board(requests: int) -> Board:
    """Return queues in which so many requests were taken, some of them prepared."""
    board = Board(QueueRules())
    for number in range(requests):
        ticket = Ticket()
        if number % 3:
            board.enqueue(ticket)
        else:
            board.enter(ticket)
    return board


def a_thousand(pool: Pool | None = None) -> Owner:
    """Return the owner of a thousand Instances at work, all of them reported of and queued for."""
    chance = Random(1)
    owner = Owner()
    owner.clock.instant = at(NOW_S)
    owner.pool = pool or a_pool()
    for number in range(1_000):
        seen = at(NOW_S - round(chance.uniform(0, 10), 3))
        instance = an_instance(
            f"inst-{9001 + number}",
            host=f"10.0.{number // 250}.{number % 250}",
            models=frozenset({"llama-3.1-8b"}),
            endpoints=("chat/completions", "completions"),
        )
        member = joined(owner.pool, instance, seen)
        owner.pool.report_resource(
            instance.instance_id, normalise(a_report(chance), {}, seen), seen
        )
        member.inflight = chance.randrange(12)
        member.queues = a_board(chance.randrange(4))
        tally = owner.tallies[member] = Tally()
        tally.requests = chance.randrange(5_000)
    return owner


def a_report(chance: Random) -> dict[str, object]:
    """Return what an agent of a host with two GPUs says."""
    return {
        "devices": {
            "cpu": {"utilization_pct": round(chance.uniform(0, 100), 1)},
            "memory": {"used_mb": chance.randrange(200_000), "total_mb": 256_000},
            "gpu": [
                {
                    "utilization_pct_avg": round(chance.uniform(0, 100), 1),
                    "memory_used_mb": chance.randrange(80_000),
                    "memory_total_mb": 81_920,
                }
                for _ in range(2)
            ],
            "network": [
                {
                    "rx_mbps": round(chance.uniform(0, 900), 3),
                    "tx_mbps": round(chance.uniform(0, 90), 3),
                }
            ],
        },
        "capacity_hint": {"admission_state": "accepting"},
    }
