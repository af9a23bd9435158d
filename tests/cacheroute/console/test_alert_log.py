"""Alerts from look to look: one that wavers is one, one that ends stays, one may be silenced."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.alert_log import HOLD, MAX_PAST, PAST_FOR, RETURN, AlertLog, Noted
from cacheroute.console.alerts import Alert, AlertKind, Severity

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def an_alert(
    kind: AlertKind = "gpu",
    who: str = "i-1",
    severity: Severity = "warn",
    since: datetime | None = None,
) -> Alert:
    return Alert(
        kind=kind, severity=severity, instance_id=who, message=f"{who} {kind}", value=1.0,
        threshold=1.0, unit="", since=since,
    )  # fmt: skip


def told(noted: tuple[Noted, ...]) -> list[tuple[str, str]]:
    return [(one.alert.kind, one.state) for one in noted]


def test_an_alert_began_when_it_was_first_seen_or_when_that_is_known() -> None:
    log = AlertLog()
    known = NOW - timedelta(minutes=1)
    log.note([an_alert(), an_alert("stale", since=known)], NOW)
    noted = log.note([an_alert(), an_alert("stale", since=known)], NOW + SECOND)

    assert [one.alert.since for one in noted] == [NOW, known]
    assert {one.last_at for one in noted} == {NOW + SECOND}


def test_a_measure_that_wavers_is_one_alert_with_one_beginning() -> None:
    log = AlertLog()
    for second in range(60):
        noted = log.note([an_alert()] if second % 3 == 0 else [], NOW + second * SECOND)

        assert told(noted) == [("gpu", "active")]
        assert noted[0].alert.since == NOW


def test_one_that_has_ended_stays_as_past_with_its_last_time_and_is_then_forgotten() -> None:
    log = AlertLog()
    log.note([an_alert()], NOW)

    [past] = log.note([], NOW + HOLD)
    assert (past.state, past.last_at) == ("past", NOW)
    assert told(log.note([], NOW + PAST_FOR)) == [("gpu", "past")]
    assert log.note([], NOW + PAST_FOR + SECOND) == ()


def test_a_state_has_ended_at_once() -> None:
    log = AlertLog()
    log.note([an_alert("stale")], NOW)

    assert told(log.note([], NOW + SECOND)) == [("stale", "past")]


def test_one_that_comes_back_soon_goes_on_and_one_that_comes_back_late_is_new() -> None:
    log = AlertLog()
    log.note([an_alert("ejected")], NOW)
    log.note([], NOW + SECOND)
    [soon] = log.note([an_alert("ejected")], NOW + RETURN)
    log.note([], NOW + RETURN + SECOND)
    late = NOW + 3 * RETURN
    [again] = log.note([an_alert("ejected")], late)

    assert (soon.state, soon.alert.since) == ("active", NOW)
    assert (again.state, again.alert.since) == ("active", late)


def test_one_that_has_become_worse_has_not_ended() -> None:
    log = AlertLog()
    log.note([an_alert("stale")], NOW)

    assert told(log.note([an_alert("dead", severity="bad")], NOW + SECOND)) == [("dead", "active")]


def test_the_worst_active_ones_come_first_then_silenced_then_past_ones() -> None:
    log = AlertLog()
    found = [an_alert("dead", severity="bad"), an_alert("skew"), an_alert("mem")]
    log.note([*found, an_alert("ejected")], NOW)
    log.silence(("mem", "i-1"))

    assert told(log.note(found, NOW + SECOND)) == [
        ("dead", "active"), ("skew", "active"), ("mem", "silenced"), ("ejected", "past"),
    ]  # fmt: skip


def test_a_silenced_one_stays_so_until_somebody_says_so_or_it_ends() -> None:
    log = AlertLog()
    key = an_alert().key
    log.note([an_alert()], NOW)

    assert log.silence(key)
    assert told(log.note([an_alert()], NOW + SECOND)) == [("gpu", "silenced")]
    assert not log.silence(key)
    assert log.unsilence(key)
    assert told(log.noted) == [("gpu", "active")]

    log.silence(key)
    ended = NOW + SECOND + HOLD
    assert told(log.note([], ended)) == [("gpu", "past")]
    assert not log.unsilence(key)
    assert told(log.note([an_alert()], ended + SECOND)) == [("gpu", "active")]


def test_what_nobody_knows_cannot_be_silenced() -> None:
    assert not AlertLog().silence(("gpu", "i-1"))
    assert not AlertLog().unsilence(("gpu", "i-1"))


def test_of_those_that_have_ended_the_newest_stay() -> None:
    log = AlertLog()
    for number in range(MAX_PAST + 20):
        log.note([an_alert("ejected", f"i-{number}")], NOW + number * SECOND)
    noted = log.note([], NOW + (MAX_PAST + 20) * SECOND)

    assert len(noted) == MAX_PAST
    assert noted[0].alert.instance_id == f"i-{MAX_PAST + 19}"


def test_a_recording_that_is_wound_back_begins_anew_and_a_clock_that_is_set_does_not() -> None:
    log = AlertLog()
    log.note([an_alert()], NOW)
    assert told(log.note([], NOW - SECOND)) == [("gpu", "active")]
    assert log.note([], NOW - timedelta(minutes=1)) == ()


def test_what_was_handed_out_cannot_be_changed() -> None:
    [one] = AlertLog().note([an_alert()], NOW)

    with pytest.raises(FrozenInstanceError):
        one.state = "past"  # type: ignore[misc]


@given(st.lists(st.tuples(st.integers(0, 20), st.sets(st.integers(0, 4))), max_size=40))
def test_whatever_comes_and_goes_what_is_found_is_listed_once_and_never_as_past(
    looks: list[tuple[int, set[int]]],
) -> None:
    log, at = AlertLog(), NOW
    for passed_s, numbers in looks:
        at += passed_s * SECOND
        noted = log.note([an_alert("skew", f"i-{number}") for number in numbers], at)
        keys = [one.alert.key for one in noted]

        assert len(keys) == len(set(keys))
        for one in noted:
            is_found = one.alert.instance_id in {f"i-{number}" for number in numbers}
            assert one.state == "active" or not is_found
            assert one.alert.since is not None
            assert one.alert.since <= one.last_at <= at
