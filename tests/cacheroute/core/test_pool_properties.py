"""Any order of registrations, requests, silence and departures leaves the pool in order."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from cacheroute.core.pool import Pool
from cacheroute.core.pool_member import Lease, Member
from cacheroute.core.rules import PoolRules
from tests.cacheroute.core.pool_builders import an_instance, at

IDS = st.sampled_from(["a", "b", "c", "d"])
PORTS = st.integers(1, 4)


class APoolInUse(RuleBasedStateMachine):
    """The pool beside a plain list of the leases that are held and of when each id spoke."""

    leases: Bundle[Lease] = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.pool = Pool(PoolRules(max_instances=3))
        self.now_s = 0.0
        self.wall_s = 0.0
        self.held: list[Lease] = []
        self.told_silent: set[Member] = set()

    def _now(self) -> object:
        return at(self.now_s, wall_s=self.wall_s)

    @rule(instance_id=IDS, port=PORTS)
    def register(self, instance_id: str, port: int) -> None:
        self.pool.register(an_instance(instance_id, port=port), at(self.now_s, wall_s=self.wall_s))
        self._heard(instance_id)

    @rule(instance_id=IDS)
    def heartbeat(self, instance_id: str) -> None:
        self.pool.heartbeat(instance_id, at(self.now_s, wall_s=self.wall_s))
        self._heard(instance_id)

    @rule(instance_id=IDS)
    def unregister(self, instance_id: str) -> None:
        self.pool.unregister(instance_id)

    @rule(pause_s=st.floats(0, 200), jump_s=st.floats(-1e6, 1e6))
    def wait(self, pause_s: float, jump_s: float) -> None:
        self.now_s += pause_s
        self.wall_s += pause_s + jump_s

    @rule()
    def expire(self) -> None:
        self.told_silent.update(self.pool.expire(at(self.now_s, wall_s=self.wall_s)))

    @rule()
    def reap(self) -> None:
        self.pool.reap(at(self.now_s, wall_s=self.wall_s))

    @rule(target=leases, instance_id=IDS)
    def lease(self, instance_id: str) -> Lease:
        member = self.pool.members.get(instance_id) or Member(an_instance("elsewhere"))
        lease = self.pool.lease(member)
        self.held.append(lease)
        return lease

    @rule(lease=consumes(leases), times=st.integers(1, 3))
    def release(self, lease: Lease, times: int) -> None:
        for _ in range(times):
            lease.release()
        self.held.remove(lease)

    def _heard(self, instance_id: str) -> None:
        member = self.pool.members.get(instance_id)
        if member is not None and member.last_seen_mono_s == self.now_s:
            self.told_silent.discard(member)

    @invariant()
    def what_is_held_is_what_is_counted(self) -> None:
        for member in self.pool.members.values():
            assert member.inflight == sum(lease.member is member for lease in self.held)

    @invariant()
    def one_entry_for_each_id_and_each_address(self) -> None:
        members = self.pool.members
        assert all(member.instance.instance_id == key for key, member in members.items())
        assert len({member.instance.address for member in members.values()}) == len(members)
        assert len(members) <= 3
        assert set(self.pool._by_address.values()) == set(members.values())

    @invariant()
    def nobody_falls_silent_untold(self) -> None:
        now = at(self.now_s, wall_s=self.wall_s)
        for member in self.pool.members.values():
            alive = self.pool.liveness(member, now) == "alive"
            if member in self.told_silent:
                assert not alive
            elif not alive:
                assert self.now_s > self.pool.next_expiry_mono_s

    @invariant()
    def ages_are_never_negative(self) -> None:
        taken = self.pool.snapshot(at(self.now_s, wall_s=self.wall_s))
        assert all(view.age_s >= 0 for view in taken.views)


APoolInUse.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAPoolInUse = APoolInUse.TestCase
