"""How the console looks at a Proxy: again and again, never two looks at once, never giving up.

Each look is of the whole pool, and of what only the visible screen needs beside it; without
the latter its panel says why. After three failures the Proxy is lost, and the next attempts
come after 1, 2 and then 4 s. While what is shown is held, nothing is asked but whether the
Proxy is there, and that seldom.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from cacheroute.console.source import NotTold, Source, SourceFault
from cacheroute.console.store import FAILURES_UNTIL_LOST, Beside, Snapshot, Store
from cacheroute.core.clock import Clock
from cacheroute.wire import paths

BACK_OFF_S: tuple[float, ...] = (1.0, 2.0, 4.0)
"""No wait is longer: a Proxy that is back is to be seen within 5 s, the jitter counted."""
_JITTER_RATIO = 0.1
_MAX_PACE_S = 30.0
_NOT_TOLD_FOR_S = 60.0
"""How long what a Proxy does not have is not asked for again."""
_LAST = 200
"""Decisions and traces that are asked for."""
WATCHED_EVERY_S = 5.0
"""How often what alerts are told from is asked for while no screen shows it."""

Question = Callable[[Source], Awaitable[object]]
"""What only one screen asks."""
REACHED_EVERY_S = 5.0
"""How often a Proxy is asked whether it is there while what is shown is held."""
_GONE = frozenset(("unreachable", "timeout"))
_MORE = "more."


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that a look may ask for beside the pool."""

    name: str
    """Of the field of Beside, and what screens write in `NEEDS`."""
    ask: Question
    every_s: float = 0.0
    """Shortest time between two questions; 0 is with each look."""


PARTS: Mapping[str, Part] = {
    part.name: part
    for part in (
        Part(name="decisions", ask=lambda source: source.decisions(last=_LAST)),
        Part(name="traces", ask=lambda source: source.traces(last=_LAST)),
        Part(name="topology", ask=lambda source: source.topology(), every_s=5.0),
    )
}
WATCHED = frozenset({"traces"})
"""Parts that alerts are told from, whatever screen is visible: how slow each Instance is."""


@dataclass(slots=True)
class _Kept:
    """The last answer to one question."""

    asked_at_s: float
    value: Any = None
    why: str | None = None
    """Why there is none."""
    is_final: bool = False
    """Whether asking again would change nothing."""


NOT_ASKED_YET = "it comes with the next look"
"""Why a part is not there that no screen has wanted."""


