"""The parts of one Scheduler, put together on the running loop."""

import asyncio
import time

from cacheroute.core.clock import Instant
from cacheroute.core.limits import Limits
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.dataplane.server import HttpServer
from cacheroute.demo.scheduler.answering import refuse_client, refuse_proxy
from cacheroute.demo.scheduler.chance import Chance
from cacheroute.demo.scheduler.control import ControlPlane
from cacheroute.demo.scheduler.knowledge import Library
from cacheroute.demo.scheduler.options import SchedulerOptions
from cacheroute.demo.scheduler.proxies import Proxies
from cacheroute.demo.scheduler.reading import Reading
from cacheroute.demo.scheduler.service import Service
from cacheroute.formats.address import Address
from cacheroute.member.listeners import listeners_at

FIRST_READING_S = 2.0
"""How long a start waits for the knowledge nodes; one that is silent is asked again later."""
_CONTROL_BODY_BYTES = 1024 * 1024
_CONTROL_GRACE_S = 2.0


class Scheduler:
    """Two planes, the Proxies, and what the knowledge nodes hold."""

    def __init__(self, options: SchedulerOptions) -> None:
        self.options = options
        self.proxies = Proxies(options.ttl_s)
        self.library = Library(options.kdns, options.top_k)
        self._pool = UpstreamPool()
        self._used: set[tuple[str, int]] = set()
        service = Service(
            options,
            proxies=self.proxies,
            library=self.library,
            pool=self._pool,
            now=_now,
            chance=Chance(),
        )
        control = ControlPlane(
            self.proxies,
            heartbeat_s=options.heartbeat_s,
            now=_now,
            on_change=self._drop_unused_peers,
        )
        self._service = HttpServer(service.on_request, render_refusal=refuse_client)
        self._control = HttpServer(
            control.on_request,
            limits=Limits(body_bytes=_CONTROL_BODY_BYTES),
            render_refusal=refuse_proxy,
        )
        self._readings = [
            Reading(self._pool, address, self.library, options.refresh_s)
            for address in options.kdns
        ]

    @property
    def port(self) -> int:
        """The port for clients."""
        return self._service.port

    @property
    def cp_host(self) -> str:
        """Where the control plane listens."""
        return self.options.cp_host or self.options.host

    @property
    def cp_port(self) -> int:
        """The port for Proxies."""
        return self._control.port

    async def open(self) -> None:
        """Listen on both planes; raises CannotListen."""
        options = self.options
        service, control = listeners_at(
            Address(options.host, options.port), Address(self.cp_host, options.cp_port)
        )
        await self._service.start(listeners=service)
        await self._control.start(listeners=control)

    def read_on(self, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        """Read the texts of the knowledge nodes, now and from time to time."""
        return [group.create_task(reading.run()) for reading in self._readings]

    async def first_reading(self) -> None:
        """Wait until every knowledge node was asked once, or for as long as a start may take."""
        try:
            async with asyncio.timeout(FIRST_READING_S):
                for reading in self._readings:
                    await reading.tried.wait()
        except TimeoutError:
            pass

    async def close(self) -> None:
        """Let running answers end for a while, then stop."""
        await self._service.stop(self.options.grace_s)
        # Last, so that Proxies can take their leave of a Scheduler that ends with them.
        await self._control.stop(min(_CONTROL_GRACE_S, self.options.grace_s))
        self._pool.close()

    def _drop_unused_peers(self) -> None:
        """Forget addresses that no Proxy has any more, once nothing runs there."""
        current = {(p.host, p.port) for p in self.proxies.addresses()}
        current |= {(kdn.host, kdn.port) for kdn in self.options.kdns}
        for address in list(self._used - current):
            peer = self._pool.known_peer(*address)
            if peer is not None and peer.active:
                continue
            if peer is not None:
                self._pool.drop(peer)
            self._used.discard(address)
        self._used |= current


def _now() -> Instant:
    return Instant(time.monotonic(), time.time())
