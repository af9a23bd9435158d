"""A registry in memory."""

from cacheroute.stores.memory import MemoryRegistry
from tests.cacheroute.stores.store_parts import check_a_registry


def test_it_does_what_a_registry_does() -> None:
    store = MemoryRegistry()
    check_a_registry(store)
    store.close()
