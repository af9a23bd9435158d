"""What is kept of the last looks, and that a gap stays a gap."""

from dataclasses import replace
from math import isnan, nan

import pytest

from cacheroute.console.history import SERIES, History
from cacheroute.console.look import Look
from cacheroute.console.rows.instances import FleetRow
from tests.tui.fleet import big_fleet, drawn_fleet


def rows() -> list[FleetRow]:
    return list(Look(snapshot=drawn_fleet(), url="u").instances)


def test_a_trend_is_the_newest_values_oldest_first() -> None:
    history = History()
    row = rows()[0]
    for at in range(4):
        history.add(float(at), [replace(row, inflight=at)])

    assert history.trend(row.id, "inflight", last=3) == [1.0, 2.0, 3.0]
    assert list(history.of(row.id, "inflight").values) == [0.0, 1.0, 2.0, 3.0]
    assert list(history.of(row.id, "inflight", since_s=2.0).times_s) == [2.0, 3.0]


def test_unknown_is_a_gap_and_never_0() -> None:
    history = History()
    row = replace(rows()[0], gpu_util=None, inflight=0)
    history.add(1.0, [row])

    assert isnan(history.trend(row.id, "gpu", last=1)[0])
    assert history.trend(row.id, "inflight", last=1) == [0.0]
    assert history.pool("gpu_mean").last is None


def test_a_look_that_failed_is_a_gap_for_all() -> None:
    history = History()
    row = rows()[0]
    history.add(1.0, [row])
    history.gap(2.0)
    history.add(3.0, [row])

    values = history.trend(row.id, "inflight", last=3)

    assert [isnan(value) for value in values] == [False, True, False]
    assert isnan(history.pool("inflight_sum").values[1])


def test_an_instance_that_was_not_there_has_gaps() -> None:
    history = History()
    first, second = rows()[:2]
    history.add(1.0, [first])
    history.add(2.0, [first, second])

    assert isnan(history.trend(second.id, "inflight", last=2)[0])
    assert all(isnan(value) for value in history.trend("nobody", "inflight", last=2))
    assert len(history.trend("nobody", "inflight", last=2)) == 2


def test_the_pool_is_summed_up_over_those_that_are_alive() -> None:
    history = History()
    history.add(1.0, rows(), {"requests_s": 4.0, "ttft_p95_ms": None})

    assert history.pool("alive").last == 5
    assert history.pool("drain").last == 1
    assert history.pool("inflight_max").last == 9
    assert history.pool("inflight_min").last == 2
    assert history.pool("requests_s").last == 4.0
    assert history.pool("ttft_p95_ms").last is None


def test_the_oldest_go_first_and_places_of_the_gone_are_used_again() -> None:
    history = History(kept=5, kept_pool=8)
    row = rows()[0]
    for at in range(40):
        history.add(float(at), [replace(row, id=f"i-{at}", inflight=at)])

    assert len(history.times_s) == 5
    assert len(history.pool("alive").values) == 8
    assert history.trend("i-39", "inflight", last=1) == [39.0]
    assert len(history._slots) + len(history._free) <= 15
    # Nobody gets the past of whoever had the place before.
    assert all(isnan(value) for value in history.trend("i-39", "inflight", last=5)[:-1])


def test_cleared_it_begins_anew() -> None:
    history = History()
    history.add(1.0, rows())
    history.clear()

    assert not history.times_s
    assert history.pool("alive").last is None
    history.add(2.0, rows())
    assert history.pool("alive", last=1).last == 5
    assert nan not in history.trend(rows()[0].id, "inflight", last=1)


def test_one_of_which_nothing_is_known_anywhere_takes_no_room_and_has_gaps() -> None:
    history = History()
    history.add(1.0, [replace(row, gpu_util=None) for row in rows()])

    assert isnan(history.trend(rows()[0].id, "gpu", last=1)[0])
    assert b"" in history._looks[-1][1]


def test_what_did_not_change_is_kept_once() -> None:
    history = History()
    history.add(1.0, rows())
    history.add(2.0, rows())
    history.add(3.0, [replace(row, cpu_util=1.0) for row in rows()])

    first, second, third = (columns for _, columns in history._looks)
    assert all(one is other for one, other in zip(first, second, strict=True))
    assert [one is other for one, other in zip(first, third, strict=True)].count(False) == 1


def test_a_series_that_is_not_kept_is_no_series() -> None:
    with pytest.raises(KeyError):
        History().trend("i-1", "nothing", last=1)


def test_a_fleet_of_a_thousand_takes_two_bytes_a_number() -> None:
    history, fleet = History(), Look(snapshot=big_fleet(1_000), url="u").instances
    for at in range(4):
        history.add(float(at), [replace(row, inflight=at + 1) for row in fleet])

    kept = {id(column): len(column) for _, columns in history._looks for column in columns}
    assert sum(kept.values()) == 2 * 1_000 * (len(SERIES) - 1 + 4)


def test_two_looks_at_the_same_moment_are_one_point() -> None:
    history = History()
    history.add(5.0, ())
    history.add(5.0, rows())
    history.add(6.0, ())

    assert history.times_s == (5.0, 6.0)
    assert list(history.pool("alive").values) == [5.0, 0.0]


def test_a_look_at_the_moment_of_a_failure_does_not_take_the_gap_away() -> None:
    history = History()
    history.gap(5.0)
    history.add(5.0, rows())

    assert history.times_s == (5.0, 5.0)
    assert len(history.pool("alive").values) == 2


def test_rows_that_are_the_same_are_kept_as_those_of_the_look_before() -> None:
    history = History()
    row = rows()[0]
    history.add(1.0, [replace(row, inflight=4)])
    history.add(2.0, [replace(row, inflight=4, age_s=9.0)], is_same=True)
    history.gap(3.0)
    history.add(4.0, [replace(row, inflight=4)], is_same=True)

    assert history.trend(row.id, "inflight", last=4)[:2] == [4.0, 4.0]
    assert history.trend(row.id, "inflight", last=1) == [4.0]
    assert history.pool("inflight_sum").last == 4.0
    assert history.times_s == (1.0, 2.0, 3.0, 4.0)
