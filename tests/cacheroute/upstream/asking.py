"""Questions run by hand, as a request asks them, with a future for the test that waits."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Generic, TypeVar

from cacheroute.core.limits import Timeouts
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.dataplane.turns import Turns

T = TypeVar("T")


class Walked(Exception):
    """The client has left."""


class ByHand(Generic[T]):
    """A coroutine that has been started and goes on in the turns of its answer."""

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self.result: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.turns = Turns(self._run(coroutine), self.result.set_exception)
        self.turns.resume()

    async def _run(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self.result.set_result(await coroutine)

    def walk_away(self) -> None:
        """Interrupt it where it waits, as a client does that leaves."""
        self.turns.interrupt(Walked())


async def by_hand(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine by hand to its end."""
    return await ByHand(coroutine).result


@contextlib.asynccontextmanager
async def a_pool(**timeouts: float) -> AsyncIterator[UpstreamPool]:
    """Hold connections of one's own."""
    pool = UpstreamPool(timeouts=Timeouts(**timeouts))
    try:
        yield pool
    finally:
        pool.close()
