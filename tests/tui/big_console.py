"""A console over a large fleet in a real terminal, which measures itself and says so at its end.

`python -m tests.tui.big_console TASK` writes what it found to the file that the task names.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from cacheroute.console.look import Look
from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.rows.processes import ProcessRow
from cacheroute.console.rows.topology import LinkRow
from cacheroute.console.rows.traces import TraceRow
from cacheroute.wire.console import ConsoleSnapshot
from cacheroute.wire.console_reading import read_snapshot
from cacheroute_cli.supervisor.log_lines import LogLine
from cacheroute_cli.supervisor.messages import Do
from cacheroute_tui.app import ConsoleApp
from cacheroute_tui.clock import SystemClock
from cacheroute_tui.options import Target, TuiOptions
from tests.tui.fleet import WALL_S, StillFleet, big_fleet
from tests.tui.screens.requests import decided, link, process, request

WARM_LOOKS = 3
_DIFFERENT = 12
_REQUESTS = 200
_LINES_A_LOOK = 50
_BIG_PAGE = "/v1/instance/list?include_dead=true"

State = Literal["moving", "still", "paused"]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be measured."""

    instances: int
    screen: str
    looks: int
    file: str
    interval_s: float = 0.5
    state: State = "moving"
    """Whether every figure changes with each look, or none does, or what is shown is held."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What was found."""

    looks: int
    passed_s: float
    cpu_ms: float
    """Of the whole process."""
    blocks_ms: list[float]
    """The longest that the event loop was held up, look by look."""
    frames: list[int]
    """Bytes of the largest frame, look by look."""
    rss_mb: float


class BigFleet(StillFleet):
    """Reads each look from bytes, as they come from a Proxy, and counts what it took."""

    def __init__(self, task: Task) -> None:
        documents = [big_fleet(task.instances, look=look) for look in range(_DIFFERENT)]
        super().__init__(documents[0])
        self._task = task
        self._bytes = [msgspec.json.encode(document) for document in documents]
        self._page = _page_of(documents[0]) if task.screen == "raw" else b""
        self._began_s = (0.0, 0.0)
        self._frames: list[int] = []
        self._blocks_ms: list[float] = []
        self.longest_ms = 0.0
        self.drawn = 0
        self.app: ConsoleApp | None = None
        self.choices = [
            replace(decided(f"r-{at}"), seq=at, instance_id=f"inst-{at:04}")
            for at in range(_REQUESTS)
        ]
        if task.screen == "traces":
            self.requests = [request(at, f"r-{at}") for at in range(_REQUESTS + _DIFFERENT)]
        if task.screen in ("topology", "instance"):
            self.links = [
                link(f"kdn-{kdn}", name, 500.0 + at)
                for kdn in range(2)
                for at, name in enumerate(documents[0].ids)
            ]

    async def look(self) -> Look:
        """Return the next look; ends the console after the last."""
        self._note()
        self.looks += 1
        if self.looks == 1:
            watch_drawing(self)
        if self.looks == WARM_LOOKS:
            self._begin()
        if self.looks == WARM_LOOKS + self._task.looks:
            self._end()
        at = 0 if self._task.state == "still" else self.looks % _DIFFERENT
        if at == 0 and self.looks > 1 and self._task.state == "still":
            return Look(snapshot=self.document, url=self.name).later(float(self.looks))
        document = read_snapshot(self._bytes[at])
        assert isinstance(document, ConsoleSnapshot)
        self.document = document
        return Look(snapshot=document, url=self.name)

    async def decisions(self, *, last: int = 100) -> Sequence[DecisionRow]:
        """Return the newest decisions, the newest one another each time."""
        at = self.looks % _DIFFERENT
        return [*self.choices[at:], *self.choices[:at]][:last]

    async def traces(self, *, last: int = 100) -> Sequence[TraceRow]:
        """Return the newest requests, the newest one another each time."""
        at = self.looks % _DIFFERENT
        return self.requests[at : at + last]

    async def topology(self) -> Sequence[LinkRow]:
        """Return the links, whose figures all change."""
        by = self.looks % _DIFFERENT
        return [replace(one, bandwidth_mbps=(one.bandwidth_mbps or 0.0) + by) for one in self.links]

    async def raw(self, path: str) -> bytes:
        """Return the largest page there is, which is another one each time."""
        return self._page.replace(b'"look":0', b'"look":%d' % self.looks, 1)

    def pages(self) -> Sequence[str]:
        """Return its path."""
        return (_BIG_PAGE,)

    def _note(self) -> None:
        self._blocks_ms.append(self.longest_ms)
        self._frames.append(self.drawn)
        self.longest_ms, self.drawn = 0.0, 0

    def _begin(self) -> None:
        self._began_s = time.process_time(), time.monotonic()
        self._blocks_ms.clear()
        self._frames.clear()
        if self._task.state == "paused":
            assert self.app is not None
            loop = asyncio.get_running_loop()
            loop.call_later(self._task.interval_s, self._hold)

    def _hold(self) -> None:
        assert self.app is not None
        self.app.action_pause()
        # That it is held is drawn once, and is no part of what holding it costs.
        asyncio.get_running_loop().call_later(self._task.interval_s, self._begin_held)

    def _begin_held(self) -> None:
        self._began_s = time.process_time(), time.monotonic()
        passed_s = self._task.looks * self._task.interval_s
        asyncio.get_running_loop().call_later(passed_s, self._end)

    def _end(self) -> None:
        self._note()
        cpu_s, at_s = self._began_s
        found = Found(
            looks=self._task.looks,
            passed_s=time.monotonic() - at_s,
            cpu_ms=(time.process_time() - cpu_s) * 1000,
            blocks_ms=self._blocks_ms,
            frames=self._frames,
            rss_mb=resident_mb(),
        )
        Path(self._task.file).write_bytes(msgspec.json.encode(found))
        assert self.app is not None
        self.app.exit(0)


