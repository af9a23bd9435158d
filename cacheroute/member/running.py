"""How a program of ours is run: until a signal, and its lines are seen at once."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable

from cacheroute.member.complaint import complain
from cacheroute.member.listeners import CannotListen

EXIT_CANNOT_LISTEN = 5


def run_until_signal(serve: Callable[[asyncio.Event], Awaitable[None]]) -> int:
    """Run a server until SIGINT or SIGTERM sets the event it is handed; returns the exit code.

    A server that cannot listen is told in one sentence; what else it raises is raised.
    """
    # Only here, for a wrong option is told without it.
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            runner.run(_serve(serve))
        except CannotListen as error:
            return tell_cannot_listen(error)
    return 0


def tell_cannot_listen(error: CannotListen) -> int:
    """Say which address cannot be had; returns the exit code."""
    return complain(str(error), code="process.conflict", exit_code=EXIT_CANNOT_LISTEN)


def leave_quietly_on_signals() -> None:
    """Let SIGINT and SIGTERM end the program with 0, until a loop takes them over."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, _leave)


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


def _leave(_signal: int, _frame: object) -> None:
    raise SystemExit(0)
