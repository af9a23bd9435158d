"""Instances and moments for tests: a builder names only what matters."""

from dataclasses import replace

from cacheroute.core.clock import Instant
from cacheroute.core.instance import Instance
from cacheroute.core.pool import Pool
from cacheroute.core.pool_member import Member
from cacheroute.core.pool_outcomes import Refusal, Registration
from cacheroute.core.rules import PoolRules

WALL_S = 1_700_000_000.0


def at(mono_s: float, *, wall_s: float | None = None) -> Instant:
    """A moment; the wall clock runs along unless it is told otherwise."""
    return Instant(mono_s=mono_s, wall_s=WALL_S + mono_s if wall_s is None else wall_s)


START = at(0.0)


def an_instance(instance_id: str = "i-1", *, port: int = 9001, **given: object) -> Instance:
    """An Instance on this machine."""
    base = Instance(instance_id=instance_id, host="127.0.0.1", port=port)
    return replace(base, **given)  # type: ignore[arg-type]


def a_pool(*instances: Instance, **rules: object) -> Pool:
    """A pool with a TTL of 30 s in which these registered at the start."""
    pool = Pool(PoolRules(**rules))  # type: ignore[arg-type]
    for instance in instances:
        joined(pool, instance)
    return pool


def joined(pool: Pool, instance: Instance, now: Instant = START) -> Member:
    """Register an Instance that must be taken."""
    outcome = pool.register(instance, now)
    assert isinstance(outcome, Registration), outcome
    return outcome.member


def refused(pool: Pool, instance: Instance, now: Instant = START) -> Refusal:
    """Register an Instance that must not be taken."""
    outcome = pool.register(instance, now)
    assert isinstance(outcome, Refusal), outcome
    return outcome
