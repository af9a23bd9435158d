"""The pool at one instant."""

import pytest

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.rules import QueueRules
from tests.cacheroute.core.pool_builders import a_pool, an_instance, at, joined


def test_a_snapshot_does_not_move_with_the_pool() -> None:
    pool = a_pool(an_instance())
    taken = pool.snapshot(at(1.0))
    pool.lease(pool.members["i-1"])
    pool.unregister("i-1")
    (view,) = taken.views
    assert view.inflight == 0
    with pytest.raises(AttributeError):
        view.inflight = 3  # type: ignore[misc]


def test_only_the_alive_are_alive() -> None:
    pool = a_pool(an_instance("old", port=9001))
    joined(pool, an_instance("new", port=9002), at(25.0))
    taken = pool.snapshot(at(31.0))
    assert [view.instance.instance_id for view in taken.alive] == ["new"]
    assert [view.liveness for view in taken.views] == ["stale", "alive"]


def test_the_last_sign_of_life_is_never_in_the_future_of_a_clock_set_back() -> None:
    pool = a_pool(an_instance())
    taken = pool.snapshot(at(10.0, wall_s=500.0))
    assert taken.seen_wall_s(taken.views[0]) == 490.0


def test_an_ejection_shows_what_is_left_of_it() -> None:
    pool = a_pool(an_instance())
    pool.members["i-1"].ejected_until_mono_s = 12.0
    assert pool.snapshot(at(10.0)).views[0].ejected_for_s == 2.0
    assert pool.snapshot(at(13.0)).views[0].ejected_for_s == 0.0


def test_the_silence_of_one_that_is_waited_for_is_shown() -> None:
    pool = a_pool(an_instance())
    member = pool.members["i-1"]
    member.unanswered_since_mono_s = 4.0
    assert pool.snapshot(at(10.0)).views[0].unanswered_s is None
    member.awaiting = 1
    assert pool.snapshot(at(8.9)).views[0].unanswered_s is None
    assert pool.snapshot(at(10.0)).views[0].unanswered_s == 6.0


def test_the_queues_are_shown_as_they_are_at_that_instant() -> None:
    pool = a_pool(an_instance("a", port=1), an_instance("b", port=2))
    board = pool.members["a"].queues = Board(QueueRules())
    board.timeline.reserve(1.0, 2000.0, 0.0)
    busy, plain = pool.snapshot(at(1.5)).views
    assert plain.pressure is None
    assert busy.pressure == board.pressure(1.5)
    assert busy.pressure.prefill_free_in_ms == 1500.0
