"""What is predicted to happen at an Instance."""

import math

import pytest

from cacheroute.core.dispatch.busy import MOST_MEMBERS
from cacheroute.core.dispatch.timeline import Timeline
from cacheroute.core.pressure import Course


def figures(timeline: Timeline, now_s: float) -> tuple[int, int, float, float, float]:
    """Pending, decoding, next slot, prefill free and backlog, the last three in whole ms."""
    backlog_ms = timeline.wait_ms(now_s)
    return (
        timeline.pending_count,
        timeline.decode_count,
        round(timeline.next_slot_ready_in_ms(now_s)),
        round(timeline.prefill_free_in_ms(now_s)),
        round(backlog_ms),
    )


def test_an_idle_instance_begins_at_once() -> None:
    timeline = Timeline(8)
    assert figures(timeline, 5.0) == (0, 0, 0, 0, 0)
    one = timeline.reserve(5.0, 200.0, 3000.0)
    assert (one.seq, one.slot_ready_s, one.prefill_start_s) == (1, 5.0, 5.0)
    assert (one.first_token_s, one.forward_end_s) == pytest.approx((5.2, 8.2))
    assert (one.stage, one.generation, one.service_ms) == ("pending", 0, 200.0)


def test_prefills_are_served_in_order_and_add_up_to_the_backlog() -> None:
    timeline = Timeline(8)
    first, second = (timeline.reserve(0.0, 500.0, 1000.0) for _ in range(2))
    assert (second.prefill_start_s, second.first_token_s) == (first.first_token_s, 1.0)
    assert figures(timeline, 0.25) == (2, 0, 0, 750, 750)


def test_a_first_token_moves_a_request_to_decode_and_the_others_up() -> None:
    timeline = Timeline(8)
    first, second, third = (timeline.reserve(0.0, 500.0, 1000.0) for _ in range(3))
    timeline.first_token(first, 0.2)
    assert (first.stage, first.first_token_s, first.forward_end_s) == ("decode", 0.2, 1.2)
    assert (second.prefill_start_s, third.prefill_start_s) == (0.2, 0.7)
    assert [one.generation for one in (first, second, third)] == [0, 1, 1]
    assert figures(timeline, 0.2) == (2, 1, 0, 1000, 1000)


def test_decodes_keep_their_ends_when_the_pending_are_predicted_anew() -> None:
    timeline = Timeline(8)
    first, second, _ = (timeline.reserve(0.0, 500.0, 1000.0) for _ in range(3))
    timeline.first_token(first, 0.2)
    timeline.first_token(second, 0.9)
    assert (first.forward_end_s, second.forward_end_s) == (1.2, 1.9)


def test_one_that_goes_before_its_first_token_moves_those_behind_up() -> None:
    timeline = Timeline(8)
    first, second, third = (timeline.reserve(0.0, 500.0, 0.0) for _ in range(3))
    timeline.end(second, 0.1)
    assert (first.prefill_start_s, third.prefill_start_s) == (0.0, 0.5)
    timeline.end(first, 0.3)
    assert third.prefill_start_s == 0.3


def test_an_end_counts_once_and_nothing_follows_it() -> None:
    timeline = Timeline(8)
    one = timeline.reserve(0.0, 500.0, 0.0)
    timeline.first_token(one, 0.5)
    timeline.end(one, 1.0)
    timeline.end(one, 1.1)
    assert timeline.first_token(one, 1.2) is None
    assert one.stage == "ended"
    assert timeline.slots.taken == 0
    assert figures(timeline, 1.2) == (0, 0, 0, 0, 0)


def test_a_second_first_token_is_none() -> None:
    timeline = Timeline(8)
    one = timeline.reserve(0.0, 500.0, 0.0)
    assert timeline.first_token(one, 0.4) is not None
    assert timeline.first_token(one, 0.9) is None
    assert one.first_token_s == 0.4


def test_a_head_that_is_stuck_shows_a_backlog_that_grows() -> None:
    """By the clock alone it would show none as soon as its time is over."""
    timeline = Timeline(8)
    timeline.reserve(0.0, 500.0, 0.0)
    timeline.reserve(0.0, 300.0, 0.0)
    assert figures(timeline, 0.5) == (2, 0, 0, 300, 300)
    assert figures(timeline, 10.5) == (2, 0, 0, 10_300, 10_300)
    assert timeline.reserve(10.5, 100.0, 0.0).prefill_start_s == pytest.approx(20.8)


