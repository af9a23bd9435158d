"""The control plane of a Proxy, as an object: one method for each of its endpoints.

A reply is bounded in size and in time, so a broken or hostile server costs neither memory
nor patience. A client may be used for many questions; close it, or use it as a context.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from cacheroute.client.admin import AdminCalls, AsyncAdminCalls
from cacheroute.client.ask import Ask
from cacheroute.client.asker import Answer, problems
from cacheroute.client.console import AsyncConsoleCalls, ConsoleCalls
from cacheroute.client.endless import AsyncEndlessReads, EndlessReads
from cacheroute.client.later import later

if TYPE_CHECKING:
    from cacheroute.client import asks
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
    from cacheroute.wire.topology import TopologyReportBody, TopologyReportReply
else:
    asks = later("cacheroute.client.asks")

T = TypeVar("T")


class ControlClient(EndlessReads, AdminCalls, ConsoleCalls):
    """Asks and waits."""

    def ask(self, ask: Ask[T]) -> T:
        """Put one question; raises a ControlFault when there is no answer to it."""
        return self._read(ask, self._exchanged(ask))

    def raw(self, path: str) -> bytes:
        """GET any path and return the body as it came; raises a ControlFault as `ask` does."""
        ask = Ask(path=path, reply=bytes)
        came = self._exchanged(ask)
        return came.body if came.status == 200 else self._read(ask, came)

    def _exchanged(self, ask: Ask[T]) -> Answer:
        try:
            with self._http.stream(**self._request(ask)) as response:
                return self._whole(ask, response)
        except problems() as problem:
            raise self._fault(ask, problem) from problem

    def health(self) -> HealthReply:
        """`GET /healthz`."""
        return self.ask(asks.HEALTH)

    def status(self) -> StatusReply:
        """`GET /debug/status`."""
        return self.ask(asks.STATUS)

    def instances(self, *, include_dead: bool = False) -> list[InstanceRow]:
        """`GET /v1/instance/list`."""
        return self.ask(asks.instances(include_dead=include_dead))

    def loads(self) -> InstanceLoadsReply:
        """`GET /debug/instance_loads`."""
        return self.ask(asks.LOADS)

    def resources(self, *, include_dead: bool = True) -> InstanceResourcesReply:
        """`GET /debug/instance_resources`."""
        return self.ask(asks.resources(include_dead=include_dead))

    def pool(self) -> PoolResourceReply:
        """`GET /debug/pool_resource`."""
        return self.ask(asks.POOL)

    def pool_sources(self) -> PoolResourceSourcesReply:
        """`GET /debug/pool_resource_sources`."""
        return self.ask(asks.POOL_SOURCES)

    def scheduler(self) -> SchedulerReply:
        """`GET /debug/scheduler`."""
        return self.ask(asks.SCHEDULER)

    def predictions(self) -> PredictionsReply:
        """`GET /debug/predictions`."""
        return self.ask(asks.PREDICTIONS)

    def register(self, body: RegisterBody) -> RegisterReply:
        """`POST /v1/instance/register`."""
        return self.ask(asks.register(body))

    def heartbeat(self, body: HeartbeatBody) -> HeartbeatReply:
        """`POST /v1/instance/heartbeat`."""
        return self.ask(asks.heartbeat(body))

    def unregister(self, body: UnregisterBody) -> OkReply:
        """`POST /v1/instance/unregister`."""
        return self.ask(asks.unregister(body))

    def report_snapshot(self, body: SnapshotBody) -> OkReply:
        """`POST /v1/instance/resource_snapshot`."""
        return self.ask(asks.report_snapshot(body))

    def report_topology(self, body: TopologyReportBody) -> TopologyReportReply:
        """`POST /v1/topology/report`."""
        return self.ask(asks.report_topology(body))

    def close(self) -> None:
        """Drop the connections."""
        if "_http" in vars(self):
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncControlClient(AsyncEndlessReads, AsyncAdminCalls, AsyncConsoleCalls):
    """Asks without holding anybody up."""

    async def ask(self, ask: Ask[T]) -> T:
        """Put one question; raises a ControlFault when there is no answer to it."""
        return self._read(ask, await self._exchanged(ask))

    async def raw(self, path: str) -> bytes:
        """GET any path and return the body as it came; raises a ControlFault as `ask` does."""
        ask = Ask(path=path, reply=bytes)
        came = await self._exchanged(ask)
        return came.body if came.status == 200 else self._read(ask, came)

    async def _exchanged(self, ask: Ask[T]) -> Answer:
        http = await self._opened()
        try:
            # The library's limit is for each piece: a head that drips would never meet it.
            async with (
                asyncio.timeout(self._timeout_s),
                http.stream(**self._request(ask)) as response,
            ):
                return await self._whole(ask, response)
        except problems() as problem:
            raise self._fault(ask, problem) from problem

    async def health(self) -> HealthReply:
        """`GET /healthz`."""
        return await self.ask(asks.HEALTH)

    async def status(self) -> StatusReply:
        """`GET /debug/status`."""
        return await self.ask(asks.STATUS)

    async def instances(self, *, include_dead: bool = False) -> list[InstanceRow]:
        """`GET /v1/instance/list`."""
        return await self.ask(asks.instances(include_dead=include_dead))

    async def loads(self) -> InstanceLoadsReply:
        """`GET /debug/instance_loads`."""
        return await self.ask(asks.LOADS)

    async def resources(self, *, include_dead: bool = True) -> InstanceResourcesReply:
        """`GET /debug/instance_resources`."""
        return await self.ask(asks.resources(include_dead=include_dead))

    async def pool(self) -> PoolResourceReply:
        """`GET /debug/pool_resource`."""
        return await self.ask(asks.POOL)

    async def pool_sources(self) -> PoolResourceSourcesReply:
        """`GET /debug/pool_resource_sources`."""
        return await self.ask(asks.POOL_SOURCES)

    async def scheduler(self) -> SchedulerReply:
        """`GET /debug/scheduler`."""
        return await self.ask(asks.SCHEDULER)

    async def predictions(self) -> PredictionsReply:
        """`GET /debug/predictions`."""
        return await self.ask(asks.PREDICTIONS)

    async def register(self, body: RegisterBody) -> RegisterReply:
        """`POST /v1/instance/register`."""
        return await self.ask(asks.register(body))

    async def heartbeat(self, body: HeartbeatBody) -> HeartbeatReply:
        """`POST /v1/instance/heartbeat`."""
        return await self.ask(asks.heartbeat(body))

    async def unregister(self, body: UnregisterBody) -> OkReply:
        """`POST /v1/instance/unregister`."""
        return await self.ask(asks.unregister(body))

    async def report_snapshot(self, body: SnapshotBody) -> OkReply:
        """`POST /v1/instance/resource_snapshot`."""
        return await self.ask(asks.report_snapshot(body))

    async def report_topology(self, body: TopologyReportBody) -> TopologyReportReply:
        """`POST /v1/topology/report`."""
        return await self.ask(asks.report_topology(body))

    async def close(self) -> None:
        """Drop the connections."""
        if "_http" in vars(self):
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
