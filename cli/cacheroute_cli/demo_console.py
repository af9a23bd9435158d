"""A demo to look at: a fleet is up, it is asked over and over, and the console shows it.

The console is a child in this terminal; when it ends, so does the demo.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cacheroute_cli.diagnostics import UsageFault, note
from cacheroute_cli.supervisor.runner import python

if TYPE_CHECKING:
    from cacheroute.demo.trace import TraceRequest
    from cacheroute_cli.supervisor.stack import Stack

_GRACE_S = 5.0
_REST_S = 2.0
"""Between one replay and the next."""

Replay = Callable[[], Coroutine[Any, Any, object]]


def require_terminal() -> None:
    """Raise UsageFault where the console cannot be shown."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageFault("--tui needs a terminal", hint="without it the demo needs none")


def watch_trace(
    trace: "Sequence[TraceRequest]",
    *,
    strategy: str,
    instances: int,
    speed: float,
    compression: float,
) -> int:
    """Bring a fleet up and replay the trace until the console is left; returns its exit code."""
    from cacheroute.demo.replay import replay
    from cacheroute.demo.trace import Scale
    from cacheroute_cli.demo_fleet import MODEL, DemoFleet, demo_folder
    from cacheroute_cli.supervisor.stack import Stack
    from cacheroute_cli.supervisor.state import State

    with demo_folder(State()) as folder, Stack(tethered=True) as stack:
        note(f"starting a Proxy, {instances} demo Instances and a resource agent on free ports")
        fleet = DemoFleet(stack, folder, instances=instances, speed=speed).up(strategy)

        def once() -> Coroutine[Any, Any, object]:
            return replay(
                trace,
                base_url=fleet.service_url,
                model=MODEL,
                compression=compression,
                scale=Scale(),
            )

        return show_in_console(stack, once, control_url=fleet.control_url)


def show_in_console(
    stack: "Stack", once: Replay, *, control_url: str, scheduler_url: str | None = None
) -> int:
    """Open the console and ask over and over until it is left; returns its exit code."""
    note("the console opens; q ends it, and the demo with it")
    argv = python("-P", "-m", "cacheroute_tui", f"--proxy-url={control_url}", "--write")
    environ = dict(os.environ)
    if scheduler_url is not None:
        environ["CACHEROUTE_SCHEDULER_URL"] = scheduler_url
    return stack.signals.run(_until_left(argv, once, environ))


async def _until_left(argv: Sequence[str], once: Replay, environ: Mapping[str, str]) -> int:
    console = await asyncio.create_subprocess_exec(*argv, env=dict(environ))
    traffic = asyncio.ensure_future(_over_and_over(once))
    try:
        return await console.wait()
    finally:
        traffic.cancel()
        await asyncio.gather(traffic, return_exceptions=True)
        await _end(console)


async def _over_and_over(once: Replay) -> None:
    while True:
        await once()
        await asyncio.sleep(_REST_S)


async def _end(console: asyncio.subprocess.Process) -> None:
    if console.returncode is not None:
        return
    with suppress(ProcessLookupError):
        console.terminate()
    with suppress(TimeoutError):
        await asyncio.wait_for(console.wait(), _GRACE_S)
        return
    with suppress(ProcessLookupError):
        console.kill()
    await console.wait()
