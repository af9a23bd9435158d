"""Whatever happens at an Instance, its timeline runs forwards and forgets nobody and nothing."""

import itertools

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from cacheroute.core.dispatch.reservation import Reservation
from cacheroute.core.dispatch.timeline import Timeline


class AnInstanceAtWork(RuleBasedStateMachine):
    """Requests come, get first tokens in and out of turn, and end at any stage."""

    running: Bundle[Reservation] = Bundle("running")

    def __init__(self) -> None:
        super().__init__()
        self.timeline = Timeline(3)
        self.now_s = 100.0
        self.step_ms = 0.0
        self.open: set[Reservation] = set()

    @initialize(slots=st.sampled_from([1, 3]), step_ms=st.sampled_from([0.0, 400.0]))
    def set_up(self, slots: int, step_ms: float) -> None:
        self.timeline.slots.count = slots
        self.step_ms = step_ms

    @rule(
        target=running,
        service_ms=st.floats(0, 3000),
        decode_ms=st.floats(0, 5000),
        observable=st.booleans(),
        holds_slot=st.booleans(),
        path=st.sampled_from(["text", "kv"]),
    )
    def reserve(
        self, service_ms: float, decode_ms: float, observable: bool, holds_slot: bool, path: str
    ) -> Reservation:
        predicted_ms = self.timeline.prefill_free_in_ms(self.now_s)
        one = self.timeline.reserve(
            self.now_s,
            service_ms,
            decode_ms,
            observable=observable,
            holds_slot=holds_slot,
            path=path,
            step_ms=self.step_ms,
        )
        if not self.step_ms:
            assert one.prefill_start_s == pytest.approx(self.now_s + predicted_ms / 1000)
        assert self.now_s <= one.prefill_start_s <= one.first_token_s <= one.forward_end_s
        assert one.slot_ready_s >= self.now_s
        self.open.add(one)
        return one

    @rule(one=running)
    def first_token(self, one: Reservation) -> None:
        if not one.observable:
            return
        period = self.timeline.first_token(one, self.now_s)
        if period is not None:
            assert period.actual_ms > 0
            assert sum(period.predicted_ms.values()) > 0
            assert period.members >= 1

    @rule(one=running)
    def end(self, one: Reservation) -> None:
        self.timeline.end(one, self.now_s)
        self.open.discard(one)

    @rule(one=consumes(running))
    def end_and_forget(self, one: Reservation) -> None:
        self.end(one)

    @rule(seconds=st.floats(0, 4))
    def wait(self, seconds: float) -> None:
        """Time passes, and the figures go on as they were said to."""
        timeline = self.timeline
        course = timeline.course(self.now_s)
        wait_ms = timeline.wait_ms(self.now_s)
        counts = (timeline.pending_count, timeline.decode_count)
        self.now_s += seconds
        later_ms = timeline.wait_ms(self.now_s)
        if course is None:
            assert later_ms == wait_ms
        elif course.trend == "rising":
            assert later_ms == pytest.approx(wait_ms + seconds * 1000, abs=1e-6)
        else:
            assert later_ms >= wait_ms - seconds * 1000 - 1e-6
        assert course is None or course.until_s > self.now_s - seconds
        if course is None or self.now_s < course.until_s:
            assert counts == (timeline.pending_count, timeline.decode_count)

    @invariant()
    def the_figures_are_whole(self) -> None:
        timeline, now_s = self.timeline, self.now_s
        wait_ms = timeline.wait_ms(now_s)
        parts_ms = (timeline.next_slot_ready_in_ms(now_s), timeline.prefill_free_in_ms(now_s))
        assert min(parts_ms) >= 0
        assert wait_ms == max(parts_ms)
        assert timeline.pending_count + timeline.decode_count == len(self.open)
        assert timeline.pending_count == sum(one.stage == "pending" for one in self.open)
        assert timeline.slots.taken == sum(one.holds_slot for one in self.open)

    @invariant()
    def the_order_of_times_is_the_order_of_reservation(self) -> None:
        pending = sorted((o for o in self.open if o.stage == "pending"), key=lambda one: one.seq)
        for one, other in itertools.pairwise(pending):
            assert one.prefill_start_s <= one.first_token_s <= other.prefill_start_s

    def teardown(self) -> None:
        for one in self.open:
            self.timeline.end(one, self.now_s)
        assert self.timeline.wait_ms(self.now_s) == 0.0
        assert (self.timeline.pending_count, self.timeline.decode_count) == (0, 0)
        assert self.timeline.slots.taken == 0
        assert not self.timeline.is_ticking
        assert (self.timeline._unseen, len(self.timeline._prefills)) == (0, 0)


AnInstanceAtWork.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None
)
TestAnInstanceAtWork = AnInstanceAtWork.TestCase
