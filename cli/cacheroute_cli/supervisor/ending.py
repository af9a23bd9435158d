"""How a process is ended: asked first, given time, then killed. Never somebody else's.

Signals go through a pidfd that was checked after it was opened, so a pid that has been used
again is not touched. A process that leads its own group takes the group with it.
"""

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from enum import Enum

from cacheroute_cli.supervisor.identity import Identity, identify, marked_with

_KILL_WAIT_S = 5.0
_STEP_S = 0.1


class Ending(Enum):
    """How a process came to its end."""

    WAS_GONE = "was gone"
    ENDED = "ended"
    KILLED = "killed"


class _Target:
    """One process that may be signalled, by a descriptor that means nobody else."""

    def __init__(self, identity: Identity, pidfd: int) -> None:
        self.identity = identity
        self.pidfd = pidfd

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if os.getpgid(self.identity.pid) == self.identity.pid:
                os.killpg(self.identity.pid, number)
            else:
                signal.pidfd_send_signal(self.pidfd, number)

    def ended_within(self, timeout_s: float) -> bool:
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        return bool(poll.poll(max(0.0, timeout_s) * 1000))


def end_all(
    identities: Sequence[Identity],
    *,
    grace_s: float,
    hurry: Callable[[], bool] = lambda: False,
) -> list[Ending]:
    """End several processes at once, and say how each went.

    `grace_s` is how long they may take after being asked; `hurry` cuts it short when it
    becomes true.
    """
    with ExitStack() as opened:
        targets = [_open(identity, opened) for identity in identities]
        for target in targets:
            if target is not None:
                target.signal(signal.SIGTERM)
        deadline = time.monotonic() + grace_s
        return [_see_off(target, deadline, hurry) for target in targets]


def end(identity: Identity, *, grace_s: float) -> Ending:
    """End one process."""
    return end_all([identity], grace_s=grace_s)[0]


def end_marked(stack: str, *, but: frozenset[int] = frozenset()) -> int:
    """Kill whatever still carries the name of a stack; return how many there were.

    For what a process left behind outside its own group. Pids in `but` are spared, as is ours.
    """
    spared = but | {os.getpid()}
    left = [identity for identity in marked_with(stack) if identity.pid not in spared]
    end_all(left, grace_s=0.0)
    return len(left)


def _open(identity: Identity, opened: ExitStack) -> _Target | None:
    try:
        pidfd = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return None
    opened.callback(os.close, pidfd)
    # Checked after opening: from here on the descriptor can only mean this process.
    return _Target(identity, pidfd) if identify(identity.pid) == identity else None


def _see_off(target: _Target | None, deadline: float, hurry: Callable[[], bool]) -> Ending:
    if target is None:
        return Ending.WAS_GONE
    while True:
        left_s = deadline - time.monotonic()
        if target.ended_within(min(left_s, _STEP_S)):
            return Ending.ENDED
        if left_s <= 0 or hurry():
            break
    target.signal(signal.SIGKILL)
    target.ended_within(_KILL_WAIT_S)
    return Ending.KILLED
