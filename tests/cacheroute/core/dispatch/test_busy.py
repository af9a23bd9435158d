"""What a stretch of prefills teaches."""

import pytest

from cacheroute.core.dispatch.busy import MOST_MEMBERS, BusyPeriod, BusyTally


def a_tally() -> BusyTally:
    tally = BusyTally()
    tally.begin(10.0)
    return tally


def test_a_stretch_compares_what_was_predicted_with_what_it_took() -> None:
    tally = a_tally()
    tally.add(200.0, 100.0, "text")
    tally.add(300.0, 150.0, "text")
    assert tally.close(10.75) == BusyPeriod(
        predicted_ms={"text": 500.0}, model_ms={"text": 250.0}, actual_ms=750.0, members=2
    )


def test_kinds_are_told_apart_and_were_all_as_slow_as_the_stretch() -> None:
    tally = a_tally()
    tally.add(200.0, 100.0, "text")
    tally.add(300.0, 300.0, "kv")
    period = tally.close(11.0)
    assert period is not None
    assert period.predicted_ms == {"text": 200.0, "kv": 300.0}
    assert period.model_ms == {"text": 100.0, "kv": 300.0}
    assert period.slowness == pytest.approx(2.0)


def test_a_stretch_with_something_unseen_in_it_teaches_nothing() -> None:
    tally = a_tally()
    tally.add(200.0, 200.0, "text")
    tally.spoil()
    assert tally.close(11.0) is None


def test_nothing_is_learned_where_nothing_ended_or_no_time_passed() -> None:
    assert a_tally().close(11.0) is None
    tally = a_tally()
    tally.add(200.0, 200.0, "text")
    assert tally.close(10.0) is None
    free = a_tally()
    free.add(0.0, 0.0, "text")
    assert free.close(11.0) is None


def test_a_stretch_gets_long() -> None:
    tally = a_tally()
    for _ in range(MOST_MEMBERS):
        assert not tally.is_long
        tally.add(1.0, 1.0, "text")
    assert tally.is_long
    tally.spoil()
    tally.begin(0.0)
    assert (tally.members, tally.is_long) == (0, False)
    tally.add(1.0, 1.0, "text")
    assert tally.close(1.0) is not None
