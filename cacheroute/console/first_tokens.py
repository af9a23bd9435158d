"""How long first tokens take at each Instance, from the requests that ended lately.

A Proxy tells its newest requests, and of a busy one those are a sample: what was told is kept for
some minutes, the newest of each Instance. Of few requests a percentile says nothing, so it comes
with their number.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cacheroute.console.rows.traces import TraceRow

WINDOW_S = 600.0
"""Age at which a request says nothing about now."""
KEPT_REQUESTS = 64
"""Of each Instance."""
MAX_INSTANCES = 20_000
"""Instances of which requests are kept; the one that had none for longest goes first."""
_SHARE = 0.95
_AHEAD_S = 60.0
"""How far a request may be ahead of the look it is told beside: clocks are set now and then."""

_Sample = tuple[float, float]
"""When a request came, in seconds since the epoch, and its time to first token in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstToken:
    """The time to first token at one Instance."""

    p95_ms: float
    """At most so long for 95 of 100 requests."""
    requests: int
    """How many it is told from."""


class FirstTokens:
    """Keeps what was told, and sums it up when something new is."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[_Sample]] = {}
        self._newest = 0
        self._at_s = 0.0
        self._told: Mapping[str, FirstToken] = {}

    @property
    def told(self) -> Mapping[str, FirstToken]:
        """What is known, by Instance; never changed in place."""
        return self._told

    def hear(self, rows: Sequence[TraceRow], *, now_s: float) -> None:
        """Take the newest requests, in any order; those that were heard before count once.

        `now_s` is the Proxy's clock, in seconds since the epoch.
        """
        rows = [row for row in rows if row.at is None or row.at.timestamp() <= now_s + _AHEAD_S]
        newest = max((row.seq for row in rows), default=self._newest)
        if newest < self._newest or now_s < self._at_s - _AHEAD_S:
            # The Proxy has started anew and counts from 1, or a recording was wound back, perhaps
            # to where no request has come yet.
            self.forget()
        self._at_s = now_s
        fresh = [row for row in rows if row.seq > self._newest]
        self._newest = newest
        changed = self._aged(now_s) | self._kept(sorted(fresh, key=lambda row: row.seq), now_s)
        if changed:
            summed = {who: found for who in changed if (found := self._summed(who)) is not None}
            unchanged = {who: one for who, one in self._told.items() if who not in changed}
            self._told = {**unchanged, **summed}

    def forget(self) -> None:
        """Begin anew."""
        self._samples.clear()
        self._newest = 0
        self._told = {}

    def _kept(self, fresh: Iterable[TraceRow], now_s: float) -> set[str]:
        changed = set()
        for row in fresh:
            who = row.instance_id
            if who is None or row.ttft_ms is None or row.at is None or row.outcome != "ok":
                continue
            at_s = row.at.timestamp()
            if now_s - at_s > WINDOW_S:
                continue
            # Put last, so that the first one is who had no request for longest.
            samples = self._samples.pop(who, None) or deque(maxlen=KEPT_REQUESTS)
            samples.append((at_s, row.ttft_ms))
            self._samples[who] = samples
            changed.add(who)
            if len(self._samples) > MAX_INSTANCES:
                longest = next(iter(self._samples))
                del self._samples[longest]
                changed.add(longest)
        return changed

    def _aged(self, now_s: float) -> set[str]:
        """Drop what is too old; returns whose figures that changes."""
        changed = set()
        for who, samples in list(self._samples.items()):
            while samples and now_s - samples[0][0] > WINDOW_S:
                samples.popleft()
                changed.add(who)
            if not samples:
                del self._samples[who]
        return changed

    def _summed(self, who: str) -> FirstToken | None:
        samples = self._samples.get(who)
        if not samples:
            return None
        took_ms = sorted(sample_ms for _, sample_ms in samples)
        rank = ceil(_SHARE * len(took_ms))
        return FirstToken(p95_ms=took_ms[rank - 1], requests=len(took_ms))


def first_tokens_of(rows: Sequence[TraceRow], *, now_s: float) -> Mapping[str, FirstToken]:
    """Sum up what one look tells, for whoever looks once."""
    heard = FirstTokens()
    heard.hear(rows, now_s=now_s)
    return heard.told
