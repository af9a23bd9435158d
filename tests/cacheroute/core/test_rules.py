import math

import pytest

from cacheroute.core.rules import PoolRules


def test_dead_begins_after_the_stale_multiple_of_the_time_to_live() -> None:
    rules = PoolRules(ttl_s=10.0, stale_ttls=3.0)
    assert rules.dead_after_s == 30.0
    assert rules.forgotten_after_s == 600.0


def test_an_instance_is_never_forgotten_before_it_is_dead() -> None:
    assert PoolRules(ttl_s=1000.0, reap_after_s=600.0).forgotten_after_s == 3000.0


@pytest.mark.parametrize(
    "name", ["ttl_s", "stale_ttls", "reap_after_s", "max_instances", "max_unknown_ids"]
)
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_a_rule_is_positive_and_finite(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be a positive, finite number"):
        PoolRules(**{name: value})  # type: ignore[arg-type]


def test_stale_is_not_shorter_than_alive() -> None:
    with pytest.raises(ValueError, match=r"^stale_ttls must be 1 or more, not 0\.5"):
        PoolRules(stale_ttls=0.5)
