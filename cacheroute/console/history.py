"""What a pool was like in the last minutes: one column of numbers a look, oldest out first.

A column is one array over all Instances, so a look costs a few copies whatever the history
holds. NaN is a gap: nobody knew, nobody looked, or the Instance was not there.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isnan, nan
from operator import attrgetter
from statistics import median

from cacheroute.console.rows.instances import FleetRow

GAP = nan
"""Stands for what is not known; compare with `isnan`."""

SERIES: Mapping[str, str] = {
    "inflight": "inflight",
    "score": "score",
    "cpu": "cpu_util",
    "mem": "memory_util",
    "gpu": "gpu_util",
    "gpu_mem": "gpu_memory_util",
    "rx": "network_rx_mbps",
    "tx": "network_tx_mbps",
    "prepare": "prepare_queue_depth",
    "ready": "ready_queue_depth",
    "backlog": "backlog_ms",
    "qps": "qps_1m",
}
"""What is kept of each Instance: name of the series to attribute of the row."""

KEPT_LOOKS = 600
"""Looks kept of each Instance: ten minutes of one a second."""
KEPT_POOL_LOOKS = 7_200
"""Looks kept of the pool as a whole: an hour of two a second."""
MAX_INSTANCES = 20_000
"""Instances with a history; those that come after have none."""

_READERS = tuple((name, attrgetter(key)) for name, key in SERIES.items())
_MEANS = ("cpu", "mem", "gpu", "gpu_mem")
_SUMS = ("inflight", "qps", "rx", "tx", "prepare", "ready")
_SPREADS = ("inflight", "backlog", "score")

POOL_SERIES: tuple[str, ...] = (
    "alive", "stale", "dead", "drain",
    *(f"{name}_mean" for name in _MEANS),
    *(f"{name}_sum" for name in _SUMS),
    *(f"{name}_{what}" for name in _SPREADS for what in ("min", "median", "max")),
)  # fmt: skip
"""What is kept of the pool, worked out of the Instances that are alive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """A stretch of one series, oldest first."""

    times_s: array[float]
    """Monotonic seconds."""
    values: array[float]
    """NaN is a gap."""

    @property
    def last(self) -> float | None:
        """The newest value; None when it is a gap, or when there is none."""
        return _known(self.values[-1]) if self.values else None


