"""What a console is told of knowledge nodes."""

import pytest

from cacheroute.core.topology import Link
from cacheroute.planes.console_nodes import MAX_TOLD, kdn_nodes
from cacheroute.wire.console import KdnNodes
from tests.cacheroute.core.pool_builders import an_instance, at, joined
from tests.cacheroute.planes.control_parts import Owner


def an_owner() -> Owner:
    owner = Owner()
    for number in range(2):
        joined(owner.pool, an_instance(f"i-{number}", port=9001 + number), owner.clock.now())
    return owner


def told(owner: Owner) -> KdnNodes:
    return kdn_nodes(owner, owner.pool.snapshot(owner.clock.now()))


def test_without_any_there_are_none() -> None:
    assert told(an_owner()) == KdnNodes(
        answers=[], state_age_s=[], asked_age_s=[], error=[], running=[], waiting=[],
        bandwidth_mbps=[], latency_ms=[],
    )  # fmt: skip


def test_what_requests_saw_what_is_sent_and_what_was_measured_come_together() -> None:
    owner = an_owner()
    now = owner.clock.now()
    owner.nodes.answered("kdn:1", now.mono_s - 60.0)
    owner.nodes.answered("kdn:1", now.mono_s - 5.0)
    owner.topology.report("i-0", {"kdn://KDN:1": Link.of({"bandwidth_mbps": 90})}, now)
    owner.topology.report("i-1", {"kdn:1": Link.of({"bandwidth_mbps": 820, "rtt_ms": 2})}, now)
    for instance_id, name in (("i-0", "kdn://kdn:1"), ("i-0", "kdn://kdn:1"), ("i-1", "kdn:1")):
        owner.links.reserve((instance_id, name), now.mono_s, 100.0)

    it = told(owner)

    assert it.nodes == ["kdn:1"]
    assert (it.answers, it.state_age_s, it.asked_age_s, it.error) == (True, 60.0, 5.0, None)
    assert (it.running, it.waiting) == (2, 1)
    assert (it.bandwidth_mbps, it.latency_ms) == (820.0, 2.0)


def test_a_node_is_told_once_however_many_names_it_was_reported_under() -> None:
    owner = an_owner()
    now = owner.clock.now()
    for number, mbps in enumerate((90.0, 820.0)):
        link = Link.of({"bandwidth_mbps": mbps, "measured_by": f"i-{number}"})
        owner.topology.report(f"i-{number}", {"kdn_b:1": link, "kdn://b:1": link}, now)
    it = told(owner)
    assert (it.nodes, it.bandwidth_mbps, it.left_out) == (["b:1"], 820.0, 0)


def test_one_that_fails_comes_first_with_the_reason_and_one_not_asked_is_unknown() -> None:
    owner = an_owner()
    now = owner.clock.now()
    owner.topology.report("i-0", {"a-name": Link.of({"bandwidth_mbps": 90})}, now)
    owner.nodes.answered("b:1", now.mono_s)
    owner.nodes.failed("c:1", "c:1 refused the connection.", now.mono_s - 41.0)

    it = told(owner)

    assert it.nodes == ["c:1", "a-name", "b:1"]
    assert it.answers == [False, None, True]
    assert it.state_age_s == [41.0, None, 0.0]
    assert it.error == ["c:1 refused the connection.", None, None]


def test_links_of_who_is_silent_do_not_count() -> None:
    owner = an_owner()
    owner.topology.report("i-0", {"kdn:1": Link.of({"bandwidth_mbps": 90})}, owner.clock.now())
    owner.clock.instant = at(1_031.0)

    assert told(owner).nodes == []


@pytest.mark.parametrize("where", ["asked", "linked"])
def test_there_is_room_for_so_many_and_the_others_are_counted(where: str) -> None:
    owner = an_owner()
    names = [f"kdn-{number}:1" for number in range(MAX_TOLD + 3)]
    if where == "asked":
        for name in names:
            owner.nodes.answered(name, 0.0)
    else:
        owner.topology.report("i-0", {name: Link() for name in names}, owner.clock.now())

    it = told(owner)

    assert (len(it.nodes), it.left_out) == (MAX_TOLD, 3)
