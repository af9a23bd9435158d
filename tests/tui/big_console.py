"""A console over a large fleet in a real terminal, which measures itself and says so at its end.

`python -m tests.tui.big_console INSTANCES SCREEN LOOKS FILE` writes what it found to FILE.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from cacheroute.console.look import Look
from cacheroute.wire.console import ConsoleSnapshot, read_snapshot
from cacheroute_tui.app import ConsoleApp
from cacheroute_tui.clock import SystemClock
from cacheroute_tui.options import Target, TuiOptions
from tests.tui.fleet import StillFleet, big_fleet

WARM_LOOKS = 3
_DIFFERENT = 12
INTERVAL_S = 0.5


class BigFleet(StillFleet):
    """Reads each look from bytes, as they come from a Proxy, and counts what it took."""

    def __init__(self, instances: int, looks: int, file: Path) -> None:
        documents = [big_fleet(instances, look=look) for look in range(_DIFFERENT)]
        super().__init__(documents[0])
        self._bytes = [msgspec.json.encode(document) for document in documents]
        self._wanted = looks
        self._file = file
        self._began_s = 0.0
        self.blocks_ms: list[float] = []
        self.app: ConsoleApp | None = None

    async def look(self) -> Look:
        """Return the next look; ends the console after the last."""
        self.looks += 1
        if self.looks == WARM_LOOKS:
            self._began_s = time.process_time()
            self.blocks_ms.clear()
        if self.looks == WARM_LOOKS + self._wanted:
            self._end()
        document = read_snapshot(self._bytes[self.looks % _DIFFERENT])
        assert isinstance(document, ConsoleSnapshot)
        return Look(snapshot=document, url=self.name)

    def _end(self) -> None:
        blocks = sorted(self.blocks_ms)
        found = {
            "looks": self._wanted,
            "cpu_ms": (time.process_time() - self._began_s) * 1000,
            # The longest single block of each look, and of those the one in the middle.
            "block_ms": sum(blocks[-self._wanted :]) / self._wanted,
            "rss_mb": resident_mb(),
        }
        self._file.write_text(json.dumps(found), encoding="utf-8")
        assert self.app is not None
        self.app.exit(0)


def resident_mb() -> float:
    """Return the memory that this process holds now; its maximum would be that of its parent."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2


def watch_blocks(fleet: BigFleet) -> None:
    """Take the CPU time of each piece of work that the event loop does in one go."""
    run = asyncio.events.Handle._run

    def timed(self: Any) -> None:
        began_s = time.thread_time()
        run(self)
        fleet.blocks_ms.append((time.thread_time() - began_s) * 1000)

    asyncio.events.Handle._run = timed  # type: ignore[method-assign]


def main() -> None:
    """Run it."""
    instances, screen, looks, file = sys.argv[1:]
    fleet = BigFleet(int(instances), int(looks), Path(file))
    options = TuiOptions(
        target=Target(proxy_url="http://127.0.0.1:8002", name="local"),
        screen=screen,
        interval_s=INTERVAL_S,
        theme="dark",
    )
    fleet.app = ConsoleApp(options, connect=lambda *_: fleet, clock=SystemClock())
    watch_blocks(fleet)
    fleet.app.run()


if __name__ == "__main__":
    main()
