"""The beat of a watch: how long until the next look, and what cuts a wait short."""

import os
import select
import signal
import time
from types import TracebackType
from typing import Any, Self


class Pace:
    """Waits between two looks; a terminal that changes its size ends a wait early.

    Main thread only: it listens to SIGWINCH while it is entered.
    """

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._due_s = time.monotonic()
        self._previous: Any = None
        self._previous_wakeup = -1
        self._reads = self._writes = -1

    def next(self) -> None:
        """Begin the next interval; one that was overrun is not made up for."""
        self._due_s = max(self._due_s + self._interval_s, time.monotonic())

    def is_due(self) -> bool:
        """Wait until the next look is due, or the terminal's size has changed (then false)."""
        while (left_s := self._due_s - time.monotonic()) > 0:
            ready, _, _ = select.select([self._reads], [], [], left_s)
            if ready and signal.SIGWINCH in os.read(self._reads, 64):
                return False
        return True

    def __enter__(self) -> Self:
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._writes, False)
        os.set_blocking(self._reads, False)
        self._previous_wakeup = signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        # A handler of its own, as a signal that is ignored wakes nobody.
        self._previous = signal.signal(signal.SIGWINCH, lambda *_: None)
        self._due_s = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGWINCH, self._previous)
        signal.set_wakeup_fd(self._previous_wakeup)
        os.close(self._reads)
        os.close(self._writes)
