"""The listening socket of a demo Instance: it can be closed for a while and opened again.

Answers that are running go on while nobody new can connect, as when a machine is taken out
of a network's reach or a listen queue is full.
"""

import asyncio
from collections.abc import Callable

from cacheroute.core.limits import Timeouts
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.server import HttpServer
from cacheroute.formats.address import Address
from cacheroute.member.complaint import remark
from cacheroute.member.listeners import CannotListen, listeners_at

_TIMEOUTS = Timeouts(client_idle_s=5.0)
"""Unused connections are closed as early as vLLM's server closes them."""

_RETRY_S = 0.5


class Listening:
    """One port, and optionally a second one for the control plane."""

    def __init__(
        self,
        on_request: Callable[[Inbound], None],
        *,
        host: str,
        port: int,
        cp_host: str | None = None,
        cp_port: int | None = None,
    ) -> None:
        self._on_request = on_request
        self._host = host
        self._cp_host = cp_host or host
        self._cp_port = cp_port
        self._server: HttpServer | None = None
        self._retired: list[HttpServer] = []
        self._reopening: asyncio.Task[None] | None = None
        self.port = port
        """The port that is listened on, once `open` has returned."""

    async def open(self) -> None:
        """Bind and listen; raises CannotListen."""
        addresses = [Address(self._host, self.port)]
        if self._cp_port is not None:
            addresses.append(Address(self._cp_host, self._cp_port))
        bound = listeners_at(*addresses)
        server = HttpServer(self._on_request, timeouts=_TIMEOUTS)
        await server.start(listeners=[one for listeners in bound for one in listeners])
        self._server = server
        self.port = server.port

    def refuse_for(self, seconds: float) -> None:
        """Take no connection for a while; a second call starts the while anew."""
        if self._server is not None:
            self._server.refuse_new()
            self._retired.append(self._server)
            self._server = None
        if self._reopening is not None:
            self._reopening.cancel()
        self._reopening = asyncio.create_task(  # noqa: TID251 - held here, ended by close()
            self._reopen_after(seconds)
        )

    async def close(self, grace_s: float) -> None:
        """Stop listening, and let running answers end for `grace_s`."""
        if self._reopening is not None:
            self._reopening.cancel()
        servers = [*self._retired, *([self._server] if self._server else [])]
        self._retired, self._server = [], None
        await asyncio.gather(*(server.stop(grace_s) for server in servers))

    async def _reopen_after(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        while True:
            try:
                await self.open()
            except CannotListen as error:
                remark(f"{error}; it is tried again")
                await asyncio.sleep(_RETRY_S)
            else:
                break
        retired, self._retired = self._retired, []
        for server in retired:
            if server.connections:
                self._retired.append(server)
            else:
                await server.stop()
