"""How a program that only serves is run: until a signal, and its lines are seen at once."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable

EXIT_CANNOT_LISTEN = 5


def run_until_signal(serve: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Run a server until SIGINT or SIGTERM sets the event it is handed; raises what it raises."""
    # Only here, for a wrong option is told without it.
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(serve))


async def _serve(serve: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stopping.set)
    await serve(stopping)


def announce(lines: str) -> None:
    """Print what whoever started the program waits for, past the buffer of a pipe."""
    sys.stdout.write(f"{lines}\n")
    sys.stdout.flush()