class History:
    """The columns of the last looks."""

    def __init__(self, *, kept: int = KEPT_LOOKS, kept_pool: int = KEPT_POOL_LOOKS) -> None:
        self._kept = kept
        self._looks: deque[tuple[float, dict[str, array[float]]]] = deque(maxlen=kept)
        self._pool: deque[tuple[float, dict[str, float]]] = deque(maxlen=kept_pool)
        self._slots: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        self._free: list[int] = []
        self._count = 0

    def add(
        self, at_s: float, rows: Sequence[FleetRow], more: Mapping[str, float | None] | None = None
    ) -> None:
        """Keep one look at the whole pool; `more` is of the pool, and is kept by its name."""
        self._count += 1
        if self._count % self._kept == 0:
            self._forget()
        slots = [self._slot(row.id) for row in rows]
        columns: dict[str, array[float]] = {}
        known: dict[str, list[float]] = {}
        blank = array("f", [GAP]) * len(self._slots_used())
        for name, read in _READERS:
            column = array("f", blank)
            there = known[name] = []
            for slot, row in zip(slots, rows, strict=True):
                value = read(row)
                if value is not None:
                    if slot is not None:
                        column[slot] = value
                    if row.state == "alive":
                        there.append(value)
            columns[name] = column
        self._replace_or_append(at_s, columns, {**_pool_of(rows, known), **_floats(more or {})})

    def _replace_or_append(
        self, at_s: float, columns: dict[str, array[float]], pool: dict[str, float]
    ) -> None:
        """Keep a look; two of the same moment are one point, and the later one counts."""
        if self._looks and self._looks[-1][0] == at_s and self._looks[-1][1]:
            self._looks[-1], self._pool[-1] = (at_s, columns), (at_s, pool)
        else:
            self._looks.append((at_s, columns))
            self._pool.append((at_s, pool))

    def gap(self, at_s: float) -> None:
        """Keep that there was nothing to see, so that no line is drawn through it."""
        self._looks.append((at_s, {}))
        self._pool.append((at_s, {}))

    def clear(self) -> None:
        """Forget everything."""
        self._looks.clear()
        self._pool.clear()
        self._slots.clear()
        self._seen.clear()
        self._free.clear()

    @property
    def times_s(self) -> tuple[float, ...]:
        """When the looks were that are kept of the Instances, in monotonic seconds."""
        return tuple(at_s for at_s, _ in self._looks)

    def trend(self, instance_id: str, series: str, *, last: int) -> list[float]:
        """Return the newest values of one Instance, oldest first; shorter when there are fewer."""
        slot = self._slots.get(instance_id)
        if slot is None:
            return [GAP] * min(last, len(self._looks))
        found = []
        # From the near end: the middle of a deque is far from either.
        for _, columns in islice(reversed(self._looks), last):
            column = columns.get(series)
            found.append(GAP if column is None or slot >= len(column) else column[slot])
        found.reverse()
        return found

    def of(self, instance_id: str, series: str, *, since_s: float | None = None) -> Points:
        """Return what is kept of one Instance, from a monotonic second on."""
        slot = self._slots.get(instance_id)
        times, values = array("d"), array("f")
        for at_s, columns in reversed(self._looks):
            if since_s is not None and at_s < since_s:
                break
            column = columns.get(series)
            times.append(at_s)
            is_there = column is not None and slot is not None and slot < len(column)
            values.append(
                column[slot] if is_there and column is not None and slot is not None else GAP
            )
        times.reverse()
        values.reverse()
        return Points(times_s=times, values=values)

    def pool(self, series: str, *, since_s: float | None = None, last: int | None = None) -> Points:
        """Return what is kept of the pool, from a monotonic second on, or so many looks of it."""
        times, values = array("d"), array("f")
        for at_s, told in islice(reversed(self._pool), last):
            if since_s is not None and at_s < since_s:
                break
            times.append(at_s)
            values.append(told.get(series, GAP))
        times.reverse()
        values.reverse()
        return Points(times_s=times, values=values)

    def _slots_used(self) -> range:
        return range(len(self._slots) + len(self._free))

    def _slot(self, instance_id: str) -> int | None:
        slot = self._slots.get(instance_id)
        if slot is None:
            if len(self._slots) >= MAX_INSTANCES:
                return None
            slot = self._free.pop() if self._free else len(self._slots)
            self._slots[instance_id] = slot
        self._seen[instance_id] = self._count
        return slot

    def _forget(self) -> None:
        """Free the places of those that no look still kept has seen."""
        oldest = self._count - self._kept
        for instance_id in [name for name, seen in self._seen.items() if seen < oldest]:
            self._free.append(self._slots.pop(instance_id))
            del self._seen[instance_id]


def _pool_of(rows: Sequence[FleetRow], known: Mapping[str, Sequence[float]]) -> dict[str, float]:
    states = [row.shown for row in rows]
    found: dict[str, float] = {
        name: states.count(name) for name in ("alive", "stale", "dead", "drain")
    }
    found |= {f"{name}_mean": sum(v) / len(v) for name in _MEANS if (v := known[name])}
    found |= {f"{name}_sum": sum(v) for name in _SUMS if (v := known[name])}
    for name in _SPREADS:
        if values := known[name]:
            found[f"{name}_min"] = min(values)
            found[f"{name}_median"] = median(values)
            found[f"{name}_max"] = max(values)
    return found


def _floats(more: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in more.items() if value is not None}


def _known(value: float) -> float | None:
    return None if isnan(value) else value


def known(values: Iterable[float]) -> list[float]:
    """Return the values that are no gaps."""
    return [value for value in values if not isnan(value)]
