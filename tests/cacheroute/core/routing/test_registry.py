import pytest

from cacheroute.core.routing.registry import STRATEGIES, find, known_names
from cacheroute.core.routing.strategies import LeastLoad, RoundRobin
from cacheroute.core.routing.weights import Weights


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        ("round_robin", RoundRobin), ("rr", RoundRobin), ("round-robin", RoundRobin),
        ("least_load", LeastLoad), ("ll", LeastLoad), ("least-load", LeastLoad),
        (" Round_Robin ", RoundRobin), ("LL", LeastLoad),
    ],
)  # fmt: skip
def test_the_published_names_and_aliases_find_their_strategy(name: str, strategy: type) -> None:
    row = find(name)
    assert row is not None
    built = row.build(Weights())
    assert type(built) is strategy
    assert built.name == row.name


@pytest.mark.parametrize("name", ["", "random", "round robin", "leastload", "rr,ll"])
def test_another_name_finds_nothing(name: str) -> None:
    assert find(name) is None


def test_an_error_can_name_every_way_to_say_it() -> None:
    assert known_names() == ("round_robin (rr, round-robin), least_load (ll, least-load)")


def test_no_name_means_two_strategies() -> None:
    names = [name for row in STRATEGIES for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))
    assert all(row.summary.endswith(".") for row in STRATEGIES)
