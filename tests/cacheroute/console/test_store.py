"""What a screen is handed: the last good look, the connection, and the history."""

from dataclasses import FrozenInstanceError, replace

import pytest
from msgspec.structs import replace as changed

from cacheroute.console.look import Look
from cacheroute.console.store import SAME_FOR_S, Beside, Snapshot, Store
from cacheroute.core.clock import Instant
from tests.tui.fleet import WALL_S, drawn_fleet
from tests.tui.screens.requests import request


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


def test_where_nobody_looked_for_some_looks_is_a_gap_in_the_history() -> None:
    kept = store()
    for second in (1.0, 2.0, 4.4, 60.0, 61.0):
        kept.apply(look(), at(second), took_s=0.0, beside=Beside())

    assert kept.history.times_s == (1.0, 2.0, 4.4, 5.4, 60.0, 61.0)
    trend = kept.history.trend("inst-9001", "inflight", last=6)
    assert [value != value for value in trend] == [False, False, False, True, False, False]


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


def test_a_proxy_that_is_reached_again_is_not_lost_and_was_not_looked_at() -> None:
    kept = store()
    kept.apply(look(), at(1.0), took_s=0.1, beside=Beside())
    for second in range(2, 6):
        kept.failed("refused", at(float(second)), retry_at_s=0.0)
    snapshot = kept.reached()

    assert snapshot.connection.phase(6.0) == "lagging"
    assert snapshot.connection.age_s(6.0) == 5.0
    assert snapshot.connection.trouble is None
    assert snapshot.connection.lost_at_s is None
    assert snapshot.connection.retry_at_s is None


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


def fine() -> Look:
    """Return the pool with nobody's GPU past a threshold."""
    before = drawn_fleet()
    columns = changed(before.instances, gpu_util_avg=10.0)
    return Look(
        snapshot=changed(before, instances=columns, generated_at=WALL_S + 60), url="http://p"
    )


def states(snapshot: Snapshot, kind: str) -> list[str]:
    assert snapshot.look is not None
    return [one.state for one in snapshot.look.noted if one.alert.kind == kind]


def test_who_is_in_trouble_is_whom_an_alert_is_about_that_has_not_ended() -> None:
    kept = store()
    first = kept.apply(look(), at(1.0), took_s=0.1, beside=Beside()).look
    assert first is not None
    gpus = {alert.instance_id for alert in first.alerts if alert.kind == "gpu"}
    assert gpus <= first.troubled
    for alert in first.alerts:
        kept.silence(alert.key)
    silenced = kept.snapshot.look
    assert silenced is not None
    assert (silenced.alerts, silenced.troubled) == ((), first.troubled)

    second = kept.apply(fine(), at(61.0), took_s=0.1, beside=Beside()).look
    assert second is not None
    still = {alert.instance_id for alert in second.look.alerts()}
    assert second.troubled == still - {None}


def test_an_alert_that_has_ended_stays_as_past_and_does_not_count() -> None:
    kept = store()
    first = kept.apply(look(), at(1.0), took_s=0.1, beside=Beside())
    second = kept.apply(fine(), at(61.0), took_s=0.1, beside=Beside())

    assert set(states(first, "gpu")) == {"active"}
    assert set(states(second, "gpu")) == {"past"}
    assert second.look is not None
    assert "gpu" not in {alert.kind for alert in second.look.alerts}


def test_a_silenced_alert_does_not_count_and_the_snapshot_before_is_as_it_was() -> None:
    kept = store()
    first = kept.apply(look(), at(1.0), took_s=0.1, beside=Beside())
    assert first.look is not None
    [*_, last] = first.look.alerts

    assert kept.silence(last.key)
    second = kept.snapshot
    assert second.rev > first.rev
    assert second.look is not None
    assert last.key not in {alert.key for alert in second.look.alerts}
    assert len(second.look.alerts) == len(first.look.alerts) - 1
    assert second.look.overview.alerts == second.look.alerts
    assert last.key in {alert.key for alert in first.look.alerts}

    third = kept.apply(look(), at(2.0), took_s=0.1, beside=Beside())
    assert states(third, last.kind).count("silenced") == 1
    assert not kept.silence(last.key)
    assert kept.unsilence(last.key)
    assert kept.snapshot.look is not None
    assert len(kept.snapshot.look.alerts) == len(first.look.alerts)


