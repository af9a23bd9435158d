"""The figures of the pool over time: the newest stay, and each is over the same moments."""

from math import isnan

from cacheroute.console.pool_history import PoolHistory


def kept(count: int, *, of: int) -> PoolHistory:
    history = PoolHistory(kept=of)
    for at in range(count):
        history.add(float(at), {"alive": float(at)})
    return history


def test_only_the_newest_are_there() -> None:
    found = kept(100, of=16).points("alive", since_s=None, last=None)

    assert list(found.values) == [float(at) for at in range(84, 100)]
    assert list(found.times_s) == list(found.values)


def test_what_is_held_beyond_that_has_a_bound() -> None:
    assert all(len(kept(count, of=16)._times_s) <= 18 for count in range(60))


def test_a_stretch_begins_with_a_moment_or_so_many_looks_ago() -> None:
    history = kept(10, of=16)

    assert list(history.points("alive", since_s=7.0, last=None).values) == [7.0, 8.0, 9.0]
    assert list(history.points("alive", since_s=None, last=2).values) == [8.0, 9.0]
    assert list(history.points("alive", since_s=9.5, last=None).values) == []
    assert list(history.points("alive", since_s=0.0, last=3).values) == [7.0, 8.0, 9.0]


def test_a_figure_that_came_late_or_was_not_told_has_gaps() -> None:
    history = kept(2, of=16)
    history.add(2.0, {"alive": 2.0, "stale": 1.0})
    history.add(3.0, {})

    values = history.points("stale", since_s=None, last=None).values

    assert [isnan(value) for value in values] == [True, True, False, True]
    assert all(isnan(value) for value in history.points("else", since_s=None, last=2).values)


def test_a_look_again_takes_the_place_of_the_one_before() -> None:
    history = kept(3, of=16)
    history.add(2.0, {"stale": 5.0}, is_again=True)

    assert list(history.points("stale", since_s=None, last=1).values) == [5.0]
    assert isnan(history.points("alive", since_s=None, last=1).values[0])
    assert len(history.points("alive", since_s=None, last=None).values) == 3


def test_cleared_it_has_nothing() -> None:
    history = kept(3, of=16)
    history.clear()

    assert not history.points("alive", since_s=None, last=None).values
