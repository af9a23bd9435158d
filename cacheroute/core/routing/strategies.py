"""The two built-in ways to choose: in turn, and by least load.

A strategy books nothing. It is told when a request was sent to the Instance it chose, when
the first token came and when it ended, so that it can keep an index of its own.
"""

from collections.abc import Sequence
from typing import Protocol

from cacheroute.core.pool_member import Member, Place
from cacheroute.core.request import RouteRequest
from cacheroute.core.routing.candidates import Candidates
from cacheroute.core.routing.load import running_cost
from cacheroute.core.routing.ranks import Ranks
from cacheroute.core.routing.selection import Chosen, Selection
from cacheroute.core.routing.tiers import Tiers, look
from cacheroute.core.routing.weights import Weights

_RUNNER_UP_BELOW = 64
"""Finding the second best is a second pass; a pool larger than this does without."""


class Strategy(Protocol):
    """A way to choose one of several Instances."""

    name: str

    def begin(self, tiers: Tiers, now_mono_s: float) -> None:
        """A list of Members is new, and will be chosen from until the pool changes."""
        ...

    def select(
        self,
        request: RouteRequest,
        candidates: Candidates,
        now_mono_s: float,
        out: Sequence[int] = (),
    ) -> Selection:
        """Choose among those of the best standing, without the few at the indexes left out.

        There is at least one such.
        """
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

    def begin(self, tiers: Tiers, now_mono_s: float) -> None:
        """Enter when each is due; a Member that is new or was away makes up for nothing."""
        del now_mono_s
        tiers.passed = self._passed
        members = tiers.members
        numbers = [_due(member, tiers) for member in members]
        tiers.fill(numbers, lambda apart: Ranks(members, apart))
        if tiers.is_capped:
            tiers.follow()

    def select(
        self,
        request: RouteRequest,
        candidates: Candidates,
        now_mono_s: float,
        out: Sequence[int] = (),
    ) -> Selection:
        """Choose whoever is due."""
        del request, now_mono_s
        members, tiers = candidates.members, candidates.tiers
        standing, count = tiers.best(out)
        ranks = tiers.ranks[standing]
        for left_out in out:
            ranks.leave(left_out)
        if tiers.is_even:
            turn = candidates.turn
            # A new list goes on where the last one was.
            index = (self._turn if turn is None else turn) % len(members)
            if count < len(members):
                index = ranks.least_from(index)[1]
            candidates.turn = self._turn = index + 1
        else:
            index = self._next_stride(tiers, ranks)
        for left_out in out:
            tiers.put(left_out, _due(members[left_out], tiers))
        return Chosen(members[index], considered=count)

    def on_change(self, member: Member) -> None:
        """Load does not matter here, only whether there is room."""
        if member.places:
            before = member.standing
            look(member)
            if member.standing != before:
                for tiers, index in member.places:
                    tiers.put(index, _due(member, tiers))

    def on_first_token(self, member: Member, ttft_s: float) -> None:
        """Times do not matter here."""

    def _next_stride(self, tiers: Tiers, ranks: Ranks) -> int:
        """Return the index that is due next when weights differ, by stride scheduling.

        (Waldspurger and Weihl, 1995.) Each Member is due 1/weight later when it is chosen, so
        over any stretch the choices follow the weights as evenly as whole requests can. `due`
        belongs to the Member, whichever list it is chosen from; turns that it missed while it
        could not be chosen are not made up for.
        """
        members = tiers.members
        due, index = ranks.least_from(0)
        while due < members[index].due:  # chosen from another list in the meantime
            ranks.put(index, members[index].due)
            due, index = ranks.least_from(0)
        tiers.passed = self._passed = max(due, tiers.passed)
        member = members[index]
        member.due = self._passed + 1.0 / member.weight
        ranks.put(index, member.due)
        return index


class LeastLoad:
    """The Instance with the least pressure on it; ties go round.

    Costs are kept in ranks. Where nothing is queued a change is entered at once; a Member
    with queues is weighed anew at the next selection, and then only when it might be the one.
    """

    name = "least_load"

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._turn = 0
        self._changed: tuple[set[Member], ...] = (set(), set(), set())
        """Who has queues, and something happened there since the last selection among those of
        its standing."""

    def begin(self, tiers: Tiers, now_mono_s: float) -> None:
        """Weigh everybody."""
        for changed in self._changed:  # those that have left will not be chosen among any more
            changed.difference_update([member for member in changed if not member.places])
        members, weights = tiers.members, self._weights
        speed = weights.predicted_total_backlog_ms * 1000
        costs = [running_cost(member, weights, now_mono_s) for member in members]
        tiers.fill(costs, lambda apart: Ranks(members, apart, self._weigh, speed))
        tiers.follow()
        for member, index, cost in zip(members, range(len(members)), costs, strict=True):
            if member.queues is not None:
                course = member.queues.course(now_mono_s)
                tiers.ranks[member.standing].put_moving(index, cost, course)

    def select(
        self,
        request: RouteRequest,
        candidates: Candidates,
        now_mono_s: float,
        out: Sequence[int] = (),
    ) -> Selection:
        """Choose the least cost."""
        del request
        members, tiers = candidates.members, candidates.tiers
        standing, count = tiers.best(out)
        changed = self._changed[standing]
        if changed:
            for member in changed:
                self._weigh(member, now_mono_s)
            changed.clear()
        ranks = tiers.ranks[standing]
        turn = candidates.turn
        start = (self._turn if turn is None else turn) % len(members)
        least, index = ranks.choose(now_mono_s, start, out=out)
        candidates.turn = self._turn = index + 1
        chosen = Chosen(members[index], least, considered=count)
        if 1 < count <= _RUNNER_UP_BELOW:
            chosen.runner_up_cost, other = ranks.choose(now_mono_s, beside=index, out=out)
            chosen.runner_up = members[other]
        if out:
            ranks.take_back(now_mono_s)
        return chosen

    def on_change(self, member: Member) -> None:
        """Put the new cost wherever the Member stands, or have it weighed at the next selection."""
        if member.places:
            standing = member.standing
            if member.instance.max_concurrent is not None:
                look(member)
                if member.standing != standing:
                    self._changed[standing].discard(member)
                    standing = member.standing
            if member.queues is not None:
                self._changed[standing].add(member)
                return
            cost = running_cost(member, self._weights, 0.0)
            for tiers, index in member.places:
                tiers.ranks[standing].put(index, cost)

    def on_first_token(self, member: Member, ttft_s: float) -> None:
        """Times do not matter here."""

    def _weigh(self, member: Member, now_mono_s: float) -> None:
        """Say what a Member costs now, and how that goes on, wherever it stands."""
        cost = running_cost(member, self._weights, now_mono_s)
        queues = member.queues
        course = None if queues is None else queues.course(now_mono_s)
        standing = member.standing
        for tiers, index in member.places:
            tiers.ranks[standing].put_moving(index, cost, course)


def _due(member: Member, place: Place) -> float:
    """Return the number of a Member in a round: where shares are even, everybody is due."""
    return 0.0 if place.is_even else member.due
