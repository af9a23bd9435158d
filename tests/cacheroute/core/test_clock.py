import dataclasses

import pytest

from cacheroute.core.clock import Instant


@pytest.mark.parametrize(
    ("wall_s", "wall_ms"), [(0.0, 0), (1.9999, 1999), (1_700_000_000.123, 1_700_000_000_123)]
)
def test_the_wire_wants_whole_milliseconds(wall_s: float, wall_ms: int) -> None:
    assert Instant(mono_s=5.0, wall_s=wall_s).wall_ms == wall_ms


def test_a_moment_does_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Instant(1.0, 2.0).mono_s = 3.0  # type: ignore[misc]
