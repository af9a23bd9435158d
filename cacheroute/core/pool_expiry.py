"""Who falls silent next, without looking at everybody.

A heap of deadlines that are allowed to be too early: a heartbeat moves a Member's own
stamp and leaves the heap alone, and a deadline that comes up is checked against the stamp
and put back if it spoke since. One float tells the hot path whether anything can be due.
"""

import heapq
import math

from cacheroute.core.clock import Instant
from cacheroute.core.pool_member import Member

_SLACK = 64
"""Entries of Members that are gone which the heap may carry before it is rebuilt."""


class ExpiryQueue:
    """The watched Members by the earliest moment at which they may have expired."""

    __slots__ = ("_count", "_heap", "_sequence", "_ttl_s", "next_mono_s")

    def __init__(self, ttl_s: float) -> None:
        self._heap: list[tuple[float, int, Member]] = []
        self._ttl_s = ttl_s
        self._sequence = 0
        self._count = 0
        self.next_mono_s = math.inf
        """Nothing is due before this moment."""

    def __len__(self) -> int:
        return self._count

    def watch(self, member: Member) -> bool:
        """Schedule the expiry of a Member; False when it is scheduled already."""
        if member.watched:
            return False
        member.watched = True
        self._count += 1
        self._push(member)
        return True

    def unwatch(self, member: Member) -> None:
        """Let a Member go that has left the pool or needs no more watching."""
        if not member.watched:
            return
        member.watched = False
        self._count -= 1
        if len(self._heap) > 2 * self._count + _SLACK:
            members = {id(entry[2]): entry[2] for entry in self._heap if entry[2].watched}
            self._heap = []
            for kept in members.values():
                self._push(kept)
        self._note_next()

    def due(self, now: Instant) -> list[Member]:
        """Take out the Members whose silence has outlasted the time-to-live."""
        silent: list[Member] = []
        heap = self._heap
        while heap and heap[0][0] < now.mono_s:
            member = heapq.heappop(heap)[2]
            if not member.watched:
                continue
            if member.last_seen_mono_s + self._ttl_s < now.mono_s:
                member.watched = False
                self._count -= 1
                silent.append(member)
            else:
                self._push(member)
        self._note_next()
        return silent

    def _push(self, member: Member) -> None:
        # The sequence keeps the heap from ever comparing two Members.
        self._sequence += 1
        deadline_mono_s = member.last_seen_mono_s + self._ttl_s
        heapq.heappush(self._heap, (deadline_mono_s, self._sequence, member))
        self._note_next()

    def _note_next(self) -> None:
        self.next_mono_s = self._heap[0][0] if self._heap else math.inf
