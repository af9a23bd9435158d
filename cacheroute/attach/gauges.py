"""What is known of a server's load right now, from the metrics pages it gave so far.

A page that is too old says nothing any more: unknown, not the last value.
"""

from collections import deque
from collections.abc import Mapping

from cacheroute.formats.engine_metrics import EngineStats

WINDOW_S = 60.0
_STEP_S = 1.0


class RequestRate:
    """Requests per second over the last minute, from a counter that is read now and then."""

    __slots__ = ("_read",)

    def __init__(self) -> None:
        self._read: deque[tuple[float, float]] = deque()

    def note(self, now_s: float, count: float | None) -> None:
        """Take a reading; a counter that fell back belongs to another start of the engine."""
        if count is None or (self._read and count < self._read[-1][1]):
            self._read.clear()
        if count is None:
            return
        if len(self._read) > 1 and self._read[-1][0] - self._read[-2][0] < _STEP_S:
            self._read.pop()
        self._read.append((now_s, count))
        while len(self._read) > 2 and self._read[1][0] <= now_s - WINDOW_S:
            self._read.popleft()

    @property
    def per_second(self) -> float | None:
        """The rate between the first and the last reading; None before there are two."""
        if len(self._read) < 2:
            return None
        (first_s, first), (last_s, last) = self._read[0], self._read[-1]
        return round((last - first) / (last_s - first_s), 3) if last_s > first_s else None


class Gauges:
    """The newest page, for as long as it can be believed."""

    def __init__(self, *, stale_after_s: float) -> None:
        self._stale_after_s = stale_after_s
        self._rate = RequestRate()
        self._stats = EngineStats()
        self._read_s: float | None = None
        self.kind: str | None = None
        """What kind of engine it is."""
        self.version: str | None = None

    def note(self, now_s: float, stats: EngineStats | None) -> None:
        """Take a page; None when there was none to be had."""
        if stats is not None:
            self._stats, self._read_s = stats, now_s
            self._rate.note(now_s, stats.finished)

    def forget(self) -> None:
        """The server has gone: what it said belongs to the past."""
        self._stats, self._read_s = EngineStats(), None
        self._rate = RequestRate()

    def load(self, now_s: float) -> Mapping[str, object]:
        """Return the load as heartbeats tell it; null where nothing is known."""
        stats = self._fresh(now_s)
        known = [each for each in (stats.running, stats.waiting) if each is not None]
        return {
            "inflight": sum(known) if known else None,
            "qps_1m": self._rate.per_second if stats.kind else None,
            "gpu_util": None,
        }

    def runtime(self, now_s: float) -> Mapping[str, object]:
        """Return what joins the `runtime` of a resource snapshot."""
        stats = self._fresh(now_s)
        age_ms = None if self._read_s is None else round((now_s - self._read_s) * 1000)
        return {
            "engine": {
                "kind": self.kind,
                "version": self.version,
                "running": stats.running,
                "waiting": stats.waiting,
                "kv_usage_ratio": stats.kv_usage_ratio,
                "age_ms": age_ms,
            }
        }

    def _fresh(self, now_s: float) -> EngineStats:
        is_fresh = self._read_s is not None and now_s - self._read_s <= self._stale_after_s
        return self._stats if is_fresh else EngineStats()
