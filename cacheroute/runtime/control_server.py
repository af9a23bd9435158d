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

    from cacheroute.planes.control_owner import ControlOwner, ControlRules
    from cacheroute.planes.metrics import Readings

_START_POLL_S = 0.005


class ControlServer:
    """The control plane, as something that starts and stops."""

    def __init__(
        self, owner: ControlOwner, rules: ControlRules, read_metrics: Callable[[], Readings]
    ) -> None:
        self._owner = owner
        self._rules = rules
        self._read_metrics = read_metrics
        self._server: uvicorn.Server | None = None
        self._task: asyncio.Task[None] | None = None
        self.port = 0
        """The port that is listened on, once started."""

    async def start(self, listeners: list[socket.socket]) -> None:
        """Serve on bound sockets."""
        self.port = listeners[0].getsockname()[1]
        # The web framework is half of this program's start-up time, and nobody needs it
        # before the service plane is up.
        import uvicorn
        from starlette.responses import Response

        from cacheroute.planes.control import build_control_app

        app = build_control_app(self._owner, self._rules)

        async def metrics() -> Response:
            kind, page = render_metrics(self._read_metrics)
            return Response(page, media_type=kind)

        app.add_api_route(METRICS, metrics, methods=["GET"])
        config = uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            http="httptools",
            timeout_keep_alive=75,
        )
        server = self._server = uvicorn.Server(config)
        server.capture_signals = _no_signals  # type: ignore[method-assign]
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
        try:
            async with asyncio.timeout(2.0):
                await asyncio.shield(self._task)
        except TimeoutError:
            self._server.force_exit = True
            await self._task


@contextlib.contextmanager
def _no_signals() -> Iterator[None]:
    yield
