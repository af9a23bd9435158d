"""After any order of events the index of least_load equals what is worked out afresh."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from cacheroute.core.pool_member import Lease, Member
from cacheroute.core.routing.load import load_cost, signals
from cacheroute.core.routing.selection import Chosen
from cacheroute.core.routing.weights import Weights
from tests.cacheroute.core.pool_builders import an_instance, at
from tests.cacheroute.core.routing.routing_builders import a_least_load_desk, a_request

WEIGHTS = Weights(inflight=1.0, qps_1m=0.5)
IDS = st.sampled_from(["a", "b", "c", "d"])
MODELS = st.sampled_from([None, "m", "n"])


class ADeskInUse(RuleBasedStateMachine):
    """Leases, releases, reports and changes of the pool, in any order."""

    leases: Bundle[Lease] = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.desk = a_least_load_desk(inflight=1.0, qps_1m=0.5)

    def told(self, instance_id: str) -> None:
        member = self.desk.pool.members.get(instance_id)
        if member is not None:
            self.desk.strategy.on_change(member)

    def cost(self, member: Member) -> float:
        cost = load_cost(signals(member), WEIGHTS.as_mapping(), member.instance.weight)
        assert cost is not None
        return cost.total

    def check(self, selection: object, excluded: list[Member]) -> None:
        if not isinstance(selection, Chosen):
            return
        if selection.member in excluded:
            raise AssertionError("it has failed on this request")
        assert selection.cost == self.cost(selection.member)
        if selection.runner_up is not None:
            assert selection.runner_up is not selection.member
            assert selection.runner_up_cost == self.cost(selection.runner_up)
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
    def rest_or_return(self, instance_id: str) -> None:
        self.desk.resting ^= {instance_id}
        self.desk.changed()

    @rule(seconds=st.sampled_from([1.0, 20.0, 40.0]))
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
                if member.instance.weight > 0
                and (member.models is None or model in member.models)
                and (
                    member.instance.max_concurrent is None
                    or member.inflight < member.instance.max_concurrent
                )
            ]
            awake = [m for m in kept if m.instance.instance_id not in self.desk.resting]
            candidates = awake if selection.member in awake else kept
            assert selection.considered == len(candidates)
            assert selection.cost == min(map(self.cost, candidates))

    @invariant()
    def nothing_piles_up(self) -> None:
        for member in self.desk.pool.members.values():
            assert len(member.places) <= 8


ADeskInUse.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestADeskInUse = ADeskInUse.TestCase
