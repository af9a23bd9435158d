"""What alerts mean, and where their thresholds are set."""

from typing import get_args

from cacheroute.console.alert_meanings import MEANINGS, where_set
from cacheroute.console.alerts import AlertKind
from cacheroute.console.rules import RULES, Limits, Rules


def test_every_kind_of_alert_has_a_meaning_in_sentences() -> None:
    assert set(MEANINGS) == set(get_args(AlertKind))
    for found in MEANINGS.values():
        assert found.meaning.endswith(".")
        assert found.threshold.endswith(".")
        assert found.source


def test_every_threshold_belongs_to_a_kind() -> None:
    named = {name for found in MEANINGS.values() for name in found.settings}

    assert named == set(RULES.__slots__)


def test_a_threshold_is_told_with_the_value_in_force() -> None:
    rules = Rules(gpu=Limits(warn=50, bad=60.5), skew_ratio=2)

    assert where_set("gpu", rules) == ["alerts.gpu = [50, 60.5]"]
    assert where_set("skew", rules) == ["alerts.skew_ratio = 2", "alerts.skew_min = 3"]
    assert where_set("slow", RULES) == ["alerts.ttft_ratio = 1.5"]
    assert where_set("stale", RULES) == []
