"""Links to knowledge nodes, as the control plane shows them."""

import msgspec

from cacheroute.core.topology import MAX_LINKS_PER_REPORT, Link, Topology
from cacheroute.planes.topology import count_links, kdn_links, told_links, topology_page
from cacheroute.wire.links import TopologyReply
from tests.cacheroute.core.pool_builders import a_pool, an_instance, at


def test_links_keep_what_was_reported() -> None:
    topology = Topology()
    topology.report("i-1", {"k": Link(latency_ms=0.0, metrics={"rtt_ms": 0.0})}, at(1.0))
    snapshot = a_pool(an_instance()).snapshot(at(1.0))
    assert kdn_links(topology, snapshot) == {"k": {"rtt_ms": 0.0, "reported_by": "i-1"}}
    assert count_links(topology, snapshot) == 1


def test_a_silent_instance_is_shown_but_its_links_do_not_count() -> None:
    topology = Topology(static={"h:1": Link.of({"bandwidth_mbps": 5.0})})
    topology.report("i-1", {"kdn://h:2": Link.of({"latency_ms": 1.0})}, at(4.0))
    topology.report("gone", {"h:3": Link.of({"latency_ms": 1.0})}, at(4.0))
    pool = a_pool(an_instance())

    page = topology_page(topology, pool.snapshot(at(10.0)))
    assert page["instances"] == [
        {
            "instance_id": "i-1",
            "state": "alive",
            "is_alive": True,
            "age_s": 10.0,
            "report_age_s": 6.0,
            "links": {"kdn://h:2": {"latency_ms": 1.0}},
        }
    ]
    assert page["static"] == {"h:1": {"bandwidth_mbps": 5.0}}
    assert page["kdn_links"] == {
        "kdn://h:2": {"latency_ms": 1.0, "reported_by": "i-1"},
        "h:1": {"bandwidth_mbps": 5.0, "reported_by": "static"},
    }
    assert page["known_addresses"] == ["h:1", "h:2", "h:3"]

    silent = msgspec.convert(topology_page(topology, pool.snapshot(at(31.0))), TopologyReply)
    assert silent.instances[0].state == "stale"
    assert list(silent.kdn_links) == ["h:1"]


def test_a_scheduler_is_told_a_bounded_number_of_links() -> None:
    topology = Topology()
    pool = a_pool(an_instance("a", port=1), an_instance("b", port=2))
    for name in ("a", "b"):
        links = {f"{name}-{n}": Link.of({"latency_ms": 1.0}) for n in range(MAX_LINKS_PER_REPORT)}
        topology.report(name, links, at(1.0))
    snapshot = pool.snapshot(at(1.0))
    assert count_links(topology, snapshot) == 2 * MAX_LINKS_PER_REPORT
    assert len(told_links(topology, snapshot)) == MAX_LINKS_PER_REPORT
