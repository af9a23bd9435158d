"""The simulated knowledge nodes."""

from cacheroute.console.nodes import nodes_of
from cacheroute.sources.simulated.fleet import KDNS, Fleet
from cacheroute.sources.simulated.nodes import nodes


def test_all_of_them_are_told_of_and_one_fails_for_a_while() -> None:
    fleet = Fleet(instances=8, seed=7)
    failing: set[str] = set()
    for second in range(0, 241, 10):
        fleet.advance(float(second))
        found = nodes_of(nodes(fleet), 0.0)
        assert found is not None
        assert tuple(found) == KDNS
        for node in found.values():
            assert (node.error is None) == (node.state == "answers")
            assert node.state_age_s is not None
            assert 0.0 <= node.state_age_s <= second
        failing.update(node.name for node in found.values() if node.state == "fails")

    assert failing == {KDNS[-1]}


def test_what_is_being_prepared_is_sent_by_some_node() -> None:
    fleet = Fleet(instances=40, seed=7)
    fleet.advance(45.0)
    told = nodes(fleet)
    preparing = sum(
        work.prepares_until_s > fleet.now_s for each in fleet.instances for work in each.work
    )

    found = nodes_of(told, 0.0) or {}
    assert sum(node.running + node.waiting for node in found.values()) == preparing > 0


def test_without_instances_no_link_is_known() -> None:
    told = nodes(Fleet(instances=0, seed=1))

    assert told.bandwidth_mbps == [None] * len(KDNS)
