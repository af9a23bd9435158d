"""Both built-in ways to choose as anybody would write them: look at everybody, every time.

What they have to equal, to the last bit of a cost.
"""

from collections.abc import Sequence

from cacheroute.core.pool_member import Member
from cacheroute.core.request import RouteRequest
from cacheroute.core.routing.candidates import Candidates
from cacheroute.core.routing.load import running_cost
from cacheroute.core.routing.ranks import Ranks
from cacheroute.core.routing.selection import Chosen, Selection
from cacheroute.core.routing.tiers import Tiers, look
from cacheroute.core.routing.weights import Weights


def has_room(member: Member) -> bool:
    """Whether a Member's own cap leaves room for one more request."""
    cap = member.instance.max_concurrent
    return cap is None or member.inflight < cap


def can_wait(member: Member) -> bool:
    """Whether one more request may wait until a Member has room."""
    return member.queues is None or not member.queues.is_full


def narrowed(members: Sequence[Member], out: Sequence[int]) -> list[int]:
    """The indexes of those with room; of those that can be waited for; in the end of all."""
    left = [index for index in range(len(members)) if index not in out]
    roomy = [index for index in left if has_room(members[index])]
    return roomy or [index for index in left if can_wait(members[index])] or left


class _Exhaustive:
    """What both have in common."""

    name = "exhaustive"

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._turn = 0

    def begin(self, tiers: Tiers, now_mono_s: float) -> None:
        """Nothing is kept; but the router counts who has room."""
        members = tiers.members
        tiers.fill([0.0] * len(members), lambda apart: Ranks(members, apart))
        tiers.follow()

    def _from_turn(self, candidates: Candidates, eligible: Sequence[int]) -> list[int]:
        """Those who may be chosen, whose turn it is first."""
        turn = self._turn if candidates.turn is None else candidates.turn
        count = len(candidates.members)
        return sorted(eligible, key=lambda index: (index - turn) % count)

    def _take_turn(self, candidates: Candidates, index: int) -> None:
        candidates.turn = self._turn = index + 1

    def on_change(self, member: Member) -> None:
        """Nothing is kept; but the router counts who has room."""
        if member.places:
            look(member)

    def on_first_token(self, member: Member, ttft_s: float) -> None:
        """Nothing is kept."""


class ExhaustiveLeastLoad(_Exhaustive):
    """Weigh everybody, take the least, ties go round."""

    def select(
        self,
        request: RouteRequest,
        candidates: Candidates,
        now_mono_s: float,
        out: Sequence[int] = (),
    ) -> Selection:
        """Weigh everybody."""
        members = candidates.members
        eligible = narrowed(members, out)
        costs = {i: running_cost(members[i], self._weights, now_mono_s) for i in eligible}
        index = min(self._from_turn(candidates, eligible), key=lambda i: costs[i])
        self._take_turn(candidates, index)
        chosen = Chosen(members[index], costs[index], considered=len(eligible))
        if 1 < len(eligible) <= 64:
            second = min((i for i in eligible if i != index), key=lambda i: costs[i])
            chosen.runner_up, chosen.runner_up_cost = members[second], costs[second]
        return chosen


class ExhaustiveRoundRobin(_Exhaustive):
    """Look for whose turn it is, or who has had the least of his share."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights)
        self._passed = 0.0

    def begin(self, tiers: Tiers, now_mono_s: float) -> None:
        """A new list goes on where the last one was."""
        super().begin(tiers, now_mono_s)
        tiers.passed = self._passed

    def select(
        self,
        request: RouteRequest,
        candidates: Candidates,
        now_mono_s: float,
        out: Sequence[int] = (),
    ) -> Selection:
        """Look at everybody."""
        members, tiers = candidates.members, candidates.tiers
        eligible = narrowed(members, out)
        if len({member.weight for member in members}) == 1:
            index = self._from_turn(candidates, eligible)[0]
            self._take_turn(candidates, index)
        else:
            index = min(eligible, key=lambda i: members[i].due)
            tiers.passed = self._passed = max(members[index].due, tiers.passed)
            members[index].due = tiers.passed + 1.0 / members[index].weight
        return Chosen(members[index], considered=len(eligible))
