"""A fleet at work, in this process: what `least_load` has to choose from in each state.

Time is handed in and chance comes from a seed, so that two ways to choose see the same fleet
for as long as they choose alike.
"""

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import Literal

from cacheroute.core.clock import Instant
from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.timeline import Timeline
from cacheroute.core.instance import Instance
from cacheroute.core.pool import Pool
from cacheroute.core.pool_member import Lease, Member
from cacheroute.core.request import RouteRequest
from cacheroute.core.routing.plan import Router
from cacheroute.core.routing.selection import Chosen
from cacheroute.core.routing.strategies import LeastLoad
from cacheroute.core.routing.weights import Weights
from cacheroute.core.rules import PoolRules

State = Literal[
    "idle", "plain", "boards", "busy", "late", "churn", "capped", "capped_churn", "full", "retry"
]

STATES: Mapping[State, str] = {
    "idle": "nothing runs",
    "plain": "requests without predictions come and go",
    "boards": "queues before all, and nothing in them",
    "busy": "backlogs everywhere, and time passes",
    "late": "the same, with every first token overdue",
    "churn": "predicted requests come, get first tokens and end",
    "capped": "requests without predictions come and go, and every second has a cap",
    "capped_churn": "predicted requests come and go, and every second has a cap",
    "full": "all have more than their caps allow, and predicted requests come, wait and end",
    "retry": "predicted requests come and go, and each has failed already",
}
"""What a fleet can be at, in words."""
_WITHOUT_BOARDS = ("idle", "plain", "capped")
_AT_WORK = ("plain", "churn", "capped", "capped_churn", "full", "retry")
"""Where requests are sent, and not only asked for."""
_CAPS: Mapping[State, tuple[int | None, ...]] = {
    "capped": (2, None),
    "capped_churn": (2, None),
    "full": (1,),
}
"""In turn, by Instance; None is for no cap."""
_FAILED_ON = 2
"""How many a request has tried before, where it has, if there are others left."""

_PASSES_S = 0.0001
"""Between two decisions, where nothing else happens."""


def a_request() -> RouteRequest:
    """A request of a plain client."""
    return RouteRequest(
        request_id="bench",
        endpoint="chat/completions",
        path="/v1/chat/completions",
        query=b"",
        method="POST",
        model="m",
        stream=False,
        caller="native",
        body=b"{}",
        arrived_mono_s=0.0,
        arrived_wall_s=0.0,
    )


def an_instance(number: int, weight: float = 1.0, cap: int | None = None) -> Instance:
    """One Instance of many."""
    return Instance(
        instance_id=f"i-{number}",
        host=f"10.0.{number // 250}.{number % 250 + 1}",
        port=8000,
        weight=weight,
        max_concurrent=cap,
        capabilities={"model": {"identifier": "m"}},
        registered_wall_s=0.0,
    )


def alive(_: object) -> str:
    """Everybody is alive."""
    return "alive"


def is_resting(_: object) -> bool:
    """Nobody rests."""
    return False


class _Board(Board):
    """A board by the default rules that counts how often it is weighed."""

    __slots__ = ("weighed",)

    def __init__(self) -> None:
        super().__init__(QueueRules())
        self.weighed = 0

    def wait_ms(self, now_mono_s: float) -> float:
        self.weighed += 1
        return super().wait_ms(now_mono_s)


class Fleet:
    """Instances under `least_load`, each asked for once a second, and the requests on them."""

    def __init__(
        self,
        instances: int,
        state: State,
        *,
        weights: tuple[float, ...] = (1.0,),
    ) -> None:
        self.strategy = LeastLoad(Weights())
        self.pool = Pool(PoolRules(max_instances=instances))
        self.now_s = 1000.0
        self._state = state
        self._router = Router(self.strategy, waits_at_caps=state == "full")
        self._asked = a_request()
        self._chance = random.Random(1)
        self._events: list[tuple[float, int, Callable[[], list[Member]]]] = []
        self._numbers = itertools.count()
        self._free_s: dict[Member, float] = {}
        caps = _CAPS.get(state, (None,))
        failed_on = min(_FAILED_ON, instances - 1) if state == "retry" else 0
        self._failed: deque[Member] = deque(maxlen=failed_on)
        for number in range(instances):
            weight = weights[number % len(weights)]
            cap = caps[number % len(caps)]
            self.pool.register(an_instance(number, weight, cap), Instant(0.0, 0.0))
        for member in self.pool.members.values():
            if state not in _WITHOUT_BOARDS:
                member.queues = _Board()
            if state in ("busy", "late"):
                for _ in range(self._chance.randint(1, 8)):
                    Lease(member)
                    _timeline(member).reserve(self.now_s, self._chance.uniform(200, 4000), 1000.0)
        if state == "late":
            self.now_s += 4.0
        if state in _AT_WORK:
            for _ in range(5 * instances):  # until it is as busy as it will stay
                self.tell(self.go_on(self.choose()))

    @property
    def weighed(self) -> int:
        """How often a board has been weighed."""
        boards = (member.queues for member in self.pool.members.values())
        return sum(board.weighed for board in boards if isinstance(board, _Board))

    def choose(self) -> Chosen:
        """Choose an Instance."""
        chosen = self._router.plan(
            self._asked,
            self.pool.members,
            self.pool.version,
            self.now_s,
            alive,
            is_resting,
            self._failed,
        )
        assert isinstance(chosen, Chosen)
        return chosen

    def go_on(self, chosen: Chosen) -> list[Member]:
        """Let happen what does until the next decision; returns whose load was changed by it.

        One that was changed twice is there twice, since the Proxy says so each time.
        """
        changed: list[Member] = []
        self._failed.append(chosen.member)
        if self._state in _AT_WORK:
            changed += self._send(chosen.member)
            self.now_s += 1.0 / len(self.pool)
        elif self._state != "idle":
            self.now_s += _PASSES_S
        while self._events and self._events[0][0] <= self.now_s:
            changed += heapq.heappop(self._events)[2]()
        return changed

    def tell(self, changed: list[Member]) -> None:
        """Tell the strategy whose load has changed."""
        for member in changed:
            self.strategy.on_change(member)

    def _send(self, member: Member) -> list[Member]:
        lease = Lease(member)
        service_s, decode_s = self._chance.uniform(0.2, 1.2), self._chance.uniform(0.5, 3.0)
        is_seen = self._chance.random() < 0.7
        # What really happens: one prompt after another, some faster and some slower.
        first_s = max(self.now_s, self._free_s.get(member, 0.0))
        first_s += service_s * self._chance.uniform(0.6, 1.4)
        self._free_s[member] = first_s

        def give_back() -> list[Member]:
            lease.release()
            return [member]

        if member.queues is None:
            self._at(first_s + decode_s, give_back)
            return [member]
        timeline = _timeline(member)
        one = timeline.reserve(
            self.now_s, service_s * 1000, decode_s * 1000, observable=is_seen, holds_slot=False
        )

        def first_token() -> list[Member]:
            timeline.first_token(one, self.now_s)
            return [member]

        def end() -> list[Member]:
            timeline.end(one, self.now_s)
            return [member, *give_back()]

        if is_seen:
            self._at(first_s, first_token)
        self._at(first_s + decode_s, end)
        return [member, member]

    def _at(self, due_s: float, event: Callable[[], list[Member]]) -> None:
        heapq.heappush(self._events, (due_s, next(self._numbers), event))


def _timeline(member: Member) -> Timeline:
    assert isinstance(member.queues, Board)
    return member.queues.timeline
