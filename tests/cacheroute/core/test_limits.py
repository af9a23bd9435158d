import dataclasses
import math

import pytest

from cacheroute.core.limits import Limits, Timeouts

BAD = [0, -1, math.nan, math.inf, -math.inf]
LIMITS = [field.name for field in dataclasses.fields(Limits)]
TIMEOUTS = [field.name for field in dataclasses.fields(Timeouts)]


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("value", BAD)
def test_a_limit_is_positive_and_finite(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be a positive, finite number"):
        Limits(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TIMEOUTS)
@pytest.mark.parametrize("value", BAD)
def test_a_timeout_is_positive_and_finite(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be a positive, finite number"):
        Timeouts(**{name: value})


def test_a_whole_exchange_may_be_without_a_limit() -> None:
    assert Timeouts().total_s is None
    assert Timeouts(total_s=None).total_s is None


def test_the_defaults_leave_a_long_prompt_its_time() -> None:
    timeouts = Timeouts()
    assert (timeouts.connect_s, timeouts.first_byte_s, timeouts.between_bytes_s) == (5, 600, 60)


def test_idle_connections_are_closed_before_an_instance_closes_them() -> None:
    assert Timeouts().pool_idle_s < 5.0


def test_the_defaults_leave_room_for_pictures_and_large_heads() -> None:
    limits = Limits()
    assert limits.body_bytes >= 32 * 1024 * 1024
    assert limits.head_bytes >= 48 * 1024
