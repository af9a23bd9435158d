"""Links to knowledge nodes, and who wins."""

import math

import pytest

from cacheroute.core import topology
from cacheroute.core.topology import BestLink, Link, Topology, address_of
from tests.cacheroute.core.pool_builders import at

NOW = at(100.0)


class Everybody:
    """Nobody is silent."""

    def __contains__(self, _: object) -> bool:
        return True


ALL = Everybody()


def a_link(bandwidth_mbps: float | None = 1000.0, latency_ms: float | None = 1.0) -> Link:
    return Link(bandwidth_mbps=bandwidth_mbps, latency_ms=latency_ms)


def winner(**links: Link) -> str:
    """Report one link to `kdn` from each Instance and return who is kept."""
    known = Topology()
    for instance_id, link in links.items():
        assert known.report(instance_id, {"kdn": link}, NOW) is None
    return known.best(ALL)["kdn"].reported_by


def test_the_higher_bandwidth_wins() -> None:
    assert winner(a=a_link(100, 0.1), b=a_link(1000, 9)) == "b"


def test_the_lower_latency_breaks_a_tie() -> None:
    assert winner(a=a_link(1000, 2), b=a_link(1000, 1)) == "b"


def test_a_latency_of_zero_is_a_value() -> None:
    assert winner(a=a_link(1000, 1), b=a_link(1000, 0)) == "b"
    assert winner(a=a_link(1000, None), b=a_link(1000, 0)) == "b"


def test_what_was_not_measured_loses() -> None:
    assert winner(a=a_link(None, 0), b=a_link(0, 9)) == "b"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1.0])
def test_only_finite_numbers_make_a_link(value: float) -> None:
    with pytest.raises(ValueError, match="bandwidth_mbps"):
        Link(bandwidth_mbps=value)
    with pytest.raises(ValueError, match="latency_ms"):
        Link(latency_ms=value)


def test_a_report_replaces_the_earlier_one() -> None:
    known = Topology()
    known.report("a", {"k1": a_link(), "k2": a_link()}, NOW)
    known.report("a", {"k2": a_link()}, NOW)
    assert set(known.best(ALL)) == {"k2"}
    assert set(known.links_of("a")) == {"k2"}


def test_links_leave_with_their_instance_and_the_next_best_is_kept() -> None:
    known = Topology()
    known.report("a", {"k1": a_link(1000)}, NOW)
    known.report("b", {"k1": a_link(10)}, NOW)
    known.drop("a")
    assert known.best(ALL)["k1"].reported_by == "b"
    known.drop("b")
    known.drop("never-there")
    assert len(known.best(ALL)) == 0


def test_one_report_is_bounded() -> None:
    known = Topology()
    links = {f"k{n}": a_link() for n in range(topology.MAX_LINKS_PER_REPORT + 1)}
    refusal = known.report("a", links, NOW)
    assert refusal is not None
    assert "1000" in refusal
    assert len(known.best(ALL)) == 0


def test_all_reports_together_are_bounded_and_a_replacement_still_fits() -> None:
    known = Topology()
    full = {f"k{n}": a_link() for n in range(topology.MAX_LINKS_PER_REPORT)}
    for n in range(topology.MAX_FULL_REPORTS):
        assert known.report(f"i-{n}", full, NOW) is None
    refusal = known.report("one-more", {"k": a_link()}, NOW)
    assert refusal is not None
    assert "20000" in refusal
    assert known.report("i-0", full, NOW) is None


# What a link says


def test_a_link_is_read_out_of_its_metrics() -> None:
    metrics = {"bandwidth_mbps": 10, "latency_ms": 0, "rtt_ms": 7.0, "iface": None}
    assert Link.of(metrics) == Link(bandwidth_mbps=10.0, latency_ms=0.0, metrics=metrics)
    assert Link.of({"rtt_ms": 7.0}).latency_ms == 7.0
    assert Link.of({"bandwidth_mbps": "fast", "latency_ms": True}) == Link(
        metrics={"bandwidth_mbps": "fast", "latency_ms": True}
    )


# Who counts


def test_links_of_the_silent_are_left_out_and_come_back() -> None:
    known = Topology()
    known.report("a", {"k1": a_link(1000)}, NOW)
    known.report("b", {"k1": a_link(10), "k2": a_link()}, NOW)
    assert known.best({"b"})["k1"].reported_by == "b"
    assert set(known.best({"a"})) == {"k1"}
    assert known.best(()) == {}
    assert known.best({"a", "b", "c"})["k1"].reported_by == "a"


def test_the_merge_is_made_anew_only_when_something_has_changed() -> None:
    known = Topology()
    known.report("a", {"k": a_link()}, NOW)
    assert known.best({"a"}) is known.best({"a", "never-reported"})
    before = known.best({"a"})
    known.report("a", {"k": a_link(1)}, NOW)
    assert known.best({"a"}) != before


def test_a_report_says_when_it_came() -> None:
    known = Topology()
    known.report("a", {"k": a_link()}, at(7.0))
    assert known.reports["a"].at.mono_s == 7.0
    known.report("a", {}, NOW)
    assert known.reports == {}
    assert known.links_of("a") == {}


