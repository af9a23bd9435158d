"""A registry in memory."""

from cacheroute.stores.memory import MemoryRegistry
from tests.cacheroute.stores.store_parts import check_a_registry, check_orders


def test_it_does_what_a_registry_does() -> None:
    store = MemoryRegistry()
    check_a_registry(store)
    store.close()


def test_orders_are_kept_as_long_as_the_process_lives_and_it_says_so() -> None:
    assert not check_orders(MemoryRegistry())
