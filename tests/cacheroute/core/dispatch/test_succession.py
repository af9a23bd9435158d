"""One piece of work after another, and what is predicted for each."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.dispatch.succession import Span, Succession


def a_line(*durations_s: float) -> tuple[Succession[Span], list[Span]]:
    line: Succession[Span] = Succession()
    spans = [Span(duration_s) for duration_s in durations_s]
    for span in spans:
        line.add(span, 0.0)
    return line, spans


def times(spans: list[Span]) -> list[tuple[float, float]]:
    return [(span.start_s, span.end_s) for span in spans]


def test_each_begins_when_the_one_before_it_ends() -> None:
    line, spans = a_line(1.0, 2.0, 3.0)
    assert times(spans) == [(0.0, 1.0), (1.0, 3.0), (3.0, 6.0)]
    assert (line.head, len(line)) == (spans[0], 3)
    assert line.busy_for_s(0.5) == 5.5


def test_an_empty_line_is_not_busy() -> None:
    line, _ = a_line()
    assert (line.busy_for_s(9.0), line.head_left_s(9.0), line.head) == (0.0, 0.0, None)


def test_one_that_is_done_early_moves_the_others_up() -> None:
    line, spans = a_line(1.0, 2.0, 3.0)
    assert line.remove(spans[0], 0.25)
    assert times(spans[1:]) == [(0.25, 2.25), (2.25, 5.25)]
    assert [span.generation for span in spans] == [0, 1, 1]


def test_one_that_is_done_late_moves_the_others_back() -> None:
    line, spans = a_line(1.0, 2.0)
    line.remove(spans[0], 4.0)
    assert times(spans[1:]) == [(4.0, 6.0)]


def test_one_that_is_done_when_it_was_predicted_moves_nobody() -> None:
    line, spans = a_line(1.0, 2.0, 3.0)
    line.remove(spans[0], 1.0)
    assert [span.generation for span in spans] == [0, 0, 0]


def test_one_that_leaves_from_the_middle_lets_the_first_go_on() -> None:
    line, spans = a_line(1.0, 2.0, 3.0)
    line.remove(spans[1], 0.5)
    assert times([spans[0], spans[2]]) == [(0.0, 1.0), (1.0, 4.0)]
    assert [spans[0].generation, spans[2].generation] == [0, 1]


def test_one_that_is_not_there_cannot_leave() -> None:
    line, spans = a_line(1.0)
    assert line.remove(spans[0], 0.5)
    assert not line.remove(spans[0], 0.6)


def test_a_first_one_that_never_ends_is_expected_to_need_as_long_again_as_it_is_late() -> None:
    line, _ = a_line(1.0, 2.0)
    assert line.busy_for_s(1.0) == 2.0
    assert line.busy_for_s(1.5) == pytest.approx(0.5 + 2.0)
    assert line.busy_for_s(61.0) == pytest.approx(60.0 + 2.0)


def test_work_grows_once_the_first_is_later_than_a_shared_step_explains() -> None:
    line: Succession[Span] = Succession()
    assert not line.is_growing(5.0)
    for _ in range(2):
        line.add(Span(1.0), 0.0)
    assert [line.is_growing(now_s) for now_s in (0.5, 1.0, 1.1)] == [False, False, True]
    line.step_s = 0.5
    assert [line.is_growing(now_s) for now_s in (1.1, 1.5, 1.6)] == [False, False, True]
    assert [line.busy_for_s(now_s) for now_s in (1.0, 1.5, 2.0)] == pytest.approx([1, 0.5, 1])


def test_who_comes_while_the_first_is_late_waits_for_that_too() -> None:
    line, _ = a_line(1.0, 2.0)
    late = Span(5.0)
    line.add(late, 4.0)
    assert late.start_s == pytest.approx(4.0 + 3.0 + 2.0)
    assert line.busy_for_s(4.0) == pytest.approx(3.0 + 2.0 + 5.0)


def test_one_that_passes_unseen_moves_nobody() -> None:
    line, spans = a_line(1.0, 2.0, 3.0)
    assert line.pass_head() is spans[0]
    assert times(spans[1:]) == [(1.0, 3.0), (3.0, 6.0)]
    assert line.busy_for_s(2.0) == 4.0
    assert line.busy_for_s(4.0) == pytest.approx(1.0 + 3.0)
    line.pass_head()
    line.pass_head()
    assert line.busy_for_s(7.0) == 0.0


def test_a_piece_is_expected_when_those_before_it_are_done() -> None:
    line, (first, second) = a_line(1.0, 2.0)
    assert (line.ends_in_s(first, 0.5), line.ends_in_s(second, 0.5)) == (0.5, 2.5)
    # The first is late by 3 and expected to need as much again.
    assert (line.ends_in_s(first, 4.0), line.ends_in_s(second, 4.0)) == (3.0, 5.0)
    late = Span(5.0)
    line.add(late, 4.0)
    assert line.ends_in_s(late, 4.0) == line.busy_for_s(4.0) == 10.0
    line.remove(first, 4.0)
    assert line.ends_in_s(first, 4.0) == 0.0


# Work that is shared


def a_shared_line(*durations_s: float, step_s: float) -> tuple[Succession[Span], list[Span]]:
    line, spans = a_line(*durations_s)
    line.step_s = step_s
    return line, spans


def test_what_makes_the_first_late_has_been_done_of_those_behind_it() -> None:
    """A step of an engine: the first prompt, and as much of the second as fits."""
    line, spans = a_shared_line(1.0, 2.0, step_s=1.5)
    assert line.busy_for_s(1.0) == 2.0
    assert line.busy_for_s(2.0) == 1.0
    # The step is full at 2.5: 1 s of the first and 1.5 s of the second.
    assert line.remove(spans[0], 2.5)
    assert times(spans[1:]) == [(1.0, 3.0)]
    assert line.busy_for_s(2.5) == 0.5


def test_two_that_fit_in_one_step_are_done_when_both_were_going_to_be() -> None:
    line, spans = a_shared_line(1.0, 0.5, step_s=1.5)
    late = Span(1.0)
    line.add(late, 1.25)
    assert late.start_s == 1.5
    line.remove(spans[0], 1.5)
    line.remove(spans[1], 1.5)
    assert times([late]) == [(1.5, 2.5)]
    assert late.generation == 0


def test_more_than_a_step_is_not_shared() -> None:
    line, spans = a_shared_line(1.0, 2.0, 2.0, step_s=0.5)
    assert line.busy_for_s(1.5) == 3.5
    # Half a second of the second one, and the rest is lateness: as long again.
    assert line.busy_for_s(4.0) == pytest.approx(3.5 + 2.5)
    line.remove(spans[0], 4.0)
    assert times(spans[1:]) == [(3.5, 5.5), (5.5, 7.5)]


def test_who_comes_when_the_first_is_later_than_that_has_made_nobody_late() -> None:
    line, _ = a_shared_line(1.0, 2.0, step_s=0.5)
    late = Span(3.0)
    line.add(late, 2.0)  # half a second was shared, and half a second is not explained
    assert late.start_s == 2.0 + (2.0 - 0.5) + 0.5
    alone, _ = a_shared_line(1.0, step_s=5.0)
    for start_s in (2.5, 3.5):
        one = Span(1.0)
        alone.add(one, 1.75)
        assert one.start_s == start_s


def test_a_first_one_that_is_given_up_has_shared_nothing() -> None:
    line, spans = a_shared_line(1.0, 2.0, step_s=1.5)
    line.remove(spans[0], 2.0, is_done=False)
    assert times(spans[1:]) == [(2.0, 4.0)]


def test_one_that_is_done_out_of_turn_took_its_time_from_those_before_it() -> None:
    line, spans = a_shared_line(1.0, 2.0, 3.0, step_s=1.0)
    line.remove(spans[1], 2.0)
    assert times([spans[0], spans[2]]) == [(2.0, 3.0), (3.0, 6.0)]
    assert line.busy_for_s(2.0) == 4.0


@given(
    st.lists(st.floats(0.01, 3), min_size=1, max_size=12),
    st.floats(0.5, 4),
    st.floats(0, 2),
)
def test_an_engine_that_fills_its_steps_is_predicted_to_the_end(
    durations_s: list[float], step_s: float, later_s: float
) -> None:
    """Whoever gets a first token when: what is left to do is what has not been done."""
    line, waiting = a_shared_line(*durations_s, step_s=step_s)
    left = {span: span.duration_s for span in waiting}
    now_s = 0.0
    while left:
        room_s = step_s
        for span in list(left):
            part_s = min(room_s, left[span])
            left[span] -= part_s
            room_s -= part_s
            now_s += part_s
            if room_s <= 0:
                break
        for span in [span for span, left_s in left.items() if left_s <= 1e-9]:
            del left[span]
            line.remove(span, now_s)
        all_s = sum(durations_s)
        assert line.busy_for_s(now_s) == pytest.approx(all_s - now_s, abs=1e-6)
        # Between the ends of steps, too.
        at_s = now_s + later_s * min(step_s, all_s - now_s) / 2
        assert line.busy_for_s(at_s) == pytest.approx(all_s - at_s, abs=1e-6)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["add", "head", "any", "pass"]),
            st.floats(0, 5),
            st.floats(0, 3),
            st.integers(0, 30),
        ),
        max_size=60,
    )
)
def test_after_anything_the_order_of_times_is_the_order_of_the_line(
    events: list[tuple[str, float, float, int]],
) -> None:
    line: Succession[Span] = Succession()
    now_s = 0.0
    for kind, duration_s, passing_s, index in events:
        now_s += passing_s
        spans = list(line)
        if kind == "add":
            span = Span(duration_s)
            line.add(span, now_s)
            assert span.start_s >= now_s
        elif spans and kind == "pass":
            line.pass_head()
        elif spans:
            line.remove(spans[0 if kind == "head" else index % len(spans)], now_s)
            for span in list(line)[1:]:
                assert span.start_s >= now_s
        spans = list(line)
        for one, other in itertools.pairwise(spans):
            assert one.start_s <= one.end_s <= other.start_s
        behind_s = sum(span.duration_s for span in spans[1:])
        assert line.busy_for_s(now_s) >= 0.0
        if spans and spans[0].end_s < now_s:
            late_s = now_s - spans[0].end_s
            assert line.busy_for_s(now_s) == pytest.approx(late_s + behind_s, abs=1e-6)
    for span in list(line):
        line.remove(span, now_s)
    assert (len(line), line.busy_for_s(now_s)) == (0, 0.0)
