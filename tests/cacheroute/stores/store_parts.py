"""What both stores must do alike."""

from cacheroute.core.instance import Instance
from cacheroute.core.orders import NONE, Orders
from cacheroute.core.topology import Link
from cacheroute.stores.base import OrderStore, RegistryStore, SavedLinks
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

REPORT = SavedLinks(
    links={
        "kdn-ä": Link.of({"bandwidth_mbps": 1000.0, "latency_ms": 0.0, "hops": 2, "iface": None}),
        "kdn://[::1]:9101": Link.of({"bandwidth_mbps": 1e3, "rtt_ms": 0.25, "wired": True}),
        "host:1": Link.of({}),
    },
    reported_wall_s=1_700_000_100.5,
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
    check_links(store)
    store.save(an_instance("s", origin="static"))
    store.save(an_instance("k", port=4, api_key="sk-secret", registered_wall_s=3e9))
    assert [instance.api_key for instance in remembered(store)] == [None, None]


def check_links(store: RegistryStore) -> None:
    """Links are of an Instance that is remembered, and go with it."""
    assert store.load_all().links == {}
    store.save_links("i-1", REPORT)
    store.save_links("nobody", REPORT)
    store.save(WHOLE)
    assert store.load_all().links == {"i-1": REPORT}
    later = SavedLinks(links={"k": Link.of({"rtt_ms": 1.0})}, reported_wall_s=2e9)
    store.save_links("i-1", later)
    assert store.load_all().links == {"i-1": later}
    store.save_links("i-1", None)
    assert store.load_all().links == {}
    store.save_links("i-1", REPORT)
    store.remove("i-1")
    store.save(WHOLE)
    assert store.load_all().links == {}


def check_orders(store: OrderStore) -> bool:
    """Walk the orders through everything; returns whether they are said to outlive the process."""
    assert store.load_orders() == {}
    drained = Orders(draining=True, reason="new driver ä", since_wall_s=1_700_000_000.5)
    is_kept = store.save_orders("i-1", drained)
    assert store.save_orders("not-registered", Orders(weight=0.0)) == is_kept
    assert store.load_orders() == {"i-1": drained, "not-registered": Orders(weight=0.0)}
    store.save_orders("i-1", Orders(draining=True, weight=2.5))
    assert store.load_orders()["i-1"] == Orders(draining=True, weight=2.5)
    store.save_orders("i-1", NONE)
    store.save_orders("never-there", NONE)
    assert list(store.load_orders()) == ["not-registered"]
    return is_kept
