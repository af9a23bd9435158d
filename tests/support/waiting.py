"""Waiting for what must become true, with a bound that a busy machine never meets."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def eventually(
    true: Callable[[], object], *, within_s: float = 5.0, every_s: float = 0.002
) -> None:
    """Wait until the condition holds; TimeoutError when it does not in time."""
    async with asyncio.timeout(within_s):
        while not true():  # noqa: ASYNC110 - what is watched has no event to wait for
            await asyncio.sleep(every_s)


async def eventually_is(
    ask: Callable[[], Awaitable[T]], good: Callable[[T], object], *, within_s: float = 5.0
) -> T:
    """Ask again and again until the answer is good, and return it; else fail with the last."""
    loop = asyncio.get_running_loop()
    deadline_s = loop.time() + within_s
    while not good(answer := await ask()):
        assert loop.time() < deadline_s, f"after {within_s} s still {answer!r}"
        await asyncio.sleep(0.02)
    return answer
