"""Whatever happens to a fleet, the short way chooses as looking at everybody would."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.reservation import Reservation
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.pool_member import Lease, Member
from cacheroute.core.routing.selection import Chosen, NoInstance
from cacheroute.core.routing.strategies import LeastLoad, RoundRobin, Strategy
from cacheroute.core.routing.weights import Weights
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.core.routing.exhaustive import (
    ExhaustiveLeastLoad,
    ExhaustiveRoundRobin,
    has_room,
)
from tests.cacheroute.core.routing.routing_builders import CHAT, Desk, a_request

FACTORS = st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0])
SERVICES_MS = st.sampled_from([0.0, 40.0, 100.0, 250.0, 500.0, 1500.0]) | st.floats(0, 3000)
DECODES_MS = st.sampled_from([0.0, 300.0, 1000.0]) | st.floats(0, 4000)
PASSES_S = st.sampled_from([0.0, 1e-7, 1e-4, 0.04, 0.1, 0.3, 0.5, 1.5, 10.0]) | st.floats(0, 3)
ANY = st.integers(0, 10_000)
SEEDS = st.integers(0, 2**32)
CAPS: dict[str, tuple[int | None, ...]] = {
    "none": (None,), "some": (None, 1, None, 3), "all": (1, 2), "tight": (1,),
}  # fmt: skip
WAYS: dict[str, tuple[Callable[[Weights], Strategy], ...]] = {
    "least_load": (LeastLoad, ExhaustiveLeastLoad),
    "round_robin": (RoundRobin, ExhaustiveRoundRobin),
}


class Side:
    """One of two fleets to which the same happens."""

    def __init__(self, strategy: Strategy, *, waits_at_caps: bool) -> None:
        self.desk = Desk(strategy=strategy, waits_at_caps=waits_at_caps)
        self.waits_at_caps = waits_at_caps
        self.step_ms = 0.0
        """How much an Instance reads at once."""
        self.sent: list[tuple[Member, Lease, Reservation | None, Ticket | None]] = []

    @property
    def members(self) -> list[Member]:
        return list(self.desk.pool.members.values())

    def choose(self, model: str, excluded: list[int]) -> tuple[object, ...]:
        """Choose, and say all that there is to say about it."""
        failed_on = [self.members[i] for i in excluded]
        chosen = self.desk.select(a_request(model), failed_on)
        if isinstance(chosen, NoInstance):
            if chosen.code == "all_overloaded":
                left = self.desk.router._lists[model, CHAT].members
                assert not any(has_room(m) for m in left if m not in failed_on)
            return chosen.code, chosen.reason
        assert isinstance(chosen, Chosen)
        assert chosen.member not in failed_on
        assert self.waits_at_caps or has_room(chosen.member)
        runner_up = chosen.runner_up
        return (
            chosen.member.instance.instance_id,
            chosen.cost,
            runner_up and runner_up.instance.instance_id,
            chosen.runner_up_cost,
            chosen.considered,
        )

    def send(
        self,
        member: Member,
        service_ms: float,
        decode_ms: float,
        *,
        observable: bool,
        holds_slot: bool,
    ) -> None:
        """Send a request, with a prediction where there is a board."""
        lease, reservation, ticket = Lease(member), None, None
        if isinstance(member.queues, Board):
            if member.instance.max_concurrent is not None:
                ticket = Ticket()
                member.queues.enter(ticket)
            reservation = member.queues.timeline.reserve(
                self.desk.now_s,
                service_ms,
                decode_ms,
                observable=observable,
                holds_slot=holds_slot,
                step_ms=self.step_ms,
            )
        self.desk.strategy.on_change(member)
        self.sent.append((member, lease, reservation, ticket))

    def first_token(self, which: int) -> None:
        """One that can be seen gets its first token."""
        member, _, one, _ = self.sent[which]
        if one is not None and one.observable:
            assert isinstance(member.queues, Board)
            member.queues.timeline.first_token(one, self.desk.now_s)
            self.desk.strategy.on_change(member)

    def end(self, which: int) -> None:
        """One ends, at whatever stage."""
        member, lease, one, ticket = self.sent.pop(which)
        if one is not None:
            assert isinstance(member.queues, Board)
            member.queues.timeline.end(one, self.desk.now_s)
            if ticket is not None:
                member.queues.gone(ticket)
        lease.release()
        self.desk.strategy.on_change(member)


class TwoFleets(RuleBasedStateMachine):
    """One under a strategy, one under its plain form."""

    @initialize(
        count=st.sampled_from([1, 4, 5, 9, 12, 25, 70]),
        shares=st.sampled_from([(1.0,), (1.0, 2.0), (1.0, 3.0, 1.5), (0.4, 1.0, 700.0)]),
        boards=st.sampled_from([0, 1, 2, 2]),
        seed=SEEDS,
        most_open=st.sampled_from([0, 1, 3, 6]),
        slots=st.sampled_from([1, 2, 64]),
        step_ms=st.sampled_from([0.0, 300.0]),
        weights=st.sampled_from([Weights(), Weights(inflight=0.0, pending_prefill_count=0.0)])
        | st.builds(
            Weights,
            inflight=FACTORS,
            pending_prefill_count=FACTORS,
            active_decode_count=FACTORS,
            predicted_total_backlog_ms=st.sampled_from([0.0, 0.001, 0.002, 1.0]),
        ),
        began_s=st.sampled_from([0.0, 1000.1, 3e6]),
        way=st.sampled_from(["least_load", "least_load", "round_robin"]),
        caps=st.sampled_from(["none", "none", "some", "all", "tight"]),
        waits_at_caps=st.booleans(),
    )
    def set_up(
        self,
        count: int,
        shares: tuple[float, ...],
        boards: int,
        seed: int,
        most_open: int,
        slots: int,
        step_ms: float,
        weights: Weights,
        began_s: float,
        way: str,
        caps: str,
        waits_at_caps: bool,
    ) -> None:
        """`boards` is how many of every two Instances have queues."""
        self.sides = [Side(way(weights), waits_at_caps=waits_at_caps) for way in WAYS[way]]
        for side in self.sides:
            side.desk.now_s, side.step_ms = began_s, step_ms
            for n in range(count):
                member = side.desk.join(
                    an_instance(
                        f"i-{n}", port=1 + n, weight=shares[n % len(shares)],
                        meta={} if n % 3 else {"model": "m"},
                        max_concurrent=CAPS[caps][n % len(CAPS[caps])],
                    )
                )  # fmt: skip
                if n % 2 < boards:
                    member.queues = Board(QueueRules(max_queue=2), slots)
        chance = Random(seed)
        for where in range(count):
            for _ in range(chance.randint(0, most_open)):
                service_ms, decode_ms = chance.uniform(0, 2500), chance.uniform(0, 2500)
                observable, holds_slot = chance.random() < 0.5, chance.random() < 0.5
                for side in self.sides:
                    side.send(
                        side.members[where], service_ms, decode_ms,
                        observable=observable, holds_slot=holds_slot,
                    )  # fmt: skip

    @rule(seconds=PASSES_S, looks=st.sampled_from([1, 8]))
    def wait(self, seconds: float, looks: int) -> None:
        """Time passes, and somebody asks now and then."""
        for _ in range(looks):
            for side in self.sides:
                side.desk.now_s += seconds / looks
                for member in side.members:
                    member.last_seen_mono_s = side.desk.now_s
            self.both_choose_alike()

    @rule(
        model=st.sampled_from(["m", "n"]),
        service_ms=SERVICES_MS,
        decode_ms=DECODES_MS,
        observable=st.booleans(),
        holds_slot=st.booleans(),
        times=st.sampled_from([1, 1, 3, 30]),
    )
    def place(
        self,
        model: str,
        service_ms: float,
        decode_ms: float,
        observable: bool,
        holds_slot: bool,
        times: int,
    ) -> None:
        """Requests go where they should: several at one moment, so that there are ties."""
        for _ in range(times):
            short, plain = (side.choose(model, []) for side in self.sides)
            assert short == plain
            if len(short) == 2:
                return
            for side in self.sides:
                member = side.desk.member(str(short[0]))
                side.send(
                    member, service_ms, decode_ms, observable=observable, holds_slot=holds_slot
                )

    @rule(where=ANY, service_ms=SERVICES_MS, observable=st.booleans())
    def send_anywhere(self, where: int, service_ms: float, observable: bool) -> None:
        for side in self.sides:
            member = side.members[where % len(side.members)]
            side.send(member, service_ms, 700.0, observable=observable, holds_slot=True)

    @precondition(lambda self: self.sides[0].sent)
    @rule(which=ANY)
    def answer(self, which: int) -> None:
        for side in self.sides:
            side.first_token(which % len(side.sent))

    @precondition(lambda self: self.sides[0].sent)
    @rule(which=ANY)
    def end(self, which: int) -> None:
        for side in self.sides:
            side.end(which % len(side.sent))

    @rule(seed=SEEDS)
    def go_on_for_a_while(self, seed: int) -> None:
        """A stretch in which costs pass each other, with somebody asking at every step."""
        chance = Random(seed)
        for _ in range(40):
            what, which = chance.random(), chance.randrange(10_000)
            if what < 0.6:
                self.wait(chance.choice([0.01, 0.1, chance.uniform(0, 0.5)]), 1)
            elif what < 0.8 or not self.sides[0].sent:
                self.send_anywhere(which, chance.uniform(0, 1500), chance.random() < 0.5)
            elif what < 0.9:
                self.answer(which)
            else:
                self.end(which)
            self.both_choose_alike()

    @rule(which=ANY)
    def change_the_pool(self, which: int) -> None:
        for side in self.sides:
            member = side.members[which % len(side.members)]
            side.desk.resting ^= {member.instance.instance_id}
            side.desk.changed()

    @rule(which=ANY, cap=st.sampled_from([None, 1, 2, 5]))
    def change_a_cap(self, which: int, cap: int | None) -> None:
        for side in self.sides:
            member = side.members[which % len(side.members)]
            side.desk.join(replace(member.instance, max_concurrent=cap))
            side.desk.strategy.on_change(member)

    @rule(model=st.sampled_from(["m", "n"]), which=st.lists(ANY, min_size=1, max_size=4))
    def try_elsewhere(self, model: str, which: list[int]) -> None:
        short, plain = (
            side.choose(model, [w % len(side.members) for w in which]) for side in self.sides
        )
        assert short == plain

    @rule(model=st.sampled_from(["m", "n"]), times=st.integers(1, 6))
    def fail_on_those_that_are_chosen(self, model: str, times: int) -> None:
        tried: list[int] = []
        for _ in range(times):
            short, plain = (side.choose(model, tried) for side in self.sides)
            assert short == plain
            if len(short) == 2:
                return
            tried.append(next(
                index for index, member in enumerate(self.sides[0].members)
                if member.instance.instance_id == short[0]
            ))  # fmt: skip

    @invariant()
    def both_choose_alike(self) -> None:
        if hasattr(self, "sides"):
            for model in "mn":
                short, plain = (side.choose(model, []) for side in self.sides)
                assert short == plain


TwoFleets.TestCase.settings = settings(max_examples=80, stateful_step_count=20, deadline=None)
TestTwoFleets = TwoFleets.TestCase
