"""What is out of order, by how much, and since when."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.alerts import (
    ASKED_LATELY_S,
    FEWEST_REQUESTS,
    SLOWER_MS,
    Alert,
    alerts_of,
    remembered,
)
from cacheroute.console.first_tokens import FirstToken
from cacheroute.console.nodes import Node
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rules import RULES
from tests.cacheroute.console.builders import a_row

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def alerts(*rows: FleetRow) -> list[Alert]:
    return alerts_of(rows, rules=RULES, ttl_s=30, now=NOW)


def busy(instance_id: str, inflight: int, **changes: object) -> FleetRow:
    return a_row(instance_id, load={"inflight": inflight}, **changes)


def test_a_pool_in_order_has_none() -> None:
    assert alerts(busy("a", 3), busy("b", 4), busy("c", 5)) == []


def test_one_with_far_more_than_the_median_is_skewed() -> None:
    [alert] = alerts(busy("a", 3), busy("b", 4), busy("c", 9))

    assert (alert.kind, alert.instance_id, alert.value, alert.threshold) == ("skew", "c", 9, 7)
    assert alert.message == "c inflight 9, median 4"
    assert alert.since is None


def test_skew_needs_both_the_ratio_and_the_difference() -> None:
    assert alerts(busy("a", 0), busy("b", 0), busy("c", 2)) == []
    assert alerts(busy("a", 10), busy("b", 10), busy("c", 14)) == []
    assert [alert.kind for alert in alerts(busy("a", 0), busy("b", 0), busy("c", 3))] == ["skew"]


def test_one_that_drains_is_left_out_of_the_median() -> None:
    assert alerts(busy("a", 9, draining=True), busy("b", 0)) == []
    assert alerts(busy("a", 9)) == []


def test_one_that_answers_nothing_is_told_with_how_long_and_since_when() -> None:
    [alert] = alerts(busy("a", 3, unanswered_s=61.0), busy("b", 3, unanswered_s=60.0))

    assert (alert.kind, alert.severity, alert.value, alert.threshold) == ("hung", "warn", 61, 60)
    assert alert.message == "a has answered nothing for 1m1s, requests wait"
    assert alert.since == NOW - timedelta(seconds=61)
    assert alert.later(9.0).message == "a has answered nothing for 1m10s, requests wait"


def test_one_from_the_settings_that_answers_no_probe_is_told_though_it_never_expires() -> None:
    [alert] = alerts(
        a_row("a", origin="static", age_s=95.0),
        a_row("b", origin="static", age_s=90.0),
        a_row("c", origin="registered", age_s=95.0),
    )

    assert (alert.kind, alert.instance_id, alert.threshold) == ("probe", "a", 90)
    assert alert.message == "a has answered no probe for 1m35s"
    assert alert.later(10.0).message == "a has answered no probe for 1m45s"


def a_node(
    answers: bool | None, *, for_s: float | None = 41.0, asked_s: float | None = 3.0
) -> Node:
    return Node(
        name="kdn:1", answers=answers, state_age_s=for_s, asked_age_s=asked_s, error="It is gone."
    )


def alerts_about(node: Node) -> list[Alert]:
    return alerts_of([a_row("a")], rules=RULES, ttl_s=30, now=NOW, nodes=[node])


def test_a_knowledge_node_that_answers_nobody_is_told_with_how_long_and_since_when() -> None:
    [alert] = alerts_about(a_node(False))

    assert (alert.kind, alert.severity, alert.value, alert.threshold) == ("kdn", "warn", 41, 10)
    assert (alert.node, alert.instance_id, alert.key) == ("kdn:1", None, ("kdn", "kdn:1"))
    assert alert.message == "kdn:1 has not answered for 41s"
    assert alert.since == NOW - timedelta(seconds=41)
    assert alert.later(20.0).message == "kdn:1 has not answered for 1m1s"


def test_a_node_that_answers_or_failed_only_now_or_was_not_asked_lately_is_no_alert() -> None:
    assert alerts_about(a_node(True)) == []
    assert alerts_about(a_node(None, for_s=None, asked_s=None)) == []
    assert alerts_about(a_node(False, for_s=10.0)) == []
    assert alerts_about(a_node(False, for_s=9_000.0, asked_s=ASKED_LATELY_S + 1)) == []


def test_silence_is_told_with_its_age_and_since_when() -> None:
    rows = busy("ok", 0), a_row("a", is_alive=False, state="stale", age_s=41.0)

    [alert] = alerts(*rows)

    assert (alert.kind, alert.severity, alert.value, alert.threshold) == ("stale", "warn", 41, 30)
    assert alert.message == "a last seen 41s ago, ttl 30 s"
    assert alert.since == NOW - timedelta(seconds=11)


def test_an_age_beyond_any_calendar_is_told_without_since_when() -> None:
    [alert] = alerts(busy("ok", 0), a_row("a", is_alive=False, state="dead", age_s=1e300))[:1]

    assert (alert.kind, alert.value, alert.since) == ("dead", 1e300, None)


def slow(
    *rows: FleetRow, p95_ms: Mapping[str, float], requests: int = FEWEST_REQUESTS
) -> list[Alert]:
    told = {who: FirstToken(p95_ms=value, requests=requests) for who, value in p95_ms.items()}
    return alerts_of(rows, rules=RULES, ttl_s=30, now=NOW, first_tokens=told)


def test_one_whose_first_token_takes_far_longer_than_at_the_median_of_the_others_is_slow() -> None:
    [alert] = slow(a_row("a"), a_row("b"), a_row("c"), p95_ms={"a": 400, "b": 420, "c": 820})

    assert (alert.kind, alert.instance_id, alert.value, alert.unit) == ("slow", "c", 820, "ms")
    assert alert.message == "c TTFT p95 820 ms = 2.0× median"
    assert alert.threshold == 1.5 * 410


def test_of_two_the_slower_one_is_told_against_the_other() -> None:
    [alert] = slow(a_row("a"), a_row("b"), p95_ms={"a": 900, "b": 400})

    assert alert.instance_id == "a"


def test_a_slow_one_needs_the_ratio_and_a_difference_that_somebody_would_notice() -> None:
    assert slow(a_row("a"), a_row("b"), p95_ms={"a": 400, "b": 590}) == []
    assert slow(a_row("a"), a_row("b"), p95_ms={"a": 4, "b": 12}) == []


def test_few_requests_unknown_times_and_one_alone_are_no_reason_to_worry() -> None:
    rows = a_row("a"), a_row("b")

    assert slow(*rows, p95_ms={"a": 100, "b": 900}, requests=FEWEST_REQUESTS - 1) == []
    assert slow(*rows, p95_ms={"a": 900}) == []
    assert slow(*rows, p95_ms={}) == []


def test_one_with_another_model_or_one_that_is_gone_is_not_compared() -> None:
    large = a_row("large", models=["70b"])
    gone = a_row("gone", is_alive=False, state="stale", age_s=41.0)
    rows = large, gone, a_row("a", models=["8b"]), a_row("b", models=["8b"])

    found = slow(*rows, p95_ms={"large": 4_000, "gone": 9_000, "a": 400, "b": 410})

    assert [alert.kind for alert in found] == ["stale"]


@given(st.lists(st.floats(min_value=1, max_value=1e5), min_size=2, max_size=12))
def test_whoever_is_slow_is_over_the_ratio_of_the_median_of_the_others(p95_ms: list[float]) -> None:
    told = {f"i{at}": value for at, value in enumerate(p95_ms)}

    found = {alert.instance_id for alert in slow(*map(a_row, told), p95_ms=told)}

    for who, value in told.items():
        middle = median([other for name, other in told.items() if name != who])
        assert (who in found) == (value > 1.5 * middle and value - middle >= SLOWER_MS)


def test_the_worst_comes_first() -> None:
    found = alerts(
        busy("ok", 0),
        a_row("s", is_alive=False, state="stale", age_s=41.0),
        a_row("d", is_alive=False, state="dead", age_s=400.0),
    )

    assert [(alert.kind, alert.severity) for alert in found] == [("dead", "bad"), ("stale", "warn")]


def test_a_pool_with_nobody_alive_is_an_alert_of_its_own() -> None:
    [alert] = alerts()
    assert (alert.kind, alert.instance_id) == ("pool", None)
    assert alert.message == "no Instance is alive, none known"


def test_measures_past_their_threshold_are_told_with_it() -> None:
    row = a_row(
        resource={
            "gpu_util_avg": 97, "memory_used_mb": 81, "memory_total_mb": 100,
            "resource_reported_at": 1088,
        },
        load={"predicted_total_backlog_ms": 5_001.0},
        ejected_for_s=3.0,
    )  # fmt: skip

    found = {alert.kind: alert for alert in alerts(row)}

    assert (found["gpu"].severity, found["gpu"].threshold) == ("bad", 95)
    assert (found["mem"].severity, found["mem"].threshold) == ("warn", 80)
    assert (found["report"].value, found["report"].since) == (12, NOW - timedelta(seconds=2))
    assert found["backlog"].message == "i-1 backlog 5.0s"
    assert found["ejected"].value == 3


def test_unknown_is_no_alert() -> None:
    assert alerts(a_row()) == []


def test_an_old_measure_of_one_that_is_gone_is_no_alert() -> None:
    row = a_row(is_alive=False, state="stale", resource={"gpu_util_avg": 99})

    assert [alert.kind for alert in alerts(row, busy("ok", 0))] == ["stale"]


def test_whoever_looks_again_remembers_since_when() -> None:
    first = remembered(alerts(busy("a", 0), busy("b", 9)), (), now=NOW)
    later = NOW + timedelta(seconds=9)
    again = remembered(alerts(busy("a", 0), busy("b", 8)), first, now=later)

    assert [alert.since for alert in first] == [NOW]
    assert [(alert.since, alert.value) for alert in again] == [(NOW, 8)]


def test_an_age_in_a_message_grows_as_time_goes_by_and_nothing_else_does() -> None:
    silent = a_row("a", state="stale", is_alive=False, age_s=41.0)
    [alert] = alerts_of([silent, a_row("b")], rules=RULES, ttl_s=30, now=NOW)
    later = alert.later(4.0)

    assert alert.message == "a last seen 41s ago, ttl 30 s"
    assert (later.message, later.value) == ("a last seen 45s ago, ttl 30 s", 45.0)
    assert (later.key, later.since, later.threshold) == (alert.key, alert.since, alert.threshold)
    assert alert.later(0.0) is alert

    [skewed] = alerts(busy("a", 3), busy("b", 4), busy("c", 9))
    assert skewed.later(4.0) is skewed
