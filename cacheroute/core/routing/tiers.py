"""The Members of a list by standing: which have room, which are at their cap, which are full.

A standing changes once in many requests, when the last slot of a Member is taken or the first
one is given back. So each list keeps its numbers apart by standing and moves one only then: a
choice looks at the best standing that any Member has, and reads no caps.
"""

import math
from collections.abc import Callable, Collection, Sequence

from cacheroute.core.pool_member import Member
from cacheroute.core.routing.ranks import Ranks

ROOM = 0
"""It takes one more request at once."""
WAIT = 1
"""It is at its cap, and one more may wait for it."""
FULL = 2
"""As many wait for it as may."""


def look(member: Member) -> None:
    """Work out a Member's standing again, after anything that may have changed it.

    If it has changed, the Member was taken out of the ranks of every list it is in, and the
    caller has to enter it again.
    """
    before, cap = member.standing, member.instance.max_concurrent
    if cap is None or member.inflight < cap:
        after = ROOM
    else:
        queues = member.queues
        after = FULL if queues is not None and queues.is_full else WAIT
    if after != before:
        member.standing = after
        for tiers, index in member.places:
            tiers.move(index, before, after)


class Tiers:
    """The Members of one list, and what a strategy counts for each, apart by standing."""

    __slots__ = ("_counts", "_where", "is_capped", "is_even", "members", "passed", "ranks")

    def __init__(self, members: list[Member]) -> None:
        self.members = members
        self.is_capped = any(m.instance.max_concurrent is not None for m in members)
        """Whether some Member takes only so many requests at once."""
        self.is_even = len({m.weight for m in members}) <= 1
        """Whether all have the same share."""
        for member in members if self.is_capped else ():
            if not member.places:  # else its standing is kept already
                look(member)
        self._where = {member: index for index, member in enumerate(members)}
        self._counts = [len(members), 0, 0]
        for member in members if self.is_capped else ():
            self._counts[ROOM] -= 1
            self._counts[member.standing] += 1
        self.ranks: tuple[Ranks, ...] = ()
        """What a strategy counts for each Member, by standing; each stands in one of them."""
        self.passed = 0.0
        """How far weighted turns have come, in the virtual time of stride scheduling."""

    def fill(self, numbers: Sequence[float], make: Callable[[list[float]], Ranks]) -> None:
        """Begin with a number for each Member; each standing gets ranks of its own.

        In them, Members of another standing are infinite.
        """
        apart = [list(numbers), *([math.inf] * len(numbers) for _ in (WAIT, FULL))]
        for index, member in enumerate(self.members if self.is_capped else ()):
            if member.standing != ROOM:
                apart[ROOM][index], apart[member.standing][index] = math.inf, numbers[index]
        self.ranks = tuple(map(make, apart))

    def follow(self) -> None:
        """Be told of each Member's changes from now on, until the pool changes."""
        for index, member in enumerate(self.members):
            member.places.append((self, index))

    def put(self, index: int, number: float) -> None:
        """Set the number of a Member, in the ranks of its standing."""
        self.ranks[self.members[index].standing].put(index, number)

    def move(self, index: int, before: int, after: int) -> None:
        """Take a Member out of the ranks of its earlier standing."""
        self._counts[before] -= 1
        self._counts[after] += 1
        self.ranks[before].leave(index)

    def best(self, out: Sequence[int] = ()) -> tuple[int, int]:
        """Return the best standing of any Member, and how many have it; those left `out` apart.

        A count of 0 means that no Member is left.
        """
        if not out and not self.is_capped:
            return ROOM, len(self.members)
        counts = self._counts
        if out:
            counts = counts.copy()
            for index in out:
                counts[self.members[index].standing] -= 1
        for standing, count in enumerate(counts):
            if count:
                return standing, count
        return FULL, 0

    def indexes(self, members: Collection[Member]) -> list[int]:
        """Return the indexes of a few Members, leaving out those that are not in the list."""
        where = self._where
        return [where[member] for member in dict.fromkeys(members) if member in where]
