"""The two built-in ways to choose: in turn, and by least load.

A strategy books nothing. It is told when a request was sent to the Instance it chose, when
the first token came and when it ended, so that it can keep an index of its own.
"""

from typing import Protocol

from cacheroute.core.pool_member import Member
from cacheroute.core.request import RouteRequest
from cacheroute.core.routing.candidates import Candidates
from cacheroute.core.routing.load import running_cost
from cacheroute.core.routing.selection import Chosen, Selection
from cacheroute.core.routing.weights import Weights

_RUNNER_UP_BELOW = 64
"""Finding the second best is a second pass; a pool larger than this does without."""

_OUT_OF_THE_WAY = float("inf")


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

    Costs are kept in an index. Where nothing is queued a change is entered at once; a Member
    with queues is weighed anew at the next selection, and at every one while time alone
    changes what it costs.
    """

    name = "least_load"

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._turn = 0
        self._moving: set[Member] = set()

    def select(self, request: RouteRequest, candidates: Candidates, now_mono_s: float) -> Selection:
        """Choose the least cost from the index."""
        del request
        if self._moving:
            self._weigh_anew(now_mono_s)
        members = candidates.members
        costs = candidates.costs
        if not costs:
            self._index(candidates, now_mono_s)
        count = len(costs)
        least = min(costs)
        turn = candidates.turn
        start = (self._turn if turn is None else turn) % count
        try:
            index = costs.index(least, start)
        except ValueError:
            index = costs.index(least)
        candidates.turn = self._turn = index + 1
        chosen = Chosen(members[index], least, considered=count)
        if 1 < count <= _RUNNER_UP_BELOW:
            # The chosen one is lifted out of the way, then put back.
            costs[index] = _OUT_OF_THE_WAY
            second = min(costs)
            other = costs.index(second)
            costs[index] = least
            chosen.runner_up = members[other]
            chosen.runner_up_cost = second
        return chosen

    def on_change(self, member: Member) -> None:
        """Put the new cost wherever the Member stands, or have it weighed at the next selection."""
        if member.places:
            if member.queues is not None:
                self._moving.add(member)
                return
            cost = running_cost(member, self._weights, 0.0)
            for costs, index in member.places:
                costs[index] = cost

    def on_first_token(self, member: Member, ttft_s: float) -> None:
        """Times do not matter here."""

    def _weigh_anew(self, now_mono_s: float) -> None:
        at_rest: list[Member] = []
        for member in self._moving:
            cost = running_cost(member, self._weights, now_mono_s)
            for costs, index in member.places:
                costs[index] = cost
            # Without a place it is in no list: it has left, or all lists are made anew.
            if not member.places or member.queues is None or not member.queues.is_ticking:
                at_rest.append(member)
        self._moving.difference_update(at_rest)

    def _index(self, candidates: Candidates, now_mono_s: float) -> None:
        for index, member in enumerate(candidates.members):
            candidates.costs.append(running_cost(member, self._weights, now_mono_s))
            if candidates.is_kept:
                member.places.append((candidates.costs, index))
                if member.queues is not None and member.queues.is_ticking:
                    self._moving.add(member)
