"""What counts as a fault of a link."""

import pytest

from cacheroute_tui.screens.topology_drawing import is_faulty
from tests.tui.screens.requests import link


@pytest.mark.parametrize(
    ("who", "mbps", "state", "expected"),
    [
        ("i-1", 820.0, "alive", False),
        ("i-1", 820.0, "stale", True),
        ("i-1", 820.0, "dead", True),
        ("i-1", 820.0, None, False),
        ("i-1", 0.0, "alive", True),
        ("i-1", None, "alive", True),
        ("static", 90.0, None, False),
        ("static", None, None, True),
    ],
)
def test_a_link_is_at_fault(
    who: str, mbps: float | None, state: str | None, expected: bool
) -> None:
    assert is_faulty(link("kdn-1", who, mbps, state=state)) is expected