# Static links


def test_what_is_measured_outranks_what_the_settings_say() -> None:
    slow, fast = a_link(1), a_link(1000)
    known = Topology(static={"k1": fast, "k2": fast})
    known.report("a", {"k1": slow}, NOW)
    assert known.best(ALL) == {
        "k1": BestLink(link=slow, reported_by="a"),
        "k2": BestLink(link=fast, reported_by="static"),
    }
    assert known.best(())["k1"].reported_by == "static"


# One Instance and one node


@pytest.mark.parametrize(
    "key", ["h:9101", "H:9101", "kdn://h:9101", "KDN://H:9101/", "http://h:9101"]
)
@pytest.mark.parametrize("asked", ["h:9101", "H:9101", "kdn://h:9101", "http://H:9101/"])
def test_a_link_is_found_however_its_node_is_written(key: str, asked: str) -> None:
    link = a_link(5)
    measured, static = Topology(), Topology(static={key: link})
    measured.report("a", {key: link}, NOW)
    assert measured.link_of("a", asked) == (link, "link_snapshot")
    assert static.link_of("a", asked) == (link, "static")


def test_an_instance_has_its_own_link_then_the_static_one_and_nobody_elses() -> None:
    static, own = a_link(1), a_link(2)
    known = Topology(static={"h:1": static})
    known.report("a", {"kdn://h:1": own, "h:2": own}, NOW)
    assert known.link_of("a", "h:1") == (own, "link_snapshot")
    assert known.link_of("b", "h:1") == (static, "static")
    assert known.link_of("b", "h:2") is None
    for nowhere in ("", "h", "h:0", "h:99999", "ftp://h:1", "h:1/x"):
        assert known.link_of("a", nowhere) is None


def test_the_plainest_key_of_a_node_counts() -> None:
    first, second, third = a_link(1), a_link(2), a_link(3)
    known = Topology()
    known.report("a", {"h:1": first, "http://h:1": third, "kdn://h:1": second}, NOW)
    assert known.link_of("a", "h:1") == (first, "link_snapshot")
    known.report("a", {"kdn://h:1": second, "http://h:1": third}, NOW)
    assert known.link_of("a", "h:1") == (second, "link_snapshot")


def test_a_name_that_looks_like_an_address_is_none_beside_its_own() -> None:
    link = Link.of({"bandwidth_mbps": 5.0})
    known = Topology()
    known.report("a", {"kdn_10.0.0.7:9101": link, "kdn://10.0.0.7:9101": link}, NOW)
    assert known.known_addresses() == {"10.0.0.7:9101"}
    assert known.count_of("a") == 1
    known.report("a", {"node:9101": link}, NOW)
    assert known.known_addresses() == {"node:9101"}


# Who may be asked


def test_addresses_are_known_as_long_as_somebody_names_them() -> None:
    known = Topology(static={"kdn://S:1": a_link(), "kdn-1": a_link()})
    addresses = known.known_addresses()
    assert addresses == {"s:1"}
    both = {"kdn-2": a_link(), "kdn://h:2": a_link()}
    known.report("a", both, NOW)
    known.report("b", both, NOW)
    known.report("b", both, NOW)
    known.drop("a")
    assert addresses == {"s:1", "h:2"}
    known.drop("b")
    known.drop("b")
    assert addresses == {"s:1"}


def test_a_refused_report_makes_no_address_known() -> None:
    known = Topology(max_links=1)
    assert known.report("a", {"h:1": a_link(), "h:2": a_link()}, NOW) is not None
    assert not known.known_addresses()


def test_an_address_may_be_ipv6() -> None:
    assert address_of("kdn://[::1]:9101") == "[::1]:9101"
    assert address_of("::1:9101") is None


def test_the_nodes_that_a_path_is_known_from_are_counted_once_each() -> None:
    topology = Topology(static={"a:1": a_link(), "b:1": a_link()})
    topology.report("i-1", {"kdn://b:1": a_link(), "c:1": a_link(), "a name": a_link()}, at(1.0))
    assert (topology.count_of("i-1"), topology.count_of("i-2")) == (3, 2)


def test_every_report_moves_the_version() -> None:
    topology = Topology()
    versions = [topology.version]
    topology.report("i-1", {"a:1": a_link()}, at(1.0))
    versions.append(topology.version)
    topology.report("i-1", {"a:1": a_link()}, at(2.0))
    versions.append(topology.version)
    topology.drop("i-1")
    versions.append(topology.version)
    assert versions == sorted(set(versions))


def test_what_changes_no_report_leaves_the_version_and_the_merge_as_they_were() -> None:
    topology = Topology(max_links=1)
    topology.report("i-1", {"a:1": a_link()}, at(1.0))
    before = topology.version, topology.best(ALL)
    topology.drop("never-there")
    topology.report("nothing-to-tell", {}, at(2.0))
    assert topology.report("too-much", {"a:1": a_link(), "b:1": a_link()}, at(2.0)) is not None
    assert topology.version == before[0]
    assert topology.best(ALL) is before[1]
