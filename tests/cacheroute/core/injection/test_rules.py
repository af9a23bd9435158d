import math

import pytest

from cacheroute.core.injection.registry import STRATEGIES
from cacheroute.core.injection.rules import InjectionRules


def test_the_defaults_are_the_published_ones() -> None:
    rules = InjectionRules()
    assert (rules.strategy, rules.margin_ms, rules.penalty_alpha) == ("default", 100, 0.5)
    assert (rules.header_tokens, rules.default_bandwidth_mbps) == (36, 1000)
    assert rules.bandwidth_utilisation == 0.825


@pytest.mark.parametrize("row", STRATEGIES, ids=lambda row: row.name)
def test_every_strategy_can_be_named_in_any_case(row: object) -> None:
    name = getattr(row, "name", "")
    assert InjectionRules(strategy=f" {name.upper()} ").strategy == name


def test_another_strategy_is_refused_with_those_there_are() -> None:
    """protocol 8, number 20: the published program fails with a NameError."""
    with pytest.raises(
        ValueError, match=r"^strategy 'kv' is no injection strategy; there are default, iws$"
    ):
        InjectionRules(strategy="kv")


@pytest.mark.parametrize("name", ["margin_ms", "penalty_alpha", "header_tokens"])
@pytest.mark.parametrize("value", [-1, math.nan, math.inf])
def test_what_is_added_is_finite_and_not_negative(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be finite and not negative"):
        InjectionRules(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_a_link_has_some_bandwidth(value: float) -> None:
    with pytest.raises(ValueError, match=r"^default_bandwidth_mbps must be a positive"):
        InjectionRules(default_bandwidth_mbps=value)


@pytest.mark.parametrize("value", [0, -1, 1.01, math.nan])
def test_a_transfer_gets_a_share_of_its_link(value: float) -> None:
    with pytest.raises(ValueError, match=r"^bandwidth_utilisation must be above 0 and at most 1"):
        InjectionRules(bandwidth_utilisation=value)


def test_a_bandwidth_that_was_set_is_told_apart_from_the_default() -> None:
    assert InjectionRules().default_bandwidth_source == "default"
    assert InjectionRules(default_bandwidth_mbps=10).default_bandwidth_source == "env"
