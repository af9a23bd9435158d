"""The rules of the control plane, and that its owner is what it takes it for."""

from cacheroute.planes.control_owner import ControlOwner, ControlRules
from tests.cacheroute.planes.control_parts import Owner


def test_the_token_is_never_shown() -> None:
    assert "secret" not in repr(ControlRules(token="secret"))


def test_bounds_are_the_published_ones() -> None:
    rules = ControlRules()
    assert (rules.body_bytes, rules.snapshot_bytes, rules.max_links) == (1 << 20, 1 << 16, 1000)


def test_the_owner_of_the_tests_is_an_owner() -> None:
    owner: ControlOwner = Owner()
    assert owner.strategy.name == "round_robin"
