"""Whatever happens in whatever order: who may be chosen is what the operator has said."""

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from hypothesis.strategies import booleans, lists, sampled_from

from cacheroute.core.changes import Effect, Objection
from cacheroute.core.routing.selection import NoInstance
from tests.cacheroute.core.pool_builders import an_instance, joined
from tests.cacheroute.core.routing.routing_builders import a_request
from tests.cacheroute.runtime.operating_parts import ME, Desk, a_desk

IDS = ("i-1", "i-2", "i-3")
SOME = lists(sampled_from(IDS), min_size=1, max_size=3, unique=True)
WEIGHTS = sampled_from((0.0, 0.5, 1.0, 4.0))


class Words(RuleBasedStateMachine):
    """A model that only remembers what was said, beside the Proxy that does it."""

    def __init__(self) -> None:
        super().__init__()
        self.desk: Desk = a_desk()
        self.here: dict[str, float] = {}
        """Who is registered, and the weight that it gave itself."""
        self.drained: set[str] = set()
        self.weights: dict[str, float] = {}

    @initialize(strategy=sampled_from(("round_robin", "least_load")))
    def begin(self, strategy: str) -> None:
        self.desk = a_desk(strategy=strategy)

    @rule(instance_id=sampled_from(IDS), weight=WEIGHTS, moved=booleans())
    def registers(self, instance_id: str, weight: float, moved: bool) -> None:
        port = 9000 + 10 * moved + IDS.index(instance_id)
        instance = an_instance(instance_id, port=port, weight=weight)
        joined(self.desk.proxy.pool, instance, self.desk.clock.now())
        self.here[instance_id] = weight

    @rule(instance_id=sampled_from(IDS))
    def leaves(self, instance_id: str) -> None:
        self.desk.proxy.pool.unregister(instance_id)
        self.here.pop(instance_id, None)

    @rule(ids=SOME, force=booleans())
    def drains(self, ids: list[str], force: bool) -> None:
        if self._allowed(ids, self.desk.drain(*ids, force=force), force, set(ids)):
            self.drained |= set(ids)

    @rule(ids=SOME)
    def undrains(self, ids: list[str]) -> None:
        if self._allowed(ids, self.desk.undrain(*ids), True, set()):
            self.drained -= set(ids)

    @rule(ids=SOME, weight=WEIGHTS, force=booleans())
    def weighs(self, ids: list[str], weight: float, force: bool) -> None:
        lost = set() if weight else set(ids)
        if self._allowed(ids, self.desk.weigh(weight, *ids, force=force), force, lost):
            self.weights |= dict.fromkeys(ids, weight)

    @rule(ids=SOME)
    def resets(self, ids: list[str]) -> None:
        if self._allowed(ids, self.desk.weigh(None, *ids, force=True), True, set()):
            for each in ids:
                self.weights.pop(each, None)

    @rule(name=sampled_from(("rr", "ll")))
    def swaps(self, name: str) -> None:
        self.desk.operator.use_strategy(name, ME, dry_run=False)

    @rule(ids=SOME)
    def asks_only(self, ids: list[str]) -> None:
        self.desk.drain(*ids, force=True, dry_run=True)

    @rule()
    def restarts(self) -> None:
        store, here = self.desk.store, self.here
        self.desk = a_desk(store=store)
        self.desk.operator.restore()
        self.here = {}
        for instance_id, weight in here.items():
            self.registers(instance_id, weight, False)

    @property
    def said(self) -> set[str]:
        return {
            each
            for each, own in self.here.items()
            if each not in self.drained and self.weights.get(each, own) > 0
        }

    def _allowed(
        self, ids: list[str], outcome: Effect | Objection, force: bool, lost: set[str]
    ) -> bool:
        known = self.here.keys() | self.drained | self.weights.keys()
        if not set(ids) <= known:
            assert isinstance(outcome, Objection)
            assert outcome.code == "unknown_instance"
        elif not force and self.said and not self.said - lost:
            assert isinstance(outcome, Objection)
            assert outcome.code == "nobody_left"
        else:
            assert isinstance(outcome, Effect)
        return isinstance(outcome, Effect)

    @invariant()
    def those_who_may_be_chosen_are_those_who_were_said_to(self) -> None:
        assert self.desk.routable == self.said
        chosen = set()
        places = []
        for _ in range(60):
            place = self.desk.proxy.place(a_request())
            if isinstance(place, NoInstance):
                break
            places.append(place)
            chosen.add(place.member.instance.instance_id)
        for place in places:
            self.desk.proxy.release(place)
        assert chosen == self.said
        assert all(member.inflight == 0 for member in self.desk.proxy.pool.members.values())


TestWords = Words.TestCase
TestWords.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