class Feed:
    """Looks, and hands each new snapshot on."""

    def __init__(
        self,
        source: Source,
        store: Store,
        clock: Clock,
        *,
        ready: Callable[[Snapshot], None],
        interval_s: float,
        chance: Random | None = None,
    ) -> None:
        self.source = source
        self.store = store
        self._clock = clock
        self._ready = ready
        self.interval_s = interval_s
        self._pace_s = interval_s
        self._chance = chance or Random()
        self._now = asyncio.Event()
        self._kept: dict[str, _Kept] = {}
        self.needs: frozenset[str] = frozenset()
        """Parts that the visible screen wants."""
        self.asks: Mapping[str, Question] = {}
        """What it asks beside those, by names of its own."""
        self.is_held = False
        """Whether what is shown is held, so that nobody needs a new look."""
        self.missed = 0
        """Looks that were not taken since it is held."""
        self._gone: str | None = None
        """Why the Proxy is not there any more, since the look that is being taken."""
        self._reach_at_s = 0.0
        """When it is asked again whether the Proxy is there, in monotonic seconds."""

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            wait_s = await self.look()
            # `wait_for` loses who cancels in the moment in which somebody asks for a look.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._now.wait()
            self._now.clear()

    def look_now(self) -> None:
        """End the wait for the next look."""
        self._now.set()

    def forget(self) -> None:
        """Ask everything anew with the next look."""
        self._kept.clear()
        self._reach_at_s = 0.0

    def set_interval(self, interval_s: float) -> None:
        """Look so often from now on."""
        self.interval_s = self._pace_s = interval_s
        self._ready(self.store.paced(interval_s=interval_s, pace_s=interval_s))
        self.look_now()

    async def look(self) -> float:
        """Look once; returns how long to wait for the next look, in seconds."""
        began_s = self._clock.now().mono_s
        try:
            return await self._looked(began_s)
        except SourceFault as fault:
            return self._failed(fault.message, began_s)
        except Exception as problem:
            # Whatever it is, also in what was told, the console goes on and says so.
            return self._failed(f"{type(problem).__name__}: {problem}", began_s)

    async def _looked(self, began_s: float) -> float:
        if self.is_held:
            self.missed += 1
            await self._reach(began_s)
            return self.interval_s
        look = await self.source.look()
        # What is asked beside it may come late, or never; the pool is as old as it is.
        looked_at = self._clock.now()
        # Rows are made here once; with all that is judged after them, they would hold up a key.
        _ = look.instances
        await asyncio.sleep(0)
        beside = await self._beside(began_s)
        if self.is_held:
            self.missed += 1
            return self.interval_s
        took_s = self._clock.now().mono_s - began_s
        self._paced(took_s)
        self._ready(
            self.store.apply(look, looked_at, took_s=looked_at.mono_s - began_s, beside=beside)
        )
        return max(0.0, self._pace_s - took_s)

    async def _reach(self, now_s: float) -> None:
        """Ask whether the Proxy is there, when it is time; only a change is handed on."""
        if self.source.kind != "live" or now_s < self._reach_at_s:
            return
        self._reach_at_s = now_s + REACHED_EVERY_S
        try:
            await self.source.raw(paths.HEALTHZ)
        except SourceFault as fault:
            # A Proxy that refuses, or has no such page, is there.
            if fault.code in _GONE:
                wait_s = self._failed(fault.message, now_s)
                self._reach_at_s = self._clock.now().mono_s + wait_s
                return
        if self.store.snapshot.connection.failures:
            self._ready(self.store.reached())

    async def _beside(self, now_s: float) -> Beside:
        self._gone = None
        found: dict[str, Any] = {}
        more: dict[str, object] = {}
        missing: dict[str, str] = {
            str(panel): why for panel, why in self.source.capabilities.missing.items()
        }
        for name in sorted(self.needs & PARTS.keys()):
            part = PARTS[name]
            kept = await self._asked(name, part.ask, now_s, every_s=part.every_s)
            if kept.why is None:
                found[name] = kept.value
            else:
                missing[name] = kept.why
        for name in sorted((WATCHED - self.needs) & PARTS.keys()):
            kept = await self._asked(name, PARTS[name].ask, now_s, every_s=WATCHED_EVERY_S)
            if kept.why is None:
                found[name] = kept.value
        for name in PARTS.keys() - self.needs - found.keys():
            # No rows of it would read as if there were none, on the screen that is gone to next.
            missing.setdefault(name, NOT_ASKED_YET)
        for name in [name for name in self._kept if name not in PARTS]:
            if name.removeprefix(_MORE) not in self.asks:
                # Of each Instance whose page was opened, its page would stay.
                del self._kept[name]
        for name, ask in self.asks.items():
            kept = await self._asked(f"{_MORE}{name}", ask, now_s, every_s=0.0)
            if kept.why is None:
                more[name] = kept.value
            else:
                missing[name] = kept.why
        return Beside(missing=missing, more=more, **found)

    async def _asked(self, name: str, ask: Question, now_s: float, *, every_s: float) -> _Kept:
        kept = self._kept.get(name)
        if kept is not None:
            wait_s = _NOT_TOLD_FOR_S if kept.is_final else every_s
            if now_s - kept.asked_at_s < wait_s:
                return kept
        if self._gone is not None:
            return _Kept(asked_at_s=now_s, why=self._gone)
        try:
            kept = _Kept(asked_at_s=now_s, value=await ask(self.source))
        except NotTold as fault:
            kept = _Kept(asked_at_s=now_s, why=fault.message, is_final=True)
        except SourceFault as fault:
            kept = _Kept(asked_at_s=now_s, why=fault.message)
            if fault.code in _GONE:
                # The others would wait as long for nothing, one after the other.
                self._gone = fault.message
        self._kept[name] = kept
        return kept

    def _paced(self, took_s: float) -> None:
        """Look less often while the Proxy takes longer to answer than there is time."""
        pace_s = self._pace_s
        if took_s > pace_s:
            pace_s = min(_MAX_PACE_S, pace_s * 2)
        elif pace_s > self.interval_s and took_s < pace_s / 2:
            pace_s = max(self.interval_s, pace_s / 2)
        if pace_s != self._pace_s:
            self._pace_s = pace_s
            self.store.paced(interval_s=self.interval_s, pace_s=pace_s)

    def _failed(self, why: str, began_s: float) -> float:
        """Note it; returns how long to wait.

        That counts from when the attempt began: one that had to be given up has waited already,
        and a network that is back is to be seen in time.
        """
        now = self._clock.now()
        failures = self.store.snapshot.connection.failures + 1
        wait_s = min(self.interval_s, BACK_OFF_S[0])
        if failures >= FAILURES_UNTIL_LOST:
            at = min(failures - FAILURES_UNTIL_LOST, len(BACK_OFF_S) - 1)
            wait_s = BACK_OFF_S[at] * (1 + self._chance.uniform(0, _JITTER_RATIO))
        wait_s = max(0.0, wait_s - (now.mono_s - began_s))
        self._kept.clear()
        self._ready(self.store.failed(why, now, retry_at_s=now.mono_s + wait_s))
        return wait_s