def test_a_stuck_head_blocks_nobody_who_really_gets_a_first_token() -> None:
    timeline = Timeline(8)
    stuck, quick = (timeline.reserve(0.0, 500.0, 1000.0) for _ in range(2))
    timeline.first_token(quick, 5.0)
    assert (stuck.stage, quick.stage) == ("pending", "decode")
    timeline.end(stuck, 6.0)
    assert figures(timeline, 6.0) == (0, 1, 0, 0, 0)


def test_an_answer_in_one_piece_is_pending_until_its_first_token_is_due_then_decodes() -> None:
    timeline = Timeline(8)
    whole = [timeline.reserve(0.0, 500.0, 5000.0, observable=False) for _ in range(3)]
    assert figures(timeline, 0.4) == (3, 0, 0, 1100, 1100)
    assert figures(timeline, 0.5) == (2, 1, 0, 1000, 1000)
    assert figures(timeline, 1.2) == (1, 2, 0, 300, 300)
    assert figures(timeline, 9.0) == (0, 3, 0, 0, 0)
    assert [one.generation for one in whole] == [0, 0, 0]


def test_an_answer_in_one_piece_behind_a_stuck_head_waits_with_the_others() -> None:
    timeline = Timeline(8)
    stuck = timeline.reserve(0.0, 500.0, 0.0)
    timeline.reserve(0.0, 500.0, 0.0, observable=False)
    assert figures(timeline, 3.0) == (2, 0, 0, 3000, 3000)
    timeline.first_token(stuck, 3.0)
    assert figures(timeline, 3.4) == (1, 1, 0, 100, 100)
    assert figures(timeline, 3.5) == (0, 2, 0, 0, 0)


def test_an_answer_in_one_piece_may_be_complete_before_its_first_token_was_due() -> None:
    timeline = Timeline(8)
    one = timeline.reserve(0.0, 500.0, 0.0, observable=False)
    timeline.end(one, 0.2)
    assert figures(timeline, 0.2) == (0, 0, 0, 0, 0)


def test_a_slot_is_taken_until_the_answer_ends_and_not_only_until_the_first_token() -> None:
    timeline = Timeline(2)
    first, second = (timeline.reserve(0.0, 100.0, 5000.0) for _ in range(2))
    timeline.first_token(first, 0.1)
    timeline.first_token(second, 0.2)
    assert figures(timeline, 1.0) == (0, 2, 4100, 0, 4100)
    timeline.end(second, 1.5)
    assert figures(timeline, 1.5) == (0, 1, 0, 0, 0)


def test_one_more_than_there_are_slots_is_told_when_one_will_be_free() -> None:
    timeline = Timeline(1)
    timeline.reserve(0.0, 100.0, 900.0)
    assert timeline.reserve(0.0, 100.0, 0.0).slot_ready_s == pytest.approx(1.0)


def test_who_holds_no_slot_takes_none() -> None:
    timeline = Timeline(1)
    one = timeline.reserve(0.0, 100.0, 900.0, holds_slot=False)
    assert figures(timeline, 0.0) == (1, 0, 0, 100, 100)
    timeline.end(one, 0.0)
    assert timeline.slots.taken == 0


def test_time_alone_changes_the_figures_while_prompts_are_read_or_no_slot_is_free() -> None:
    timeline = Timeline(2)
    assert not timeline.is_ticking
    first, second = (timeline.reserve(0.0, 100.0, 900.0) for _ in range(2))
    timeline.first_token(first, 0.1)
    timeline.first_token(second, 0.2)
    assert timeline.is_ticking
    timeline.end(second, 0.3)
    assert not timeline.is_ticking


def test_a_backlog_that_nothing_is_known_against_wears_off() -> None:
    timeline = Timeline(8)
    assert timeline.course(0.0) is None
    timeline.reserve(0.0, 100.0, 900.0)
    assert timeline.course(0.05) == Course(0.05, "falling", math.inf)


def test_a_backlog_grows_while_the_first_token_of_the_first_is_overdue() -> None:
    timeline = Timeline(8)
    one = timeline.reserve(0.0, 100.0, 900.0)
    assert timeline.course(0.3) == Course(0.3, "rising", math.inf)
    timeline.first_token(one, 0.4)
    assert timeline.course(0.4) is None


def test_where_a_slot_is_waited_for_longer_an_overdue_first_token_adds_nothing() -> None:
    timeline = Timeline(1)
    timeline.reserve(0.0, 100.0, 900.0)
    assert timeline.course(0.3) == Course(0.3, "falling", math.inf)
    assert (timeline.wait_ms(0.3), timeline.wait_ms(0.4)) == pytest.approx((700, 600))
    assert timeline.course(0.7) == Course(0.7, "rising", math.inf)


