"""Waiting until something is true of a child, no longer than it lives.

Polled, because what is waited for lies with other programs: a line in a log, an answer over
HTTP, a row in the pool.
"""

import re
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from cacheroute_cli.supervisor.faults import NotReady
from cacheroute_cli.supervisor.runner import Child

T = TypeVar("T")

_POLL_S = 0.02


def wait_until(
    probe: Callable[[], T | None],
    *,
    what: str,
    children: Sequence[Child],
    timeout_s: float,
) -> T:
    """Return the probe's first answer that is not None.

    Raises ChildFailed when one of the children ends first, and NotReady after `timeout_s`
    seconds; `what` completes the sentence "… within 20 s".
    """
    deadline = time.monotonic() + timeout_s
    while True:
        found = probe()
        if found is not None:
            return found
        for child in children:
            if child.exit_code() is not None:
                raise child.failure()
        if time.monotonic() >= deadline:
            logs = ", ".join(dict.fromkeys(str(child.program.log) for child in children))
            raise NotReady(f"{what} within {timeout_s:g} s", hint=f"see {logs}" if logs else None)
        time.sleep(_POLL_S)


def wait_for_line(child: Child, pattern: re.Pattern[str], *, timeout_s: float) -> re.Match[str]:
    """Return the match of the line by which a child says that it is ready."""
    return wait_until(
        lambda: pattern.search(child.first_words()),
        what=f"{child.program.name} did not say that it is ready",
        children=[child],
        timeout_s=timeout_s,
    )
