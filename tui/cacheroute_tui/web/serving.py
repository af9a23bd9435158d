"""Serving the console to browsers: textual-serve's own server, with our door in front of it."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aiohttp import web
from textual_serve.server import Server

from cacheroute_tui.web.gate import MAX_BODY_BYTES, Gate

MAX_MESSAGE_BYTES = 1024 * 1024
_TITLE = "CacheRoute"
_END_GRACE_S = 5.0


class ConsoleServer(Server):
    """Starts a console for each browser that has passed the door."""

    def __init__(self, command: Sequence[str], gate: Gate) -> None:
        # It hands the command to a shell, so each word is quoted.
        super().__init__(shlex.join(command), title=_TITLE)
        self._gate = gate

    async def application(self) -> web.Application:
        """Make what serves, with the door in front."""
        app = await self._make_app()
        app.middlewares.append(self._gate.middleware)
        app._client_max_size = MAX_BODY_BYTES  # noqa: SLF001 - the toolkit makes the application
        return app

    async def handle_index(self, request: web.Request) -> Any:
        """Show the page; what it loads and opens is at the name that was asked for."""
        scheme = "https" if request.secure else "http"
        # One event loop, and nothing is awaited before the address is read again.
        self.public_url = f"{scheme}://{request.host}"
        return await super().handle_index(request)

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: whoever serves says where."""


async def serve(
    command: Sequence[str],
    *,
    host: str,
    port: int,
    gate: Gate,
    ready: Callable[[int], None],
    until: asyncio.Event,
) -> None:
    """Serve until told to end; `ready` gets the port. Raises OSError when it is taken."""
    application = await ConsoleServer(command, gate).application()
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=_END_GRACE_S)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        ready(runner.addresses[0][1])
        await until.wait()
    finally:
        await runner.cleanup()


def serve_until_ended(
    command: Sequence[str], *, host: str, port: int, gate: Gate, ready: Callable[[int], None]
) -> int:
    """Serve until somebody ends us; returns the exit code."""
    ended: list[int] = []

    async def main() -> None:
        until = asyncio.Event()
        loop = asyncio.get_running_loop()

        def end(number: int) -> None:
            ended.append(number)
            until.set()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, end, number)
        await serve(command, host=host, port=port, gate=gate, ready=ready, until=until)

    asyncio.run(main())
    return 0 if not ended or ended[0] == signal.SIGTERM else 128 + ended[0]


def console_command(words: Sequence[str]) -> list[str]:
    """Return the command of one console: it never gets `--write`."""
    return [sys.executable, "-P", "-m", "cacheroute_tui.web.console", *words]


def only_looking(environ: Mapping[str, str]) -> dict[str, str]:
    """Return surroundings in which no client changes anything, whatever it is asked to."""
    return dict(environ) | {"CACHEROUTE_READONLY": "true", "CACHEROUTE_CLIPBOARD": "osc52"}


def take_surroundings() -> None:
    """Let every console that we start have them."""
    os.environ.update(only_looking(os.environ))