def test_requests_tell_who_is_slow_from_look_to_look() -> None:
    kept = store()
    heard = [
        replace(request(seq, f"r-{seq}"), instance_id=who, ttft_ms=took_ms)
        for seq, (who, took_ms) in enumerate(
            [("inst-9001", 400.0), ("inst-9002", 410.0), ("inst-9007", 820.0)] * 20, 1
        )
    ]
    kept.apply(look(), at(1.0), took_s=0.1, beside=Beside(traces=heard[:30]))
    second = kept.apply(look(), at(2.0), took_s=0.1, beside=Beside(traces=heard))
    third = kept.apply(look(), at(3.0), took_s=0.1, beside=Beside())

    for snapshot in (second, third):
        assert snapshot.look is not None
        assert snapshot.look.first_tokens["inst-9007"].requests == 20
        [slow] = [alert for alert in snapshot.look.alerts if alert.kind == "slow"]
        assert slow.message == "inst-9007 TTFT p95 820 ms = 2.0× median"


def test_a_proxy_that_has_started_anew_forgets_who_was_slow() -> None:
    kept = store()
    heard = [replace(request(seq, f"r-{seq}"), seq=seq) for seq in range(1, 30)]
    kept.apply(look(), at(1.0), took_s=0.1, beside=Beside(traces=heard))
    anew = Look(snapshot=changed(drawn_fleet(), run="two"), url="http://p")
    snapshot = kept.apply(anew, at(2.0), took_s=0.1, beside=Beside())

    assert snapshot.look is not None
    assert snapshot.look.first_tokens == {}


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


def test_a_look_that_only_time_has_moved_counts_as_the_one_before_for_some_seconds() -> None:
    kept = store()
    first = look()
    seen = [
        kept.apply(first.later(passed_s), at(passed_s), took_s=0.0, beside=Beside()).look
        for passed_s in (0.0, 1.0, SAME_FOR_S, SAME_FOR_S + 1.0)
    ]
    told = [one.told for one in seen if one is not None]
    noted = [one.noted for one in seen if one is not None]

    assert told[0] is told[1]
    assert noted[0] is noted[1]
    assert [one.judged_ago_s for one in seen if one is not None] == [0.0, 1.0, 0.0, 1.0]
    assert told[1] is not told[2]
    assert told[2] is told[3]
    ages = [one.rows[0].age_s for one in seen if one is not None]
    assert [age_s - (ages[0] or 0.0) for age_s in ages if age_s is not None] == [
        0.0, 1.0, SAME_FOR_S, SAME_FOR_S + 1.0
    ]  # fmt: skip


def test_a_look_that_tells_something_counts_anew() -> None:
    kept = store()
    told = []
    for second, one in enumerate((look(), look())):
        seen = kept.apply(one, at(second), took_s=0.0, beside=Beside()).look
        told.append(None if seen is None else seen.told)

    assert told[0] is not told[1]


def test_while_somebody_rests_each_look_counts_for_its_rest_ends_by_time_alone() -> None:
    kept = store()
    it = drawn_fleet()
    resting = changed(it, instances=changed(it.instances, ejected_for_s=1.5))
    first = Look(snapshot=resting, url="http://p")
    kinds = []
    for passed_s in (0.0, 1.0, 2.0):
        seen = kept.apply(first.later(passed_s), at(passed_s), took_s=0.0, beside=Beside()).look
        assert seen is not None
        kinds.append({one.alert.kind for one in seen.noted if one.state == "active"})

    assert ["ejected" in found for found in kinds] == [True, True, False]
