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
