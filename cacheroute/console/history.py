"""What a pool was like in the last minutes: one column of numbers a look, oldest out first.

A column is one block over all Instances, so a look costs a few copies whatever the history
holds. NaN is a gap: nobody knew, nobody looked, or the Instance was not there.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from cacheroute.console.halves import at_place, packed
from cacheroute.console.points import GAP, Points
from cacheroute.console.pool_history import PoolHistory
from cacheroute.console.rows.instances import FleetRow

SERIES: Mapping[str, str] = {
    "inflight": "inflight",
    "cpu": "cpu_util",
    "mem": "memory_util",
    "gpu": "gpu_util",
    "gpu_mem": "gpu_memory_util",
    "backlog": "backlog_ms",
}
"""What is kept of each Instance, since some screen draws it: name to attribute of the row."""

_SUMMED_UP: Mapping[str, str] = {
    **SERIES,
    "score": "score",
    "rx": "network_rx_mbps",
    "tx": "network_tx_mbps",
    "prepare": "prepare_queue_depth",
    "ready": "ready_queue_depth",
    "qps": "qps_1m",
}
"""What the figures of the pool are worked out of."""

KEPT_LOOKS = 600
"""Looks kept of each Instance: ten minutes of one a second."""
KEPT_POOL_LOOKS = 7_200
"""Looks kept of the pool as a whole: an hour of two a second."""
MAX_INSTANCES = 20_000
"""Instances with a history; those that come after have none."""

_read_kept = attrgetter(*SERIES.values())
_read_summed_up = attrgetter(*_SUMMED_UP.values())
_COLUMN_OF = {name: at for at, name in enumerate(SERIES)}
_NOTHING = (b"",) * len(SERIES)
_NOBODY: Any = SimpleNamespace(**dict.fromkeys(SERIES.values()))
"""Stands where no Instance is."""
_MEANS = ("cpu", "mem", "gpu", "gpu_mem")
_SUMS = ("inflight", "qps", "rx", "tx", "prepare", "ready")
_SPREADS = ("inflight", "backlog", "score")


class History:
    """The columns of the last looks."""

    def __init__(self, *, kept: int = KEPT_LOOKS, kept_pool: int = KEPT_POOL_LOOKS) -> None:
        self._kept = kept
        self._looks: deque[tuple[float, tuple[bytes, ...]]] = deque(maxlen=kept)
        self._pool = PoolHistory(kept=kept_pool)
        self._slots: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        self._free: list[int] = []
        self._count = 0
        self._figures: Mapping[str, float] = {}

    def add(
        self,
        at_s: float,
        rows: Sequence[FleetRow],
        more: Mapping[str, float | None] | None = None,
        *,
        is_same: bool = False,
    ) -> None:
        """Keep one look at the whole pool; `more` is of the pool, and is kept by its name.

        Two looks of the same moment are one point, and the later one counts. With `is_same` the
        rows are those of the look before but for their ages, of which none is kept.
        """
        self._count += 1
        if self._count % self._kept == 0:
            self._forget()
        if is_same and self._looks and self._looks[-1][1] is not _NOTHING:
            columns = self._looks[-1][1]
        else:
            columns = tuple(map(packed, _columns_of(self._placed(rows), SERIES, _read_kept)))
            self._figures = _pool_of(rows)
        is_again = False
        if self._looks:
            before_s, before = self._looks[-1]
            columns = tuple(map(_the_same, columns, before))
            is_again = before_s == at_s and before is not _NOTHING
        if is_again:
            self._looks.pop()
        self._looks.append((at_s, columns))
        self._pool.add(at_s, {**self._figures, **_floats(more or {})}, is_again=is_again)

    def gap(self, at_s: float) -> None:
        """Keep that there was nothing to see, so that no line is drawn through it."""
        self._looks.append((at_s, _NOTHING))
        self._pool.add(at_s, {})

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
        """Return the newest values of one Instance, oldest first; shorter when there are fewer.

        They are kept to three digits.
        """
        # From the near end: the middle of a deque is far from either.
        found = self._values(instance_id, series, islice(reversed(self._looks), last))
        found.reverse()
        return found

    def of(self, instance_id: str, series: str, *, since_s: float | None = None) -> Points:
        """Return what is kept of one Instance, from a monotonic second on; to three digits."""
        looks = []
        for look in reversed(self._looks):
            if since_s is not None and look[0] < since_s:
                break
            looks.append(look)
        looks.reverse()
        times_s = array("d", [at_s for at_s, _ in looks])
        return Points(times_s=times_s, values=array("f", self._values(instance_id, series, looks)))

    def pool(self, series: str, *, since_s: float | None = None, last: int | None = None) -> Points:
        """Return what is kept of the pool, from a monotonic second on, or so many looks of it."""
        return self._pool.points(series, since_s=since_s, last=last)

    def _values(
        self, instance_id: str, series: str, looks: Iterable[tuple[float, tuple[bytes, ...]]]
    ) -> list[float]:
        slot, at = self._slots.get(instance_id), _COLUMN_OF[series]
        if slot is None:
            return [GAP for _ in looks]
        return at_place([columns[at] for _, columns in looks], slot)

    def _placed(self, rows: Sequence[FleetRow]) -> list[FleetRow]:
        """Put each row where its Instance has its place."""
        slots = [self._slot(row.id) for row in rows]
        placed: list[FleetRow] = [_NOBODY] * (len(self._slots) + len(self._free))
        for slot, row in zip(slots, rows, strict=True):
            if slot is not None:
                placed[slot] = row
        return placed

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


def _the_same(column: bytes, before: bytes) -> bytes:
    """Keep a column once that has not changed: agents report less often than anybody looks."""
    return before if column == before else column


def _columns_of(
    rows: Sequence[FleetRow], names: Collection[str], read: Callable[[FleetRow], Any]
) -> list[tuple[float | None, ...]]:
    """Return a column for each name; `read` reads all of them of one row."""
    return list(zip(*map(read, rows), strict=True)) or [()] * len(names)


def _known(column: Sequence[float | None]) -> Sequence[float]:
    return [value for value in column if value is not None]


def _middle(values: Sequence[float]) -> float:
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def _pool_of(rows: Sequence[FleetRow]) -> dict[str, float]:
    alive = [row for row in rows if row.state == "alive"]
    columns = _columns_of(alive, _SUMMED_UP, _read_summed_up)
    known = {name: _known(column) for name, column in zip(_SUMMED_UP, columns, strict=True)}
    states = [row.shown for row in rows]
    found: dict[str, float] = {
        name: states.count(name) for name in ("alive", "stale", "dead", "drain")
    }
    found |= {f"{name}_mean": sum(v) / len(v) for name in _MEANS if (v := known[name])}
    found |= {f"{name}_sum": sum(v) for name in _SUMS if (v := known[name])}
    for name in _SPREADS:
        if values := sorted(known[name]):
            found[f"{name}_min"] = values[0]
            found[f"{name}_median"] = _middle(values)
            found[f"{name}_max"] = values[-1]
    return found


def _floats(more: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in more.items() if value is not None}
