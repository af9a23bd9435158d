"""Prefills that are on their way to an Instance: chosen for it, and still being prepared.

The timeline knows what has been released to an Instance. Between the choice and the release
lies a transfer that can take seconds; a prediction that does not see it gives the same idle
GPU to everybody who asks in the meantime.
"""

import bisect
from dataclasses import dataclass
from typing import NamedTuple


class _Entry(NamedTuple):
    ready_mono_s: float
    number: int
    service_s: float


@dataclass(frozen=True, slots=True)
class Coming:
    """One request's place among those on their way, to be given back once."""

    entry: _Entry


class Upcoming:
    """Requests on their way to one Instance, by when they are expected to be ready."""

    __slots__ = ("_entries", "_numbers")

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._numbers = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, ready_mono_s: float, service_ms: float) -> Coming:
        """Note a request that is expected to be ready then, and to need so long."""
        self._numbers += 1
        entry = _Entry(ready_mono_s, self._numbers, service_ms / 1000)
        bisect.insort(self._entries, entry)
        return Coming(entry)

    def remove(self, coming: Coming) -> None:
        """It has been released, or has gone; a second call does nothing."""
        index = bisect.bisect_left(self._entries, coming.entry)
        if index < len(self._entries) and self._entries[index] == coming.entry:
            del self._entries[index]

    def wait_ms(self, now_mono_s: float, free_in_ms: float, own_ready_ms: float = 0.0) -> float:
        """Return how long the prefill stays taken for one that is ready in `own_ready_ms`.

        `free_in_ms` is when it will be done with what it has. Prefills go in the order in which
        they become ready: those that are ready before us take it first.
        """
        cursor_s = free_in_ms / 1000
        own_s = own_ready_ms / 1000
        for entry in self._entries:
            ready_s = max(0.0, entry.ready_mono_s - now_mono_s)
            if ready_s > own_s:
                break
            cursor_s = max(cursor_s, ready_s) + entry.service_s
        return cursor_s * 1000

    def delay_ms(
        self, now_mono_s: float, free_in_ms: float, own_ready_ms: float, own_service_ms: float
    ) -> float:
        """Return how much longer all that are here would wait, in sum, for one more like that."""
        without_s = with_s = free_in_ms / 1000
        own_s, own_service_s = own_ready_ms / 1000, own_service_ms / 1000
        delay_s = 0.0
        has_gone = False
        for entry in self._entries:
            ready_s = max(0.0, entry.ready_mono_s - now_mono_s)
            if not has_gone and ready_s > own_s:
                has_gone = True
                with_s = max(with_s, own_s) + own_service_s
            delay_s += max(with_s, ready_s) - max(without_s, ready_s)
            without_s = max(without_s, ready_s) + entry.service_s
            with_s = max(with_s, ready_s) + entry.service_s
        return delay_s * 1000
