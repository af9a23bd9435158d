"""One coarse timer for every limit on silence.

A timer per request would cost more than the request's own bookkeeping, and almost none
would ever fire. Instead each watched object counts the ticks since it last heard
something, and forgets them when it does.
"""

import asyncio
from typing import Protocol


class Watched(Protocol):
    """Something whose silence is bounded."""

    def tick(self, elapsed_s: float) -> None:
        """Note that this many seconds have gone by; act when a limit is passed."""
        ...


class Sweeper:
    """Ticks every watched object, from the first one watched until `stop`."""

    __slots__ = ("_handle", "_loop", "_ticked_at", "interval_s", "watched")

    def __init__(self, loop: asyncio.AbstractEventLoop, limits_s: list[float | None]) -> None:
        known = [limit for limit in limits_s if limit is not None]
        # A quarter of the smallest limit, so that no limit is overrun by more than that.
        self.interval_s = min(1.0, max(0.01, min(known, default=4.0) / 4))
        self.watched: set[Watched] = set()
        self._loop = loop
        self._handle: asyncio.TimerHandle | None = None
        self._ticked_at = loop.time()

    def start(self) -> None:
        """Begin to tick."""
        if self._handle is None:
            self._ticked_at = self._loop.time()
            self._handle = self._loop.call_later(self.interval_s, self._sweep)

    def stop(self) -> None:
        """Stop ticking; what is watched stays as it is."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _sweep(self) -> None:
        now = self._loop.time()
        # A loop that was held up must not charge its own delay to the peers.
        elapsed_s = min(now - self._ticked_at, 2 * self.interval_s)
        self._ticked_at = now
        for watched in list(self.watched):
            try:
                watched.tick(elapsed_s)
            except Exception as error:  # one that fails must not end the watch over the others
                self._loop.call_exception_handler(
                    {"message": f"Tick of {watched!r} failed", "exception": error}
                )
        self._handle = self._loop.call_later(self.interval_s, self._sweep)
