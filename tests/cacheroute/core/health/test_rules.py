import math

import pytest

from cacheroute.core.health.rules import EjectionRules


@pytest.mark.parametrize(
    "name", ["failures", "cool_down_s", "cool_down_max_s", "retry_after_max_s"]
)
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_a_rule_is_positive_and_finite(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be a positive, finite number"):
        EjectionRules(**{name: value})  # type: ignore[arg-type]


def test_the_longest_pause_is_not_below_the_first() -> None:
    with pytest.raises(ValueError, match=r"must not be below cool_down_s: 5\.0 < 6\.0"):
        EjectionRules(cool_down_s=6.0)
