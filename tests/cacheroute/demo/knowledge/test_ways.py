"""The three ways of the comparison."""

from cacheroute.core.injection.registry import find
from cacheroute.demo.knowledge.ways import ALWAYS_KV, ALWAYS_TEXT, BY_FORECAST, WAYS


def test_two_ways_do_what_the_scheduler_asks_for_and_one_does_not() -> None:
    assert [(way.mode, way.strategy) for way in WAYS] == [
        ("text", "default"),
        ("kvcache", "default"),
        ("kvcache", "iws"),
    ]


def test_every_way_has_a_name_of_its_own_and_a_strategy_that_there_is() -> None:
    assert len({way.name for way in WAYS}) == len(WAYS)
    assert {way.name for way in (ALWAYS_TEXT, ALWAYS_KV, BY_FORECAST)} == {"text", "kvcache", "iws"}
    assert all(find(way.strategy) is not None for way in WAYS)
