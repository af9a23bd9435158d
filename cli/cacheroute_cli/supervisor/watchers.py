"""Those who are told of every change of a stack, and how much of it may wait for them.

Who reads too slowly is dropped: neither the supervisor nor the other readers wait for it.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from cacheroute_cli.supervisor.faults import StateLocked
from cacheroute_cli.supervisor.messages import Reply
from cacheroute_cli.supervisor.stack_home import ProcessStatus

MAX_WATCHERS = 64
MAX_WAITING = 256


class Watchers:
    """All readers, each with a queue of its own."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[Reply]] = set()

    @contextmanager
    def watching(self, snapshot: tuple[ProcessStatus, ...]) -> Iterator[asyncio.Queue[Reply]]:
        """Have a queue that begins with a snapshot; raises StateLocked when there are too many."""
        if len(self._queues) >= MAX_WATCHERS:
            raise StateLocked(f"{MAX_WATCHERS} others watch this stack already")
        queue: asyncio.Queue[Reply] = asyncio.Queue(maxsize=MAX_WAITING)
        queue.put_nowait(Reply(snapshot=snapshot))
        self._queues.add(queue)
        try:
            yield queue
        finally:
            self._queues.discard(queue)

    def has(self, queue: asyncio.Queue[Reply]) -> bool:
        """Whether a queue still gets all changes."""
        return queue in self._queues

    def publish(self, reply: Reply) -> None:
        """Tell everybody."""
        for queue in list(self._queues):
            try:
                queue.put_nowait(reply)
            except asyncio.QueueFull:
                self._queues.discard(queue)
