"""What is told of links is what is read of them."""

import msgspec

from cacheroute.core.topology import Link, Topology
from cacheroute.planes.topology import kdn_links, topology_page
from cacheroute.wire import strict_json
from cacheroute.wire.links import KdnLinksReply, LinkReportRow, TopologyReply
from tests.cacheroute.core.pool_builders import a_pool, an_instance, at


def test_what_a_proxy_writes_is_read_to_the_letter() -> None:
    topology = Topology(static={"h:1": Link.of({"bandwidth_mbps": 5.0})})
    topology.report("i-1", {"kdn://h:2": Link.of({"latency_ms": 0, "iface": "eth0"})}, at(4.0))
    snapshot = a_pool(an_instance()).snapshot(at(10.0))
    page = {"ok": True, "generated_at": 1.0, **topology_page(topology, snapshot)}
    best = {"kdn_links": kdn_links(topology, snapshot)}

    read = msgspec.json.decode(strict_json.encode(page), type=TopologyReply)
    read_best = msgspec.json.decode(strict_json.encode(best), type=KdnLinksReply)

    assert msgspec.to_builtins(read) == msgspec.json.decode(strict_json.encode(page))
    assert read_best.kdn_links == best["kdn_links"]


def test_the_topology_page_of_an_empty_pool_is_read() -> None:
    page = msgspec.convert({"ok": True, "generated_at": 1.0, "more": 1}, TopologyReply)

    assert (page.instances, page.static, page.known_addresses) == ([], {}, [])
    assert msgspec.convert({}, KdnLinksReply).kdn_links == {}
    row = LinkReportRow(instance_id="i", state="dead", is_alive=False, age_s=1, report_age_s=2)
    assert row.links == {}
