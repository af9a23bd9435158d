"""The control plane of a Proxy, as an object: one method for each of its endpoints.

A reply is bounded in size and in time, so a broken or hostile server costs neither memory
nor patience. A client may be used for many questions; close it, or use it as a context.
"""

import time
from types import TracebackType
from typing import Any, Self, TypeVar

from cacheroute.client import asks
from cacheroute.client.answer import cause_of, read_answer
from cacheroute.client.asks import Ask
from cacheroute.client.faults import ControlFault, NotUnderstood, TimedOut, Unreachable
from cacheroute.client.lean_httpx import httpx
from cacheroute.wire.debug import (
    DecisionsReply,
    HealthReply,
    InstanceLoadsReply,
    InstanceResourcesReply,
    PoolResourceReply,
    PoolResourceSourcesReply,
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
from cacheroute.wire.topology import KdnLinksReply, TopologyReportBody, TopologyReportReply

T = TypeVar("T")

MAX_REPLY_BYTES = 64 * 1024 * 1024
"""Largest answer read, in bytes; 10,000 Instances with their raw snapshots take about 27 MB."""


class _Asker:
    """What both clients share: where to ask, and how to take what comes."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        timeout_s: float = 5.0,
        max_reply_bytes: int = MAX_REPLY_BYTES,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s
        self._max_reply_bytes = max_reply_bytes
        # Unpacked here, a small answer could still grow past every bound.
        self._headers = {"accept": "application/json", "accept-encoding": "identity"}
        if token:
            self._headers["authorization"] = f"Bearer {token}"

    def _options(self) -> dict[str, Any]:
        return {
            "headers": self._headers,
            "timeout": self._timeout_s,
            # A proxy meant for the way out of the house must not get the fleet's traffic.
            "trust_env": False,
            # Loading the certificates costs 20 ms, and plain HTTP never looks at them.
            "verify": self.base_url.startswith("https:"),
        }

    def _request(self, ask: Ask[T]) -> dict[str, Any]:
        request: dict[str, Any] = {"method": ask.method, "url": self.base_url + ask.path}
        if ask.body is not None:
            request |= {"content": ask.body, "headers": {"content-type": "application/json"}}
        return request

    def _fault(self, ask: Ask[T], problem: Exception) -> ControlFault:
        url = self.base_url + ask.path
        if isinstance(problem, httpx.TimeoutException | TimeoutError):
            return TimedOut(url=url, timeout_s=self._timeout_s)
        if isinstance(problem, httpx.RemoteProtocolError):
            return NotUnderstood(url=url, why=str(problem))
        return Unreachable(url=url, cause=cause_of(problem))

    def _grown(self, ask: Ask[T], read: bytearray, data: bytes, deadline_s: float) -> None:
        read += data
        if len(read) > self._max_reply_bytes:
            why = f"it is larger than {self._max_reply_bytes} bytes"
            raise NotUnderstood(url=self.base_url + ask.path, why=why)
        # The library's limit is for each piece; one that drips would never meet it.
        if time.monotonic() > deadline_s:
            raise TimedOut(url=self.base_url + ask.path, timeout_s=self._timeout_s)

    def _deadline_s(self) -> float:
        return time.monotonic() + self._timeout_s

    def _read(self, ask: Ask[T], status: int, read: bytearray) -> T:
        return read_answer(ask, url=self.base_url + ask.path, status=status, body=bytes(read))


_PROBLEMS = (httpx.HTTPError, httpx.InvalidURL, OSError)


class ControlClient(_Asker):
    """Asks and waits."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        timeout_s: float = 5.0,
        max_reply_bytes: int = MAX_REPLY_BYTES,
    ) -> None:
        super().__init__(
            base_url, token=token, timeout_s=timeout_s, max_reply_bytes=max_reply_bytes
        )
        self._http = httpx.Client(**self._options())

    def ask(self, ask: Ask[T]) -> T:
        """Put one question; raises a ControlFault when there is no answer to it."""
        read, deadline_s = bytearray(), self._deadline_s()
        try:
            with self._http.stream(**self._request(ask)) as response:
                for data in response.iter_raw():
                    self._grown(ask, read, data, deadline_s)
        except _PROBLEMS as problem:
            raise self._fault(ask, problem) from problem
        return self._read(ask, response.status_code, read)

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

    def decisions(self, *, last: int = 20) -> DecisionsReply:
        """`GET /debug/decisions`."""
        return self.ask(asks.decisions(last=last))

    def kdn_links(self) -> KdnLinksReply:
        """`GET /v1/topology/kdn_links`."""
        return self.ask(asks.KDN_LINKS)

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


class AsyncControlClient(_Asker):
    """Asks without holding anybody up."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        timeout_s: float = 5.0,
        max_reply_bytes: int = MAX_REPLY_BYTES,
    ) -> None:
        super().__init__(
            base_url, token=token, timeout_s=timeout_s, max_reply_bytes=max_reply_bytes
        )
        self._http = httpx.AsyncClient(**self._options())

    async def ask(self, ask: Ask[T]) -> T:
        """Put one question; raises a ControlFault when there is no answer to it."""
        read, deadline_s = bytearray(), self._deadline_s()
        try:
            async with self._http.stream(**self._request(ask)) as response:
                async for data in response.aiter_raw():
                    self._grown(ask, read, data, deadline_s)
        except _PROBLEMS as problem:
            raise self._fault(ask, problem) from problem
        return self._read(ask, response.status_code, read)

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

    async def decisions(self, *, last: int = 20) -> DecisionsReply:
        """`GET /debug/decisions`."""
        return await self.ask(asks.decisions(last=last))

    async def kdn_links(self) -> KdnLinksReply:
        """`GET /v1/topology/kdn_links`."""
        return await self.ask(asks.KDN_LINKS)

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
