"""What both stores must do alike."""

from cacheroute.core.instance import Instance
from cacheroute.stores.base import RegistryStore
from tests.cacheroute.core.pool_builders import an_instance

WHOLE = an_instance(
    host="::1",
    base_path="/base",
    endpoints=("chat/completions",),
    tags=("gpu", "ä"),
    weight=0.5,
    meta={"model": "m0", "nested": {"list": [1, None, True, 1.5]}},
    capabilities={"model": {"identifier": "m0", "revision": None}},
    registered_wall_s=1_700_000_000.25,
)


def remembered(store: RegistryStore) -> list[Instance]:
    loaded = store.load_all()
    assert loaded.skipped == ()
    return list(loaded.instances)


def check_a_registry(store: RegistryStore) -> None:
    """Walk one empty registry through everything it must do."""
    assert remembered(store) == []
    later = an_instance("i-2", port=2, registered_wall_s=2e9)
    store.save(later)
    store.save(WHOLE)
    assert remembered(store) == [WHOLE, later]
    store.save(an_instance("i-2", port=3, registered_wall_s=2e9))
    assert [instance.port for instance in remembered(store)] == [WHOLE.port, 3]
    store.remove("i-2")
    store.remove("never-there")
    assert remembered(store) == [WHOLE]
    store.save(an_instance("s", origin="static"))
    store.save(an_instance("k", port=4, api_key="sk-secret", registered_wall_s=3e9))
    assert [instance.api_key for instance in remembered(store)] == [None, None]
