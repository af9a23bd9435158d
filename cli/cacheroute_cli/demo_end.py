"""How a demo ends: at once, or when a signal says so; and badly when requests have failed."""

import signal
import time
from collections.abc import Sequence

from cacheroute_cli.diagnostics import Exit, Fault, note
from cacheroute_cli.supervisor.signals import Stopped
from cacheroute_cli.supervisor.stack import Stack


class RequestsFailed(Fault):
    """The demo ran to its end, and some requests failed."""

    code = "demo.failures"
    exit = Exit.BAD_ANSWER


def stay(stack: Stack, notes: Sequence[str]) -> None:
    """Say what is up and wait for a signal; an interrupt is the regular end.

    Raises ChildFailed when one of the processes ends meanwhile.
    """
    for line in notes:
        note(line)
    try:
        while all(child.exit_code() is None for child in stack.children()):
            time.sleep(0.5)
    except Stopped as stopped:
        if stopped.number != signal.SIGINT:
            raise
        return
    raise next(child.failure() for child in stack.children() if child.exit_code() is not None)
