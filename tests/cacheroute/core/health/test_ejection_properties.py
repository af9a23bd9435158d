"""Whatever requests meet, nobody is out for ever and nobody is flooded while on trial."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cacheroute.core.health.ejection import Ejections
from cacheroute.core.health.rules import EjectionRules
from cacheroute.core.pool_member import Member
from tests.cacheroute.core.pool_builders import an_instance

RULES = EjectionRules(failures=2, cool_down_s=1.0, cool_down_max_s=5.0, retry_after_max_s=30.0)
MEMBERS = st.integers(0, 2)
OUTCOMES = st.sampled_from(["good", "bad", "neutral", "hint"])
HINTS_S = st.none() | st.floats(-10, 1e12)


class ThreeInstances(RuleBasedStateMachine):
    """Requests go to who does not rest, or to anybody when all rest; each ends somehow."""

    def __init__(self) -> None:
        super().__init__()
        self.ejections = Ejections(RULES)
        self.members = [Member(an_instance(str(n))) for n in range(3)]
        self.now_s = 0.0
        self.running: list[Member] = []

    def _pass_time(self) -> None:
        if self.now_s >= self.ejections.next_return_mono_s:
            self.ejections.due(self.now_s)

    @rule(wish=MEMBERS)
    def send(self, wish: int) -> None:
        self._pass_time()
        awake = [m for m in self.members if not Ejections.is_resting(m)]
        member = (awake or self.members)[wish % len(awake or self.members)]
        was_on_trial = member.rest is not None and member in awake
        changed = self.ejections.on_dispatch(member)
        assert changed == (was_on_trial and Ejections.is_resting(member))
        self.running.append(member)

    @precondition(lambda self: self.running)
    @rule(which=st.integers(0, 50), outcome=OUTCOMES, wait_s=HINTS_S)
    def end(self, which: int, outcome: str, wait_s: float | None) -> None:
        member = self.running.pop(which % len(self.running))
        before = Ejections.is_resting(member)
        match outcome:
            case "good":
                changed = self.ejections.on_success(member)
            case "bad":
                changed = self.ejections.on_failure(member, self.now_s)
            case "hint":
                changed = self.ejections.on_hint(member, wait_s, self.now_s)
            case _:
                changed = self.ejections.on_neutral(member)
        if Ejections.is_resting(member) != before:
            assert changed, "who is usable has changed, and nobody was told"

    @rule(which=MEMBERS)
    def fail_a_probe(self, which: int) -> None:
        self.ejections.on_failure(self.members[which], self.now_s)

    @rule(seconds=st.floats(0, 10))
    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self._pass_time()

    @invariant()
    def nobody_is_sent_off_for_longer_than_the_rules_allow(self) -> None:
        for member in self.members:
            assert member.ejected_until_mono_s <= self.now_s + 30.0

    @invariant()
    def nobody_is_out_for_ever(self) -> None:
        """Who is out has an end of its rest, or a request on it that will decide."""
        for member in self.members:
            if Ejections.is_resting(member) and member not in self.running:
                assert member.ejected_until_mono_s >= self.ejections.next_return_mono_s
                assert self.ejections.next_return_mono_s <= self.now_s + 30.0

    @invariant()
    def a_time_that_is_up_is_never_missed(self) -> None:
        if self.now_s < self.ejections.next_return_mono_s:
            assert not self.ejections.due(self.now_s)

    def teardown(self) -> None:
        for member in self.running:
            self.ejections.on_neutral(member)
        self.now_s += 31.0
        self.ejections.due(self.now_s)
        assert not any(Ejections.is_resting(member) for member in self.members)


ThreeInstances.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestThreeInstances = ThreeInstances.TestCase
