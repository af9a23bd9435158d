"""Faults that can be ordered of a knowledge node, for tests and for rehearsals.

One order at a time: it strikes the next `count` lookups, injections, or both, whichever it has
a field for.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import Meta, Struct

from cacheroute.demo.kdn.refused import Refused

DelayS = Annotated[float, Meta(ge=0, le=3600)]
Status = Annotated[int, Meta(ge=400, le=599)]


class FaultOrder(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /demo/fault`: what is to go wrong."""

    lookup_delay_s: DelayS | None = None
    """Silence before a lookup is answered, in real seconds."""
    lookup_status: Status | None = None
    """What a lookup is answered instead."""
    inject_delay_s: DelayS | None = None
    inject_status: Status | None = None
    count: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1
    """How many calls of each kind it strikes."""


class Faults:
    """The order that stands, and how much of it is left."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._sleep = sleep
        self._order: FaultOrder | None = None
        self._left = {"lookup": 0, "inject": 0}

    def order(self, order: FaultOrder) -> None:
        """Take an order, in place of the one before."""
        has_lookup = order.lookup_delay_s is not None or order.lookup_status is not None
        has_inject = order.inject_delay_s is not None or order.inject_status is not None
        if not has_lookup and not has_inject:
            raise Refused(400, "a fault has a delay or a status, of lookups or of injections")
        self._order = order
        self._left = {
            "lookup": order.count if has_lookup else 0,
            "inject": order.count if has_inject else 0,
        }

    def clear(self) -> None:
        """Take the order back."""
        self._order = None
        self._left = {"lookup": 0, "inject": 0}

    def shown(self) -> dict[str, object]:
        """Return what stands, for people to read."""
        return {"fault": self._order if any(self._left.values()) else None, "left": self._left}

    async def before_lookup(self) -> None:
        """Do to a lookup what was ordered; raises Refused."""
        order = self._strike("lookup")
        if order is not None:
            await self._do("lookup", order.lookup_delay_s, order.lookup_status)

    async def before_inject(self) -> None:
        """Do to an injection what was ordered; raises Refused."""
        order = self._strike("inject")
        if order is not None:
            await self._do("inject", order.inject_delay_s, order.inject_status)

    def _strike(self, kind: str) -> FaultOrder | None:
        if self._left[kind] <= 0:
            return None
        self._left[kind] -= 1
        return self._order

    async def _do(self, kind: str, delay_s: float | None, status: int | None) -> None:
        if delay_s:
            await self._sleep(delay_s)
        if status is not None:
            raise Refused(status, f"this was asked for at /demo/fault: {kind} status {status}")
