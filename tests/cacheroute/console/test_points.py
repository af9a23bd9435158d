"""A stretch of a series and its end."""

from array import array

from cacheroute.console.points import GAP, Points


def points(*values: float) -> Points:
    return Points(times_s=array("d", range(len(values))), values=array("f", values))


def test_the_last_is_the_newest_value() -> None:
    assert points(1.0, 2.0).last == 2.0


def test_a_gap_at_the_end_and_no_value_at_all_are_not_known() -> None:
    assert points(1.0, GAP).last is None
    assert points().last is None
