"""The Instances one kind of request may go to, kept until the pool changes.

Selection walks this, not the pool: who may serve a model changes with registrations and
failures, a thousand times less often than requests come.
"""

import heapq
from collections.abc import Collection

from cacheroute.core.pool_member import Member
from cacheroute.core.routing.filters import Sifted
from cacheroute.core.routing.ranks import Ranks


class Candidates:
    """A fixed list of Members, with what strategies keep beside it."""

    __slots__ = (
        "_strides", "is_capped", "is_even", "is_kept", "like", "members", "ranks", "sifted", "turn",
    )  # fmt: skip

    def __init__(
        self, sifted: Sifted, *, is_kept: bool = True, like: "Candidates | None" = None
    ) -> None:
        self.sifted = sifted
        self.members = sifted.kept
        self.like = like
        """Another list with the same Members; adapters by the hundred may have such lists."""
        self.ranks: Ranks | None = None
        """What each Member costs, where the strategy weighs them."""
        self.is_capped = any(m.instance.max_concurrent is not None for m in self.members)
        """Whether some Member takes only so many requests at once."""
        self.is_even = len({m.weight for m in self.members}) <= 1
        self.is_kept = is_kept
        """Whether it is asked again; one made for a single try is not worth an index."""
        self.turn: int | None = None
        """Where its round stands; None before the first choice."""
        self._strides: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self.members)

    def narrowed(self, excluded: Collection[Member]) -> "Candidates":
        """Return those that are not excluded and, of these, the ones that have room.

        Where all are at their caps, those remain that another request can wait for, and in
        the end all: it is for the queue to say that it is full.
        """
        left = [m for m in self.members if m not in excluded]
        kept = [m for m in left if has_room(m)] or [m for m in left if can_wait(m)] or left
        sifted = Sifted(kept, self.sifted.skipped, self.sifted.rested)
        return Candidates(sifted, is_kept=False)

    def next_stride(self, passed: float) -> tuple[int, float]:
        """Return the index that is due next when shares differ, and its pass, by stride scheduling.

        Each Member's pass advances by 1/weight when it is chosen, so over any stretch the
        choices follow the weights as evenly as whole requests can. It stays with the Member,
        whatever list it stands in; one that comes late or comes back begins at `passed`.
        """
        members = self.members
        if not self.is_kept:
            due, index = min((max(m.due, passed), i) for i, m in enumerate(members))
        else:
            strides = self._strides
            if not strides:
                strides.extend((max(m.due, passed), i) for i, m in enumerate(members))
                heapq.heapify(strides)
            due, index = strides[0]
            while due < members[index].due:  # chosen from another list in the meantime
                heapq.heapreplace(strides, (members[index].due, index))
                due, index = strides[0]
            heapq.heapreplace(strides, (due + 1.0 / members[index].weight, index))
        members[index].due = due + 1.0 / members[index].weight
        return index, due


def has_room(member: Member) -> bool:
    """Whether a Member's own cap leaves room for one more request."""
    cap = member.instance.max_concurrent
    return cap is None or member.inflight < cap


def can_wait(member: Member) -> bool:
    """Whether one more request may wait until a Member has room."""
    queues = member.queues
    return queues is None or not queues.is_full
