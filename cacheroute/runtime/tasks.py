"""Background tasks that are held, named and heard when they fail.

The event loop keeps only weak references to tasks: one that nobody holds can vanish in the
middle, and its error with it.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger("cacheroute.tasks")


class Tasks:
    """Every background task of one program."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, name: str, work: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
        """Run a coroutine in the background until it ends or `stop` is called."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

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
