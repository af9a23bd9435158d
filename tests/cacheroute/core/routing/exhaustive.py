"""Least load as anybody would write it: weigh everybody, take the least, ties go round."""

from cacheroute.core.pool_member import Member
from cacheroute.core.request import RouteRequest
from cacheroute.core.routing.candidates import Candidates
from cacheroute.core.routing.load import running_cost
from cacheroute.core.routing.selection import Chosen, Selection
from cacheroute.core.routing.weights import Weights


class Exhaustive:
    """What LeastLoad has to equal, to the last bit of a cost."""

    name = "exhaustive"

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._turn = 0

    def select(self, request: RouteRequest, candidates: Candidates, now_mono_s: float) -> Selection:
        """Weigh everybody."""
        members = candidates.members
        costs = [running_cost(member, self._weights, now_mono_s) for member in members]
        count, least = len(costs), min(costs)
        start = (self._turn if candidates.turn is None else candidates.turn) % count
        index = next(i % count for i in range(start, start + count) if costs[i % count] == least)
        candidates.turn = self._turn = index + 1
        chosen = Chosen(members[index], least, considered=count)
        if 1 < count <= 64:
            others = [i for i in range(count) if i != index]
            second = min(others, key=lambda i: costs[i])
            chosen.runner_up, chosen.runner_up_cost = members[second], costs[second]
        return chosen

    def on_change(self, member: Member) -> None:
        """Nothing is kept."""

    def on_first_token(self, member: Member, ttft_s: float) -> None:
        """Nothing is kept."""
