"""The simulated way from a knowledge node to its Instances: one link, one transfer at a time.

A transfer takes delay + bytes * 8 / (bandwidth * efficiency), in the order they were asked for.
One whose caller has gone is dropped, and the next begins at once. Short messages, such as
texts, take the delay alone and never wait behind a transfer.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from cacheroute.demo.kdn.refused import Refused

MAX_WAITING = 1024
"""Most transfers that wait for the link; one more is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRules:
    """What the link is like."""

    bandwidth_mbps: float | None = None
    """Millions of bits per second; None has no simulated link at all."""
    delay_ms: float = 0.0
    efficiency: float = 0.825
    """Share of the bandwidth that transfers get, the rest being headers and pauses."""
    speed: float = 1.0
    """Model seconds in one real second."""

    @property
    def delay_s(self) -> float:
        """The delay in real seconds; 0 without a link."""
        return 0.0 if self.bandwidth_mbps is None else self.delay_ms / 1000 / self.speed

    def transfer_s(self, size_bytes: int) -> float:
        """Return how long a transfer takes, delay included, in real seconds."""
        if self.bandwidth_mbps is None:
            return 0.0
        bits_per_s = self.bandwidth_mbps * 1e6 * self.efficiency
        return self.delay_s + size_bytes * 8 / bits_per_s / self.speed


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """How one transfer went, in real time."""

    queue_ms: float
    """Wait for transfers that were there before."""
    transfer_ms: float


class Link:
    """The link; its rules can be changed at any time, for transfers that have not begun."""

    def __init__(
        self,
        rules: LinkRules,
        *,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.rules = rules
        self.waiting = 0
        """Transfers that wait for their turn."""
        self._now_s = now_s
        self._sleep = sleep
        # Its waiters come in turn, and one that is cancelled is passed over.
        self._turn = asyncio.Lock()

    @property
    def is_simulated(self) -> bool:
        """Whether there is a link to wait for."""
        return self.rules.bandwidth_mbps is not None

    @property
    def is_busy(self) -> bool:
        """Whether a transfer is running."""
        return self._turn.locked()

    def change(self, **changes: Any) -> None:
        """Change the rules; raises Refused for a delay without a link to have it."""
        rules = replace(self.rules, **changes)
        if changes.get("delay_ms") and rules.bandwidth_mbps is None:
            raise Refused(400, "delay_ms needs a bandwidth_mbps: there is no link")
        self.rules = rules

    async def transfer(self, size_bytes: int) -> Passage:
        """Take as long as a transfer of so many bytes does; raises Refused at a full queue."""
        if not self.is_simulated:
            return Passage(queue_ms=0.0, transfer_ms=0.0)
        if self.waiting >= MAX_WAITING:
            raise Refused(503, f"{self.waiting} transfers are waiting for the link already")
        asked_s = self._now_s()
        self.waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self.waiting -= 1
        try:
            began_s = self._now_s()
            await self._sleep(self.rules.transfer_s(size_bytes))
            ended_s = self._now_s()
        finally:
            self._turn.release()
        return Passage(
            queue_ms=(began_s - asked_s) * 1000, transfer_ms=(ended_s - began_s) * 1000
        )  # fmt: skip

    async def message(self) -> None:
        """Take as long as a short message does."""
        if self.rules.delay_s:
            await self._sleep(self.rules.delay_s)
