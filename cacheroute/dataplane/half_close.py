"""Has a client that closed its sending side left, or is it waiting for its answer?

TCP says the same in both cases. Only sending something tells: the kernel of a client that
has closed altogether answers it with a reset. An interim response is legal for any HTTP/1.1
request, and a client that waits passes over it; once an answer is under way, its own bytes
do the telling.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from cacheroute.dataplane import sockets
from cacheroute.dataplane.head import CONTINUE

if TYPE_CHECKING:
    from cacheroute.dataplane.inbound import Inbound

_GRACE_S = 0.25
"""Most answers come sooner, and most clients that close are gone at once anyway."""
_CHECKS_S = (0.05, 0.1, 0.3, 1.0)
"""When to look for the reset, each counted from the look before."""


class HalfCloseProbe:
    """Watches one half-closed client while it is answered."""

    __slots__ = ("_inbound", "_loop", "_timer", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._inbound: Inbound | None = None
        self._timer: asyncio.TimerHandle | None = loop.call_later(_GRACE_S, self._ask)

    def watch(self, inbound: Inbound | None) -> None:
        """Tell which request is being answered; None when none is."""
        self._inbound = inbound

    def stop(self) -> None:
        """Watch no longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ask(self) -> None:
        inbound = self._inbound
        if inbound is None or self._transport.is_closing():
            self._timer = None
            return
        if not inbound.begun and not inbound.is_http_10:
            self._transport.write(CONTINUE)
        self._look(0)

    def _look(self, turn: int) -> None:
        self._timer = None
        if sockets.is_reset(self._transport):
            self._transport.abort()
        elif turn < len(_CHECKS_S) and self._inbound is not None:
            self._timer = self._loop.call_later(_CHECKS_S[turn], self._look, turn + 1)
