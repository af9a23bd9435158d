"""Knowledge nodes as the Proxy saw them."""

import pytest

from cacheroute.console.nodes import SIGNS, failing_of, node_name, nodes_of
from cacheroute.wire.console import KdnNodes
from cacheroute.wire.debug import StatusReply

TOLD = KdnNodes(
    nodes=["kdn:1", "kdn:2", "far"],
    answers=[True, False, None],
    state_age_s=[60.0, 41.0, None],
    asked_age_s=[0.5, 3.0, None],
    error=[None, "kdn:2 refused the connection.", None],
    running=[2, 0, 0],
    waiting=[6, 0, 0],
    bandwidth_mbps=[820.0, None, 90.0],
    latency_ms=1.9,
)


def test_each_node_is_told_of_by_its_name_with_ages_as_of_now() -> None:
    found = nodes_of(TOLD, 2.0)

    assert found is not None
    assert list(found) == ["kdn:1", "kdn:2", "far"]
    assert [node.state for node in found.values()] == ["answers", "fails", "not asked"]
    assert [node.state_age_s for node in found.values()] == [62.0, 43.0, None]
    assert (found["kdn:1"].asked_age_s, found["kdn:1"].running, found["kdn:1"].waiting) == (
        2.5,
        2,
        6,
    )
    assert found["kdn:2"].error == "kdn:2 refused the connection."
    assert {node.state for node in found.values()} == SIGNS.keys()


def test_a_proxy_that_does_not_tell_and_one_without_nodes_are_two_things() -> None:
    assert nodes_of(None, 0.0) is None
    assert nodes_of(KdnNodes(), 0.0) == {}


def test_the_status_tells_of_those_that_fail_alone() -> None:
    status = StatusReply.model_validate(
        {
            "ok": True, "ttl_s": 30, "alive_instances": 0, "total_instances": 0,
            "expired_instances": 0,
            "kdn_failing": [{"node": "kdn:2", "failing_s": 41.0, "asked_age_s": 3.0}],
        }
    )  # fmt: skip

    [node] = failing_of(status)

    assert (node.name, node.state, node.state_age_s, node.asked_age_s) == (
        "kdn:2", "fails", 41.0, 3.0,
    )  # fmt: skip


@pytest.mark.parametrize("key", ["kdn://Host:9101/", "http://host:9101", "host:9101", " HOST:9101"])
def test_however_a_link_names_a_node_it_is_the_same_one(key: str) -> None:
    assert node_name(key) == "host:9101"
