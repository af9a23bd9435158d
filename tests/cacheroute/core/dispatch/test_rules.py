import math

import pytest

from cacheroute.core.dispatch.release import POLICIES
from cacheroute.core.dispatch.rules import QueueRules

NUMBERS = ("prepare_concurrency", "ready_concurrency", "max_queue", "text_bypass_max_per_flush")


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_a_bound_is_at_least_one_and_finite(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be 1 or more, not"):
        QueueRules(**{name: value})  # type: ignore[arg-type]


def test_the_default_policy_is_one_that_exists() -> None:
    assert QueueRules().release_policy in POLICIES
