"""The two built-in ways to choose: in turn, and by least load.

A strategy books nothing. It is told when a request was sent to the Instance it chose, when
the first token came and when it ended, so that it can keep an index of its own.
"""

from typing import Protocol

from cacheroute.core.pool_member import Member
from cacheroute.core.request import RouteRequest
from cacheroute.core.routing.candidates import Candidates
from cacheroute.core.routing.load import running_cost
from cacheroute.core.routing.ranks import Ranks
from cacheroute.core.routing.selection import Chosen, Selection
from cacheroute.core.routing.weights import Weights

_RUNNER_UP_BELOW = 64
"""Finding the second best is a second pass; a pool larger than this does without."""


class Strategy(Protocol):
    """A way to choose one of several Instances."""

    name: str

    def select(self, request: RouteRequest, candidates: Candidates, now_mono_s: float) -> Selection:
        """Choose from a list that is not empty."""
        ...

    def on_change(self, member: Member) -> None:
        """A Member's load has changed: a lease, a release or a report."""
        ...

    def on_first_token(self, member: Member, ttft_s: float) -> None:
        """A request got its first token."""
        ...


class RoundRobin:
    """Each in its turn; Instances with more weight come round more often."""

    name = "round_robin"

    def __init__(self, weights: Weights) -> None:
        del weights  # every strategy is made alike
        self._turn = 0
        self._passed = 0.0

    def select(self, request: RouteRequest, candidates: Candidates, now_mono_s: float) -> Selection:
        """Choose whoever is due."""
        del request, now_mono_s
        members = candidates.members
        if candidates.is_even:
            turn = candidates.turn
            if turn is None:
                turn = self._turn  # a new list goes on where the last one was
            candidates.turn = self._turn = turn + 1
            return Chosen(members[turn % len(members)], considered=len(members))
        index, self._passed = candidates.next_stride(self._passed)
        return Chosen(members[index], considered=len(members))

    def on_change(self, member: Member) -> None:
        """Loads do not matter here."""

    def on_first_token(self, member: Member, ttft_s: float) -> None:
        """Nor do times."""


class LeastLoad:
    """The Instance with the least pressure on it; ties go round.

    Costs are kept in ranks. Where nothing is queued a change is entered at once; a Member
    with queues is weighed anew at the next selection, and then only when it might be the one.
    """

    name = "least_load"

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._turn = 0
        self._changed: set[Member] = set()
        """Who has queues, and something happened there since the last selection."""

    def select(self, request: RouteRequest, candidates: Candidates, now_mono_s: float) -> Selection:
        """Choose the least cost."""
        del request
        if self._changed:
            for member in self._changed:
                self._weigh(member, now_mono_s)
            self._changed.clear()
        members = candidates.members
        ranks = candidates.ranks
        if ranks is None:
            ranks = self._rank(candidates, now_mono_s)
        if ranks.is_moving:
            ranks.look(now_mono_s)
        count = len(members)
        turn = candidates.turn
        least, index = ranks.least_from((self._turn if turn is None else turn) % count)
        candidates.turn = self._turn = index + 1
        chosen = Chosen(members[index], least, considered=count)
        if 1 < count <= _RUNNER_UP_BELOW:
            if ranks.is_moving:
                ranks.look(now_mono_s, beside=index)
            chosen.runner_up_cost, other = ranks.beside(index)
            chosen.runner_up = members[other]
        return chosen

    def on_change(self, member: Member) -> None:
        """Put the new cost wherever the Member stands, or have it weighed at the next selection."""
        if member.places:
            if member.queues is not None:
                self._changed.add(member)
                return
            cost = running_cost(member, self._weights, 0.0)
            for ranks, index in member.places:
                ranks.put(index, cost)

    def on_first_token(self, member: Member, ttft_s: float) -> None:
        """Times do not matter here."""

    def _weigh(self, member: Member, now_mono_s: float) -> None:
        """Say what a Member costs now, and how that goes on, wherever it stands."""
        cost = running_cost(member, self._weights, now_mono_s)
        queues = member.queues
        course = None if queues is None else queues.course(now_mono_s)
        for ranks, index in member.places:
            ranks.put_moving(index, cost, course)

    def _rank(self, candidates: Candidates, now_mono_s: float) -> Ranks:
        like = candidates.like
        if like is not None:
            # They share the costs, so that a change is entered once; each has its own round.
            ranks = self._rank(like, now_mono_s) if like.ranks is None else like.ranks
            candidates.ranks = ranks
            return ranks
        members = candidates.members
        costs = [running_cost(member, self._weights, now_mono_s) for member in members]
        speed = self._weights.predicted_total_backlog_ms * 1000
        ranks = candidates.ranks = Ranks(members, costs, self._weigh, speed)
        if candidates.is_kept:
            for index, member in enumerate(members):
                member.places.append((ranks, index))
                if member.queues is not None:
                    ranks.put_moving(index, costs[index], member.queues.course(now_mono_s))
        return ranks
