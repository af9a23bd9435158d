"""The summary of the pool as an owner of one gives it: to people here, to a Scheduler elsewhere."""

from cacheroute.core.pool_resource import pool_resource
from cacheroute.planes import debug
from cacheroute.planes.control_owner import ControlOwner


def ttl_s(owner: ControlOwner) -> int:
    """Return the time to live of Instances as the wire has it, in whole seconds."""
    return max(1, int(owner.pool.rules.ttl_s))


def limits(owner: ControlOwner) -> debug.Limits:
    """Return what bounds the queues of its Instances as of now."""
    return debug.Limits(
        rules=owner.queue_rules, topology=owner.topology, kv_in_use=owner.links.in_use()
    )


def pool_summary(owner: ControlOwner) -> dict[str, object]:
    """Return `pool_resource` (protocol, 1.6) as of now."""
    snapshot = owner.pool.snapshot(owner.clock.now())
    return pool_resource(
        debug.readings(snapshot.views),
        proxy_id=owner.proxy_id,
        ttl_s=ttl_s(owner),
        capacity=owner.capacity,
        now=snapshot.taken_at,
    )
