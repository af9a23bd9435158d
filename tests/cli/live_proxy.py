"""A Proxy beside the test, on an event loop of its own, as commands find one."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from cacheroute.core.pool_member import Lease
from tests.support.proxy import RunningProxy, running_proxy

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class LiveProxy:
    """A Proxy that listens, and a way to do something on its loop."""

    running: RunningProxy
    loop: asyncio.AbstractEventLoop
    held: list[Lease] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Its control plane."""
        return self.running.control_url

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine over there."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=30)

    def do(self, work: Callable[[], T]) -> T:
        """Call a function over there."""

        async def run() -> T:
            return work()

        return self.call(run())

    def register(self, *ids: str) -> None:
        """Let these Instances come; nobody listens at their addresses."""
        for number, instance_id in enumerate(ids, start=1):
            self.call(
                self.running.register(instance_id=instance_id, host="127.0.0.1", port=9400 + number)
            )

    def occupy(self, instance_id: str, count: int = 1) -> None:
        """Let requests run on an Instance until `release`."""
        pool = self.running.app.proxy.pool
        for _ in range(count):
            self.held.append(self.do(lambda: pool.lease(pool.members[instance_id])))

    def release(self, count: int | None = None) -> None:
        """Let some of those end, or all."""
        for _ in range(len(self.held) if count is None else count):
            self.do(self.held.pop().release)

    def routable(self) -> set[str]:
        """Return who takes new requests."""
        rows = self.call(self.running.instances())
        return {row["instance_id"] for row in rows if not row["draining"] and row["weight"]}


@contextmanager
def live_proxy(state_dir: Path | None = None, **settings: Any) -> Iterator[LiveProxy]:
    """Run a Proxy for as long as the block lasts."""
    ready: list[LiveProxy] = []
    started, stop = threading.Event(), threading.Event()
    # Nobody answers probes here, and who rests after failures would be told of.
    options = {"pool__ejection__failures": 1_000_000, **settings}
    if state_dir is not None:
        options["state_dir"] = str(state_dir)

    async def run() -> None:
        async with running_proxy(**options) as running:
            ready.append(LiveProxy(running, asyncio.get_running_loop()))
            started.set()
            await asyncio.to_thread(stop.wait)

    def serve() -> None:
        try:
            asyncio.run(run())
        finally:
            started.set()

    thread = threading.Thread(target=serve)
    thread.start()
    started.wait(timeout=30)
    try:
        yield ready[0]
    finally:
        stop.set()
        thread.join(timeout=30)
