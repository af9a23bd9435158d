"""Every question that can be put to a control plane: path, body, and the reply it has.

The two clients only differ in how they wait; what they ask stands here, once. What a console
asks again and again stands in `console`: it is read without the models that are loaded here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from cacheroute.client.ask import Ask
from cacheroute.client.later import later
from cacheroute.wire import paths
from cacheroute.wire.debug import (
    HealthReply,
    InstanceLoadsReply,
    InstanceResourcesReply,
    PoolResourceReply,
    PoolResourceSourcesReply,
    PredictionsReply,
    SchedulerReply,
    StatusReply,
)
from cacheroute.wire.instances import (
    HeartbeatBody,
    HeartbeatReply,
    InstanceRow,
    OkReply,
    RegisterBody,
    RegisterReply,
    SnapshotBody,
    UnregisterBody,
)

if TYPE_CHECKING:
    from cacheroute.wire import topology
    from cacheroute.wire.topology import TopologyReportBody, TopologyReportReply
else:
    topology = later("cacheroute.wire.topology")


def _said(value: bool) -> str:
    return "true" if value else "false"


def _written(body: BaseModel) -> bytes:
    # Only what was set: an absent field and a null one may mean different things.
    return body.model_dump_json(exclude_unset=True).encode()


HEALTH = Ask(path=paths.HEALTHZ, reply=HealthReply)
STATUS = Ask(path=paths.DEBUG_STATUS, reply=StatusReply)
LOADS = Ask(path=paths.DEBUG_INSTANCE_LOADS, reply=InstanceLoadsReply)
POOL = Ask(path=paths.DEBUG_POOL_RESOURCE, reply=PoolResourceReply)
POOL_SOURCES = Ask(path=paths.DEBUG_POOL_RESOURCE_SOURCES, reply=PoolResourceSourcesReply)
PREDICTIONS = Ask(path=paths.DEBUG_PREDICTIONS, reply=PredictionsReply)
SCHEDULER = Ask(path=paths.DEBUG_SCHEDULER, reply=SchedulerReply)


def instances(*, include_dead: bool) -> Ask[list[InstanceRow]]:
    """Who is in the pool."""
    path = f"{paths.INSTANCE_LIST}?include_dead={_said(include_dead)}"
    return Ask(path=path, reply=list[InstanceRow])


def resources(*, include_dead: bool) -> Ask[InstanceResourcesReply]:
    """What every Instance's host has left."""
    path = f"{paths.DEBUG_INSTANCE_RESOURCES}?include_dead={_said(include_dead)}"
    return Ask(path=path, reply=InstanceResourcesReply)


def register(body: RegisterBody) -> Ask[RegisterReply]:
    """Put an Instance into the pool, or describe it anew."""
    return Ask(path=paths.INSTANCE_REGISTER, body=_written(body), reply=RegisterReply)


def heartbeat(body: HeartbeatBody) -> Ask[HeartbeatReply]:
    """Say that an Instance lives."""
    return Ask(path=paths.INSTANCE_HEARTBEAT, body=_written(body), reply=HeartbeatReply)


def unregister(body: UnregisterBody) -> Ask[OkReply]:
    """Take an Instance out of the pool."""
    return Ask(path=paths.INSTANCE_UNREGISTER, body=_written(body), reply=OkReply)


def report_snapshot(body: SnapshotBody) -> Ask[OkReply]:
    """Hand over a host's resources as its agent sees them."""
    return Ask(path=paths.INSTANCE_RESOURCE_SNAPSHOT, body=_written(body), reply=OkReply)


def report_topology(body: TopologyReportBody) -> Ask[TopologyReportReply]:
    """Hand over an Instance's measured links to knowledge servers."""
    return Ask(path=paths.TOPOLOGY_REPORT, body=_written(body), reply=topology.TopologyReportReply)
