"""Which keys of a report are one node."""

import pytest

from cacheroute.core.node_names import second_names

ADDRESS = "kdn://10.0.0.7:9101"


@pytest.mark.parametrize("name", ["kdn-1", "kdn_10.0.0.7:9101", "http://10.0.0.7:9101"])
def test_a_name_belongs_to_the_address_with_the_same_measurement(name: str) -> None:
    one, other = {"latency_ms": 0.3}, {"latency_ms": 0.4}
    assert second_names({name: one, ADDRESS: one}) == {name}
    assert second_names({name: one, ADDRESS: one, "a": other, "KDN://a:1": other}) == {name, "a"}
    assert second_names({name: one, ADDRESS: other}) == frozenset()
    assert second_names({name: one}) == frozenset()


def test_a_name_that_may_be_that_of_either_is_kept() -> None:
    same = {"latency_ms": 0.3}
    assert second_names({"a": same, ADDRESS: same, "kdn://b:1": same}) == frozenset()
    assert second_names({"a": same, "b": same, ADDRESS: same}) == frozenset()
