import pytest

from cacheroute.core.injection.registry import STRATEGIES, find, known_names
from cacheroute.core.injection.strategies import decide_default, decide_iws


def test_the_published_names_find_their_strategy() -> None:
    assert (row := find("default")) is not None
    assert row.decide is decide_default
    assert (row := find(" IWS ")) is not None
    assert row.decide is decide_iws


@pytest.mark.parametrize("name", ["", "kv", "iws,default"])
def test_another_name_finds_nothing(name: str) -> None:
    assert find(name) is None


def test_an_error_can_name_them_all() -> None:
    assert known_names() == "default, iws"
    assert all(row.summary.endswith(".") for row in STRATEGIES)
