"""Numbers in few characters, and no number as a dash."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from cacheroute.console.amounts import (
    instant_of,
    render_bandwidth,
    render_count,
    render_duration,
    render_instant,
    render_latency,
    render_memory,
    render_ms,
    render_number,
    render_of,
    render_percent,
    render_ratio,
    render_score,
    render_text,
    render_took,
    render_wait,
    render_words,
    render_yes,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "—"),
        (-3.0, "0.0s"),
        (0.0, "0.0s"),
        (0.44, "0.4s"),
        (9.94, "9.9s"),
        (9.96, "10s"),
        (41.2, "41s"),
        (59.6, "1m"),
        (123, "2m3s"),
        (8_040, "2h14m"),
        (3_600, "1h"),
        (90_000, "1d1h"),
        (8_640_000, "100d"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float | None, text: str) -> None:
    assert render_duration(seconds) == text


def test_milliseconds_become_seconds_when_there_are_many() -> None:
    assert render_ms(87.4) == "87 ms"
    assert render_ms(12_400) == "12.4 s"


def test_unknown_is_never_zero() -> None:
    for render in (render_ms, render_percent, render_ratio, render_score, render_count):
        assert render(None) == "—"
        assert render(0) != "—"


def test_shares_and_scores() -> None:
    assert render_percent(22.4) == "22%"
    assert render_ratio(0.4168) == "41.7%"
    assert render_score(4.9) == "4.90"
    assert render_count(7) == "7"


def test_memory_and_waits_are_short() -> None:
    assert render_memory(512) == "512M"
    assert render_memory(24_064) == "23.5G"
    assert render_wait(4_100) == "4.1s"
    assert render_latency(1.94) == "1.9ms"
    assert render_number(0.5) == "0.5"
    for render in (render_memory, render_wait, render_latency, render_number):
        assert render(None) == "—"


def test_no_words_are_no_unknown() -> None:
    assert render_words([]) == ""
    assert render_words(None) == "—"
    assert render_text("") == "—"
    assert (render_yes(True), render_yes(False), render_yes(None)) == ("yes", "no", "—")


def test_an_instant_is_written_in_utc() -> None:
    instant = datetime(2026, 1, 2, 3, 4, 5, 678_000, timezone(timedelta(hours=2)))

    assert render_instant(instant) == "2026-01-02T01:04:05.678Z"


def test_seconds_since_the_epoch_that_no_calendar_has_are_unknown() -> None:
    assert instant_of(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert instant_of(None) is None
    assert instant_of(1e300) is None


def test_a_count_stands_with_its_limit_as_far_as_both_are_known() -> None:
    assert [render_of(4, 16), render_of(4, None), render_of(None, 16)] == ["4/16", "4", "—/16"]


@pytest.mark.parametrize(
    ("value_ms", "text"),
    [(0.0, "0ms"), (77.7, "78ms"), (999.4, "999ms"), (999.6, "1.0s"), (72e3, "1m12s")],
)
def test_what_took_less_than_a_second_is_told_in_milliseconds(value_ms: float, text: str) -> None:
    assert render_took(value_ms) == text


def test_a_bandwidth_has_its_unit() -> None:
    assert render_bandwidth(12_000.0) == "12,000 Mbps"
    assert render_bandwidth(None) == "—"
