"""Moments are whole milliseconds, and the unknown has no key."""

import math

from cacheroute.runtime.trace import Trace


def test_a_moment_is_counted_from_the_arrival_whatever_the_wall_clock_does() -> None:
    trace = Trace(100.0, 1_700_000_000.5)
    trace.mark("forward_start_ms", 100.25)
    assert trace.values == {
        "proxy_recv_ms": 1_700_000_000_500,
        "forward_start_ms": 1_700_000_000_750,
    }


def test_what_lies_between_two_moments_is_known_when_both_are() -> None:
    trace = Trace(0.0, 100.0)
    trace.mark("a_ms", 0.0009)
    trace.mark("b_ms", 0.0011)
    trace.put("word", "x")
    assert trace.between("a_ms", "b_ms") == 1
    assert trace.between("proxy_recv_ms", "b_ms") == 1
    assert trace.between("a_ms", "c_ms") is None
    assert trace.between("word", "b_ms") is None


def test_numbers_become_whole_and_the_unknown_is_left_out() -> None:
    trace = Trace(0.0, 0.0)
    trace.put_all({"a": 12.9, "b": None, "c": math.nan, "d": math.inf, "e": "word", "f": 0})
    assert trace.values == {"proxy_recv_ms": 0, "a": 12, "e": "word", "f": 0}
