"""What a screen is handed: the last good look, the connection, and the history."""

from dataclasses import FrozenInstanceError

import pytest
from msgspec.structs import replace as changed

from cacheroute.console.look import Look
from cacheroute.console.store import Beside, Store
from cacheroute.core.clock import Instant
from tests.tui.fleet import WALL_S, drawn_fleet


def at(mono_s: float) -> Instant:
    return Instant(mono_s=mono_s, wall_s=WALL_S + mono_s)


def look() -> Look:
    return Look(snapshot=drawn_fleet(), url="http://p")


def store() -> Store:
    return Store("http://p", interval_s=1.0)


def test_before_the_first_look_there_is_nothing_and_it_connects() -> None:
    snapshot = store().snapshot

    assert snapshot.look is None
    assert snapshot.connection.phase(0.0) == "connecting"
    assert snapshot.connection.age_s(5.0) is None


def test_a_good_look_is_live_until_it_is_late() -> None:
    snapshot = store().apply(look(), at(10.0), took_s=0.004, beside=Beside())

    assert snapshot.connection.phase(10.5) == "live"
    assert snapshot.connection.age_s(10.5) == 0.5
    assert snapshot.connection.rtt_ms == 4.0
    assert snapshot.connection.phase(12.5) == "lagging"


def test_three_failures_are_lost_and_what_was_seen_stays() -> None:
    kept = store()
    kept.apply(look(), at(10.0), took_s=0.004, beside=Beside())
    for second in (11.0, 12.0):
        assert kept.failed("refused", at(second), retry_at_s=second + 1).connection.phase(
            second
        ) != ("lost")
    snapshot = kept.failed("refused", at(13.0), retry_at_s=15.0)

    assert snapshot.connection.phase(13.0) == "lost"
    assert snapshot.connection.lost_at_s == 11.0
    assert snapshot.connection.retry_in_s(13.5) == 1.5
    assert snapshot.look is not None
    assert len(snapshot.look.rows) == 8


def test_a_look_after_a_loss_forgets_the_trouble() -> None:
    kept = store()
    for second in range(4):
        kept.failed("refused", at(float(second)), retry_at_s=0.0)
    snapshot = kept.apply(look(), at(9.0), took_s=0.1, beside=Beside())

    assert snapshot.connection.phase(9.0) == "live"
    assert snapshot.connection.trouble is None
    assert snapshot.connection.lost_at_s is None


def test_a_slow_proxy_lags_while_looks_are_spread() -> None:
    kept = store()
    kept.apply(look(), at(1.0), took_s=0.1, beside=Beside())
    snapshot = kept.paced(interval_s=1.0, pace_s=4.0)

    assert snapshot.connection.phase(1.0) == "lagging"


def test_every_snapshot_is_newer_and_none_can_be_changed() -> None:
    kept = store()
    first = kept.apply(look(), at(1.0), took_s=0.1, beside=Beside())
    second = kept.failed("refused", at(2.0), retry_at_s=3.0)

    assert second.rev > first.rev
    assert kept.snapshot is second
    with pytest.raises(FrozenInstanceError):
        first.rev = 7  # type: ignore[misc]


def test_an_alert_keeps_its_beginning_from_look_to_look() -> None:
    kept = store()
    first = kept.apply(look(), at(1.0), took_s=0.1, beside=Beside())
    later = Look(snapshot=changed(drawn_fleet(), generated_at=WALL_S + 5), url="http://p")
    second = kept.apply(later, at(6.0), took_s=0.1, beside=Beside())

    assert first.look is not None
    assert second.look is not None
    began = {alert.key: alert.since for alert in first.look.alerts}
    gpu = [alert for alert in second.look.alerts if alert.kind == "gpu"]
    assert gpu
    assert all(alert.since == began[alert.key] for alert in gpu)
    assert second.look.overview.alerts == tuple(second.look.alerts)


def test_what_could_not_be_told_says_why() -> None:
    beside = Beside(missing={"traces": "this Proxy has no page for it"})
    snapshot = store().apply(look(), at(1.0), took_s=0.1, beside=beside)

    assert snapshot.missing == {"traces": "this Proxy has no page for it"}
    assert store().snapshot.missing == {}


def test_the_history_has_a_gap_where_a_look_failed() -> None:
    kept = store()
    kept.apply(look(), at(1.0), took_s=0.1, beside=Beside())
    kept.failed("refused", at(2.0), retry_at_s=3.0)

    assert len(kept.history.times_s) == 2
    assert kept.history.pool("alive").last is None
