"""Links to knowledge nodes, and who wins."""

import math

import pytest

from cacheroute.core import topology
from cacheroute.core.topology import Link, Topology


def a_link(bandwidth_mbps: float | None = 1000.0, latency_ms: float | None = 1.0) -> Link:
    return Link(bandwidth_mbps=bandwidth_mbps, latency_ms=latency_ms)


def winner(**links: Link) -> str:
    """Report one link to `kdn` from each Instance and return who is kept."""
    known = Topology()
    for instance_id, link in links.items():
        assert known.report(instance_id, {"kdn": link}) is None
    return known.best()["kdn"].reported_by


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
    known.report("a", {"k1": a_link(), "k2": a_link()})
    known.report("a", {"k2": a_link()})
    assert set(known.best()) == {"k2"}
    assert set(known.links_of("a")) == {"k2"}


def test_links_leave_with_their_instance_and_the_next_best_is_kept() -> None:
    known = Topology()
    known.report("a", {"k1": a_link(1000)})
    known.report("b", {"k1": a_link(10)})
    known.drop("a")
    assert known.best()["k1"].reported_by == "b"
    known.drop("b")
    known.drop("never-there")
    assert len(known) == 0


def test_one_report_is_bounded() -> None:
    known = Topology()
    links = {f"k{n}": a_link() for n in range(topology.MAX_LINKS_PER_REPORT + 1)}
    refusal = known.report("a", links)
    assert refusal is not None
    assert "1000" in refusal
    assert len(known) == 0


def test_all_reports_together_are_bounded_and_a_replacement_still_fits() -> None:
    known = Topology()
    full = {f"k{n}": a_link() for n in range(topology.MAX_LINKS_PER_REPORT)}
    for n in range(topology.MAX_FULL_REPORTS):
        assert known.report(f"i-{n}", full) is None
    refusal = known.report("one-more", {"k": a_link()})
    assert refusal is not None
    assert "20000" in refusal
    assert known.report("i-0", full) is None
