"""From when on something is worth a word."""

import pytest

from cacheroute.console.rules import RULES, Limits


@pytest.mark.parametrize(
    ("value", "level"), [(None, "fine"), (79.9, "fine"), (80, "warn"), (91.9, "warn"), (92, "bad")]
)
def test_a_value_stands_below_between_or_above(value: float | None, level: str) -> None:
    assert Limits(warn=80, bad=92).level(value) == level


def test_the_published_thresholds_hold_by_default() -> None:
    assert (RULES.skew_ratio, RULES.skew_min) == (1.5, 3)
    assert (RULES.gpu, RULES.mem) == (Limits(warn=75, bad=95), Limits(warn=80, bad=92))
    assert (RULES.report_age_s, RULES.backlog_ms, RULES.ttft_ratio) == (10, 5_000, 1.5)