class BusyProcesses:
    """A host on which much runs and writes."""

    def __init__(self) -> None:
        self._looks = 0

    def rows(self) -> Sequence[ProcessRow]:
        """Return twenty, whose figures change."""
        self._looks += 1
        return [
            replace(
                process(f"instance-{at}"),
                cpu_percent=float((at + self._looks) % 100),
                log="/dev/null",
            )
            for at in range(20)
        ]

    def added(self, logs: Mapping[Path, str]) -> Sequence[LogLine]:
        """Return new lines."""
        return [
            LogLine(at_s=WALL_S + self._looks, name=f"instance-{at % 20}", text=f"line {at} " * 8)
            for at in range(_LINES_A_LOOK)
        ]

    async def watch(self, stacks: Collection[str], changed: Callable[[], None]) -> None:
        """Tell of a change each second."""
        never = asyncio.Event()
        while stacks:
            with suppress(TimeoutError):
                await asyncio.wait_for(never.wait(), 1.0)
            changed()

    def change(self, do: Do, row: ProcessRow) -> str:
        """Change nothing."""
        return "done"


def _page_of(document: ConsoleSnapshot) -> bytes:
    """Return what the list of all Instances looks like, with what their agents reported."""
    names = document.instances.__struct_fields__
    told = dict.fromkeys(names, 123.456)
    entries = [{"instance_id": id_, "look": 0, **told, "resource": told} for id_ in document.ids]
    return msgspec.json.encode(entries)


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
        fleet.longest_ms = max(fleet.longest_ms, (time.thread_time() - began_s) * 1000)

    asyncio.events.Handle._run = timed  # type: ignore[method-assign]


def watch_drawing(fleet: BigFleet) -> None:
    """Note how large each frame is: one is written in one go."""
    driver = None if fleet.app is None else fleet.app._driver
    assert driver is not None
    write = driver.write

    def counted(data: str) -> None:
        fleet.drawn = max(fleet.drawn, len(data.encode()))
        write(data)

    driver.write = counted  # type: ignore[method-assign]


def main() -> None:
    """Run it."""
    task = msgspec.json.decode(sys.argv[1], type=Task)
    fleet = BigFleet(task)
    options = TuiOptions(
        target=Target(proxy_url="http://127.0.0.1:8002", name="local"),
        screen=task.screen,
        interval_s=task.interval_s,
        theme="dark",
    )
    app = ConsoleApp(options, connect=lambda *_: fleet, clock=SystemClock())
    app.processes = BusyProcesses()
    fleet.app = app
    watch_blocks(fleet)
    app.run()
    sys.exit(app.return_code)


if __name__ == "__main__":
    main()
