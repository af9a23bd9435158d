"""The Instances one kind of request may go to, kept until the pool changes.

Selection walks this, not the pool: who may serve a model changes with registrations and
failures, a thousand times less often than requests come.
"""

import heapq
from collections.abc import Collection

from cacheroute.core.pool_member import Member
from cacheroute.core.routing.filters import Sifted


class Candidates:
    """A fixed list of Members, with what strategies keep beside it."""

    __slots__ = ("_strides", "costs", "is_capped", "is_even", "members", "sifted")

    def __init__(self, sifted: Sifted) -> None:
        self.sifted = sifted
        self.members = sifted.kept
        self.costs: list[float] = []
        """Cost of each Member by index, where the strategy keeps one."""
        self.is_capped = any(m.instance.max_concurrent is not None for m in self.members)
        """Whether some Member takes only so many requests at once."""
        self.is_even = len({m.instance.weight for m in self.members}) <= 1
        self._strides: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self.members)

    def narrowed(self, excluded: Collection[Member]) -> "Candidates":
        """Return those that are not excluded and have room under their own cap."""
        kept = [m for m in self.members if m not in excluded and has_room(m)]
        return Candidates(Sifted(kept, self.sifted.skipped, self.sifted.rested))

    def next_stride(self) -> int:
        """Return the index that is due next when shares differ, by stride scheduling.

        Each index advances by 1/weight when chosen, so over any stretch the choices follow
        the weights as evenly as whole requests can.
        """
        strides = self._strides
        if not strides:
            strides.extend(
                (1.0 / member.instance.weight, index) for index, member in enumerate(self.members)
            )
            heapq.heapify(strides)
        due, index = strides[0]
        heapq.heapreplace(strides, (due + 1.0 / self.members[index].instance.weight, index))
        return index


def has_room(member: Member) -> bool:
    """Whether a Member's own cap leaves room for one more request."""
    cap = member.instance.max_concurrent
    return cap is None or member.inflight < cap
