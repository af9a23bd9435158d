"""Numbers in few characters, and no number as a dash."""

import pytest

from cacheroute_cli.amounts import (
    render_count,
    render_duration,
    render_ms,
    render_percent,
    render_ratio,
    render_score,
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
