"""Recordings made by a recorder of a simulated fleet, second by second of a clock set by hand."""

import asyncio
from pathlib import Path

from cacheroute.console.look import Look
from cacheroute.console.source import SourceFault
from cacheroute.core.clock import Instant
from cacheroute.sources.recorder import Recorder
from cacheroute.sources.simulated import SimulatedSource

BEGAN_S = 1_700_000_000.0


class HandTime:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def __call__(self) -> Instant:
        return Instant(mono_s=self.passed_s, wall_s=BEGAN_S + self.passed_s)

    def mono_s(self) -> float:
        return self.passed_s


class Failing:
    """A source that fails at some looks."""

    def __init__(self, source: SimulatedSource, *fails: int) -> None:
        self._source = source
        self._fails = fails
        self._looks = 0
        self.name = "http://proxy:8002"

    async def look(self) -> Look:
        self._looks += 1
        if self._looks in self._fails:
            raise SourceFault("cannot reach it", code="unreachable")
        return await self._source.look()

    async def raw(self, path: str) -> bytes:
        return await self._source.raw(path)


def a_recording(
    path: Path, *, looks: int = 20, instances: int = 3, fails: tuple[int, ...] = ()
) -> Recorder:
    """Record so many seconds; returns the recorder, which is closed."""

    async def record() -> Recorder:
        time = HandTime()
        source = Failing(SimulatedSource(instances=instances, now=time), *fails)
        recorder = Recorder(path, source, now_s=BEGAN_S, interval_s=1.0)
        for _ in range(looks):
            time.passed_s += 1.0
            await recorder.look(BEGAN_S + time.passed_s)
        recorder.close(BEGAN_S + time.passed_s)
        return recorder

    with asyncio.Runner() as runner:
        return runner.run(record())
