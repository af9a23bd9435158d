"""Runs the control plane's FastAPI app on this process's own event loop.

uvicorn would take over signals and exit the process when its port is taken; here the
sockets are bound first, by us, and both planes start and stop with the App.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cacheroute.planes.metrics import render_metrics
from cacheroute.wire.paths import METRICS

if TYPE_CHECKING:
    import socket

    import uvicorn

    from cacheroute.planes.admin import Operating
    from cacheroute.planes.control_owner import ControlOwner, ControlRules
    from cacheroute.planes.metrics import Readings

_START_POLL_S = 0.005
_GRACE_S = 2.0


class ControlServer:
    """The control plane, as something that starts and stops."""

    def __init__(
        self,
        owner: ControlOwner,
        rules: ControlRules,
        read_metrics: Callable[[], Readings],
        operator: Operating | None = None,
    ) -> None:
        self._owner = owner
        self._operator = operator
        self._rules = rules
        self._read_metrics = read_metrics
        self._server: uvicorn.Server | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self.port = 0
        """The port that is listened on, once started."""

    async def start(self, listeners: list[socket.socket]) -> None:
        """Serve on bound sockets."""
        self.port = listeners[0].getsockname()[1]
        # The web framework is half of this program's start-up time, and nobody needs it
        # before the service plane is up.
        import uvicorn
        from starlette.responses import Response

        from cacheroute.planes.admin import add_admin
        from cacheroute.planes.control import build_control_app
        from cacheroute.runtime.control_protocol import BoundedProtocol

        app = build_control_app(
            self._owner, self._rules, stopping=self._stopping, abort=self._abort
        )
        if self._operator is not None:
            add_admin(app, self._operator, has_token=self._rules.token is not None)

        async def metrics() -> Response:
            # The page of a thousand Instances takes a third of a second to write, in which no
            # stream would move; what it says is read here, in one go.
            readings = self._read_metrics()
            kind, page = await asyncio.to_thread(render_metrics, lambda: readings)
            return Response(page, media_type=kind)

        app.add_api_route(METRICS, metrics, methods=["GET"])
        config = uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            http=BoundedProtocol,
            limit_concurrency=self._rules.connections,
            timeout_keep_alive=75,
            # Both would else be read from the environment, where somebody else's could stand,
            # and the first could let strangers pass as local.
            forwarded_allow_ips="127.0.0.1",
            workers=1,
        )
        server = self._server = uvicorn.Server(config)
        server.capture_signals = _no_signals  # type: ignore[method-assign]
        server.main_loop = self._idle  # type: ignore[method-assign]
        server.shutdown = self._shut  # type: ignore[method-assign]
        for listener in listeners:
            listener.listen(2048)
        self._task = asyncio.get_running_loop().create_task(server.serve(sockets=listeners))
        while not server.started:
            if self._task.done():
                self._task.result()
                raise RuntimeError("the control plane ended before it had started")
            await asyncio.sleep(_START_POLL_S)

    async def stop(self) -> None:
        """Stop serving; calls that are running get two seconds."""
        if self._server is None or self._task is None:
            return
        self._server.should_exit = True
        self._stopping.set()
        await self._task

    def _abort(self, client: object) -> None:
        """Cut the connection of a client that does not read what it asked for."""
        if self._server is None:
            return
        for connection in list(self._server.server_state.connections):
            if getattr(connection, "client", None) == client:
                connection.transport.abort()

    async def _idle(self) -> None:
        """Stand in for uvicorn's own loop, which wakes ten times a second and stops as slowly."""
        while self._server is not None and not self._server.should_exit:
            await self._server.on_tick(0)  # renews the Date header
            try:
                async with asyncio.timeout(1.0):
                    await self._stopping.wait()
            except TimeoutError:
                pass

    async def _shut(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, let running calls end for two seconds, then cut them."""
        if self._server is None:
            return
        for listening in self._server.servers:
            listening.close()
        for sock in sockets or []:
            sock.close()
        state = self._server.server_state
        for connection in list(state.connections):
            connection.shutdown()
        if state.tasks:
            await asyncio.wait(state.tasks, timeout=_GRACE_S)
        for task in state.tasks:
            task.cancel()
        for connection in list(state.connections):
            if connection.transport is not None:
                connection.transport.abort()
        # One more turn, in which the transports tell their protocols.
        await asyncio.sleep(0)


@contextlib.contextmanager
def _no_signals() -> Iterator[None]:
    yield
