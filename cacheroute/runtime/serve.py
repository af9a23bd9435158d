"""One Proxy as a process: sockets first, then the App, then signals until the end.

The first SIGTERM or SIGINT drains; a second one ends at once.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import resource
import signal
import sys
from enum import IntEnum
from typing import TYPE_CHECKING

from cacheroute.dataplane.sockets import bind
from cacheroute.member.complaint import complain
from cacheroute.runtime.compose import build

if TYPE_CHECKING:
    import socket

    from cacheroute.settings.load import Loaded

log = logging.getLogger("cacheroute")

_DESCRIPTORS = 65_536


class Exit(IntEnum):
    """What the process ends with."""

    DONE = 0
    FAILED = 1
    BAD_CONFIG = 2
    PORT_TAKEN = 5


def configure_logging(level: str) -> None:
    """Write log lines to stderr: time, level, event."""
    logging.basicConfig(
        level=level.upper(),
        stream=sys.stderr,
        format="%(asctime)s %(levelname).1s %(name)s %(message)s",
        datefmt="%H:%M:%S",
    )
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    # It warns of each request that is no HTTP, without a word on whose: a log for anybody to fill.
    for chatty in ("uvicorn", "uvicorn.error"):
        logging.getLogger(chatty).setLevel(logging.ERROR)


def run(loaded: Loaded) -> int:
    """Serve until a signal; return the exit code."""
    settings = loaded.settings
    configure_logging(settings.log_level)
    for warning in loaded.warnings:
        log.warning("%s", warning)
    for note in loaded.notes:
        log.debug("%s", note)
    listeners: list[list[socket.socket]] = []
    for plane, where in (("proxy", settings.proxy), ("control", settings.control)):
        try:
            listeners.append(bind(where.host, where.port))
        except OSError as error:
            return say_taken(plane, where.host, where.port, error)
    raise_descriptor_limit()
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(loaded, *listeners))


def raise_descriptor_limit() -> None:
    """Allow as many descriptors as the system lets us: a request has two of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def say_taken(plane: str, host: str, port: int, error: OSError) -> int:
    """Say on stderr why an address cannot be had, and the way out; returns the exit code."""
    is_taken = error.errno == errno.EADDRINUSE
    return complain(
        f"cannot listen on {_shown(host)}:{port}: {error.strerror or error}",
        code="process.conflict" if is_taken else "process.failed",
        exit_code=Exit.PORT_TAKEN if is_taken else Exit.FAILED,
        hint=f"choose another with --set {plane}.port=N, or see who has it: ss -ltnp",
    )


async def _serve(loaded: Loaded, service: list[socket.socket], control: list[socket.socket]) -> int:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    hurrying = asyncio.Event()

    def on_signal() -> None:
        if stopping.is_set():
            hurrying.set()
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    app = build(loaded.settings)
    await app.start(service, control)
    settings = loaded.settings
    print(  # noqa: T201
        f"service http://{settings.proxy.advertised(app.service_port).authority}"
        f"  control http://{_shown(settings.control.host)}:{app.control_port}",
        file=sys.stderr,
        flush=True,
    )
    # What was made at start lives as long as the process: the collector need not look at
    # it again and again.
    gc.collect()
    gc.freeze()
    # A request leaves no cycles behind, so looking for some every few requests finds none.
    gc.set_threshold(20_000, 20, 50)
    await stopping.wait()
    log.info("proxy.stopping grace_s=%g", settings.proxy.shutdown_grace_s)
    ending = loop.create_task(app.stop())
    hurry = loop.create_task(hurrying.wait())
    await asyncio.wait({ending, hurry}, return_when=asyncio.FIRST_COMPLETED)
    if not ending.done():
        await app.hurry()
        await ending
    hurry.cancel()
    return Exit.DONE


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
