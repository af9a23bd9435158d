"""What became of the knowledge that requests named in the last minutes.

A Proxy counts since its start, so it is the rise of its counters that tells. A counter that is
lower than before has lost an Instance, and has not risen; one of another run began at 0.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cacheroute.console.look import Look

WINDOW_S = 300.0
KEPT_EVERY_S = 1.0
"""Looks that are nearer to each other are kept as one."""

_Counts = tuple[int, int, int]
"""As text, as KV, and fallbacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Injections:
    """Requests that named knowledge, by what became of it."""

    text: int
    kv: int
    fallback: int
    """Requests that went on with less than was wanted."""
    over_s: float
    """How long they are counted over; 0 where there was only one look."""


class RecentInjections:
    """Keeps what a Proxy counted, as long ago as the window reaches."""

    def __init__(self) -> None:
        self._run = ""
        self._last: _Counts = (0, 0, 0)
        self._sum: _Counts = (0, 0, 0)
        self._points: deque[tuple[float, _Counts]] = deque()
        self._told: Injections | None = None

    @property
    def told(self) -> Injections | None:
        """The last minutes; None where the Proxy does not tell."""
        return self._told

    def hear(self, look: Look) -> None:
        """Take a look; time is the Proxy's own."""
        knowledge, now_s = look.snapshot.knowledge, look.at_s
        if knowledge is None:
            self.forget()
            return
        counts = (knowledge.text_inject, knowledge.kv_inject, knowledge.fallback)
        points = self._points
        # Of what happened while nobody looked for so long, nobody knows when it did.
        if points and not 0.0 <= now_s - points[-1][0] < WINDOW_S:
            self.forget()
        if not points:
            self._begin(look, counts, now_s)
        else:
            before = self._last if look.run == self._run else (0, 0, 0)
            risen = [max(0, now - then) for now, then in zip(counts, before, strict=True)]
            self._sum = _added(self._sum, risen)
        self._run, self._last = look.run, counts
        if len(points) > 1 and now_s - points[-2][0] < KEPT_EVERY_S:
            points.pop()
        points.append((now_s, self._sum))
        # The last one before the window is where the window begins.
        while len(points) > 1 and points[1][0] <= now_s - WINDOW_S:
            points.popleft()
        began_s, then = points[0]
        text, kv, fallback = (now - old for now, old in zip(self._sum, then, strict=True))
        over_s = min(WINDOW_S, now_s - began_s)
        self._told = Injections(text=text, kv=kv, fallback=fallback, over_s=over_s)

    def forget(self) -> None:
        """Begin anew."""
        self._points.clear()
        self._told = None

    def _begin(self, look: Look, counts: _Counts, now_s: float) -> None:
        """Count from the start of a Proxy that is young, or else from this look on."""
        uptime_s = look.uptime_s
        if uptime_s is not None and 0.0 < uptime_s < WINDOW_S:
            self._points.append((now_s - uptime_s, (0, 0, 0)))
            self._sum = counts
        else:
            self._sum = (0, 0, 0)


def _added(counts: _Counts, more: list[int]) -> _Counts:
    text, kv, fallback = (one + other for one, other in zip(counts, more, strict=True))
    return text, kv, fallback
