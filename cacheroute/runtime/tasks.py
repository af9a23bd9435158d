"""Background tasks that are held, named and heard when they fail.

The event loop keeps only weak references to tasks: one that nobody holds can vanish in the
middle, and its error with it.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

log = logging.getLogger("cacheroute.tasks")

_AGAIN_AFTER_S, _AGAIN_AT_MOST_S = 1.0, 60.0
"""How long a task that has to last rests after its first failure, and after many."""


class Tasks:
    """Every background task of one program."""

    def __init__(self, *, again_after_s: float = _AGAIN_AFTER_S) -> None:
        self._again_after_s = again_after_s
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, name: str, work: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
        """Run a coroutine in the background until it ends or `stop` is called."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def start_lasting(
        self, name: str, work: Callable[[], Coroutine[Any, Any, object]]
    ) -> asyncio.Task[Any]:
        """Run what has to last as long as the program; after a failure it begins again.

        Without its reaper a Proxy would serve on with a pool that nobody tidies, and only a line
        in the log would say so.
        """
        return self.start(name, self._lasting(name, work))

    async def _lasting(self, name: str, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        failures, loop = 0, asyncio.get_running_loop()
        while True:
            began_s = loop.time()
            try:
                await work()
                return
            except Exception:
                if loop.time() - began_s > _AGAIN_AT_MOST_S:
                    failures = 0  # it had recovered, and this is another story
                pause_s = min(self._again_after_s * 2.0**failures, _AGAIN_AT_MOST_S)
                log.exception("task.failed name=%s again_in_s=%g", name, pause_s)
                failures = min(failures + 1, 10)
            await asyncio.sleep(pause_s)

    async def stop(self) -> None:
        """Cancel whatever runs, and wait until it has ended."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task.failed name=%s", task.get_name(), exc_info=error)
