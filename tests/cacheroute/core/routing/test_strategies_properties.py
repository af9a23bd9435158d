"""After any order of events the index of least_load equals what is worked out afresh."""

from typing import Never

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
)

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.reservation import Reservation
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.pool_member import Lease, Member
from cacheroute.core.routing.load import load_cost, signals_of
from cacheroute.core.routing.selection import Chosen
from cacheroute.core.routing.strategies import LeastLoad
from cacheroute.core.routing.weights import Weights
from cacheroute.planes import debug
from cacheroute.wire.debug import InstanceLoadsReply
from tests.cacheroute.core.pool_builders import an_instance, at
from tests.cacheroute.core.routing.exhaustive import has_room
from tests.cacheroute.core.routing.routing_builders import a_least_load_desk, a_request

WEIGHTS = Weights(inflight=1.0, qps_1m=0.5)
IDS = st.sampled_from(["a", "b", "c", "d"])
MODELS = st.sampled_from([None, "m", "n"])


class ADeskInUse(RuleBasedStateMachine):
    """Leases, releases, reports and changes of the pool, in any order."""

    leases: Bundle[Lease] = Bundle("leases")
    sent: Bundle[tuple[Member, Ticket, Reservation]] = Bundle("sent")

    def __init__(self) -> None:
        super().__init__()
        self.desk = a_least_load_desk(inflight=1.0, qps_1m=0.5)

    def told(self, instance_id: str) -> None:
        member = self.desk.pool.members.get(instance_id)
        if member is not None:
            self.desk.strategy.on_change(member)

    def cost(self, member: Member) -> float:
        known = signals_of(member, self.desk.now_s)
        cost = load_cost(known, WEIGHTS.as_mapping(), member.instance.weight)
        assert cost is not None
        return cost.total

    def check(self, selection: object, excluded: list[Member]) -> None:
        if not isinstance(selection, Chosen):
            return
        if selection.member in excluded:
            raise AssertionError("it has failed on this request")
        assert selection.cost == pytest.approx(self.cost(selection.member))
        if selection.runner_up is not None:
            assert selection.runner_up is not selection.member
            assert selection.cost is not None
            assert selection.runner_up_cost is not None
            assert selection.runner_up_cost == pytest.approx(self.cost(selection.runner_up))
            assert selection.runner_up_cost >= selection.cost

    @rule(
        instance_id=IDS,
        weight=st.sampled_from([0.0, 0.5, 1.0, 4.0]),
        cap=st.sampled_from([None, None, 1, 3]),
        model=MODELS,
    )
    def register(self, instance_id: str, weight: float, cap: int | None, model: str | None) -> None:
        self.desk.join(
            an_instance(
                instance_id,
                port=ord(instance_id),
                weight=weight,
                max_concurrent=cap,
                meta={"model": model} if model else {},
            )
        )
        self.told(instance_id)

    @rule(instance_id=IDS)
    def unregister(self, instance_id: str) -> None:
        self.desk.pool.unregister(instance_id)

    @rule(instance_id=IDS, qps_1m=st.sampled_from([0.0, 1.0, 7.5]))
    def report(self, instance_id: str, qps_1m: float) -> None:
        self.desk.pool.heartbeat(instance_id, at(self.desk.now_s), qps_1m=qps_1m)
        self.told(instance_id)

    @rule(instance_id=IDS)
    def get_queues(self, instance_id: str) -> None:
        member = self.desk.pool.members.get(instance_id)
        if member is not None and member.queues is None:
            member.queues = Board(QueueRules(prepare_concurrency=1), slots=2)
            self.told(instance_id)

    @rule(
        target=sent,
        instance_id=IDS,
        service_ms=st.sampled_from([0.0, 40.0, 1500.0]),
        observable=st.booleans(),
    )
    def send(
        self, instance_id: str, service_ms: float, observable: bool
    ) -> tuple[Member, Ticket, Reservation] | MultipleResults[Never]:
        member = self.desk.pool.members.get(instance_id)
        if member is None or not isinstance(member.queues, Board):
            return multiple()
        ticket = Ticket()
        member.queues.enqueue(ticket)
        reservation = member.queues.timeline.reserve(
            self.desk.now_s, service_ms, 700.0, observable=observable
        )
        self.desk.strategy.on_change(member)
        return member, ticket, reservation

    @rule(one=sent)
    def answer(self, one: tuple[Member, Ticket, Reservation]) -> None:
        member, ticket, reservation = one
        assert isinstance(member.queues, Board)
        member.queues.prepared(ticket)
        if reservation.observable:
            member.queues.timeline.first_token(reservation, self.desk.now_s)
        self.desk.strategy.on_change(member)

    @rule(one=consumes(sent))
    def end(self, one: tuple[Member, Ticket, Reservation]) -> None:
        member, ticket, reservation = one
        assert isinstance(member.queues, Board)
        member.queues.gone(ticket)
        member.queues.timeline.end(reservation, self.desk.now_s)
        self.desk.strategy.on_change(member)

    @rule(instance_id=IDS)
    def rest_or_return(self, instance_id: str) -> None:
        self.desk.resting ^= {instance_id}
        self.desk.changed()

    @rule(seconds=st.sampled_from([0.03, 0.5, 1.0, 20.0, 40.0]))
    def wait(self, seconds: float) -> None:
        self.desk.now_s += seconds
        self.desk.pool.expire(at(self.desk.now_s))

    @rule(target=leases, model=MODELS)
    def lease(self, model: str | None) -> Lease:
        selection = self.desk.select(a_request(model))
        self.check(selection, [])
        member = (
            selection.member
            if isinstance(selection, Chosen)
            else Member(an_instance("elsewhere", port=1))
        )
        lease = self.desk.pool.lease(member)
        self.desk.strategy.on_change(member)
        return lease

    @rule(model=MODELS, ids=st.sets(IDS, max_size=3))
    def ask_again_elsewhere(self, model: str | None, ids: set[str]) -> None:
        members = self.desk.pool.members
        excluded = [members[i] for i in sorted(ids) if i in members]
        self.check(self.desk.select(a_request(model), excluded), excluded)

    @rule(lease=consumes(leases))
    def release(self, lease: Lease) -> None:
        self.desk.give_back(lease)

    @invariant()
    def the_least_of_all_is_chosen(self) -> None:
        for model in ("m", "n"):
            selection = self.desk.select(a_request(model))
            self.check(selection, [])
            if not isinstance(selection, Chosen):
                continue
            kept = [
                member
                for member in self.desk.pool.alive(at(self.desk.now_s))
                if member.instance.weight > 0 and (member.models is None or model in member.models)
            ]
            awake = [m for m in kept if m.instance.instance_id not in self.desk.resting]
            candidates = awake if selection.member in awake else kept
            candidates = [m for m in candidates if has_room(m)] or candidates
            assert selection.considered == len(candidates)
            assert selection.cost == pytest.approx(min(map(self.cost, candidates)))

    @invariant()
    def the_page_shows_what_was_weighed(self) -> None:
        selection = self.desk.select(a_request("m"))
        if not isinstance(selection, Chosen):
            return
        page = debug.instance_loads(
            self.desk.pool.snapshot(at(self.desk.now_s)),
            include_dead=True,
            ttl_s=30,
            weights=WEIGHTS.as_mapping(),
        )
        scores = {
            row.instance_id: row.least_load_score.total
            for row in InstanceLoadsReply.model_validate(page).instances
        }
        assert selection.cost == pytest.approx(scores[selection.member.instance.instance_id])

    @invariant()
    def nothing_piles_up(self) -> None:
        for member in self.desk.pool.members.values():
            assert len(member.places) <= 8
        strategy = self.desk.strategy
        assert isinstance(strategy, LeastLoad)
        assert sum(map(len, strategy._changed)) <= 8

    def teardown(self) -> None:
        """Once everybody has left, the next selection forgets them."""
        for instance_id in list(self.desk.pool.members):
            self.desk.pool.unregister(instance_id)
        self.desk.join(an_instance("last", port=1))
        self.desk.select()
        assert isinstance(self.desk.strategy, LeastLoad)
        assert not any(self.desk.strategy._changed)


ADeskInUse.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestADeskInUse = ADeskInUse.TestCase