def test_one_that_cannot_be_seen_changes_the_counts_when_it_is_due() -> None:
    timeline = Timeline(8)
    timeline.reserve(0.0, 100.0, 900.0, observable=False)
    timeline.reserve(0.0, 200.0, 900.0, observable=False)
    assert timeline.course(0.0) == Course(0.0, "falling", 0.1)
    course = timeline.course(0.1)
    assert course is not None
    assert course.until_s == pytest.approx(0.3)
    assert timeline.course(0.31) is None


# What it learns


def test_a_request_alone_is_a_stretch_of_its_own() -> None:
    timeline = Timeline(8)
    period = timeline.first_token(timeline.reserve(1.0, 500.0, 0.0, model_ms=400.0), 1.75)
    assert period is not None
    assert (period.predicted_ms, period.model_ms) == ({"text": 500.0}, {"text": 400.0})
    assert (period.actual_ms, period.members) == (750.0, 1)


def test_a_stretch_is_over_when_nobody_is_pending() -> None:
    timeline = Timeline(8)
    first, second = (timeline.reserve(0.0, 500.0, 0.0, path="kv") for _ in range(2))
    assert timeline.first_token(first, 0.7) is None
    period = timeline.first_token(second, 1.5)
    assert period is not None
    assert (period.predicted_ms, period.actual_ms) == ({"kv": 1000.0}, 1500.0)


def test_a_stretch_that_somebody_left_teaches_nothing_and_the_next_one_does_again() -> None:
    timeline = Timeline(8)
    first, second, third = (timeline.reserve(0.0, 500.0, 0.0) for _ in range(3))
    timeline.end(first, 0.3)
    assert timeline.first_token(second, 1.0) is None
    assert timeline.first_token(third, 1.6) is None
    period = timeline.first_token(timeline.reserve(2.0, 500.0, 0.0), 2.6)
    assert period is not None
    assert period.members == 1
    assert period.actual_ms == pytest.approx(600.0)


def test_a_stretch_that_ends_in_a_cancel_teaches_nothing() -> None:
    timeline = Timeline(8)
    first, second = (timeline.reserve(0.0, 500.0, 0.0) for _ in range(2))
    timeline.first_token(first, 0.5)
    timeline.end(second, 0.6)
    period = timeline.first_token(timeline.reserve(2.0, 500.0, 0.0), 2.5)
    assert period is not None
    assert (period.members, period.actual_ms) == (1, 500.0)


def test_a_first_token_that_cannot_be_seen_is_not_learned_from() -> None:
    timeline = Timeline(8)
    unseen = timeline.reserve(0.0, 500.0, 0.0, observable=False)
    seen = timeline.reserve(0.0, 500.0, 0.0)
    assert timeline.first_token(seen, 2.0) is None
    assert unseen.stage == "decode"


def test_prompts_that_an_engine_reads_together_are_one_stretch_of_both_kinds() -> None:
    """Cut between them, the second would seem to have taken no time at all."""
    timeline = Timeline(8)
    text, kv = timeline.reserve(0.0, 500.0, 0.0), timeline.reserve(0.0, 100.0, 0.0, path="kv")
    assert timeline.first_token(text, 0.6) is None
    period = timeline.first_token(kv, 0.6)
    assert period is not None
    assert period.predicted_ms == {"text": 500.0, "kv": 100.0}
    assert period.slowness == pytest.approx(1.0)


def test_a_stretch_that_never_ends_is_reported_in_pieces() -> None:
    timeline = Timeline(64)
    waiting = [timeline.reserve(0.0, 100.0, 0.0) for _ in range(2 * MOST_MEMBERS + 1)]
    periods = [timeline.first_token(one, 0.2 * n) for n, one in enumerate(waiting, 1)]
    told = [(n, p.members) for n, p in enumerate(periods, 1) if p is not None]
    assert told == [(16, 16), (32, 16), (33, 1)]
    for period in filter(None, periods):
        assert period.actual_ms == pytest.approx(2 * period.predicted_ms["text"])


def test_first_tokens_out_of_turn_are_learned_from_when_all_are_there() -> None:
    timeline = Timeline(8)
    first, second = (timeline.reserve(0.0, 500.0, 0.0) for _ in range(2))
    assert timeline.first_token(second, 0.9) is None
    period = timeline.first_token(first, 1.0)
    assert period is not None
    assert (period.members, period.actual_ms) == (2, 1000.0)
