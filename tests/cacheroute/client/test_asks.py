"""What is asked, to the letter."""

import json

from cacheroute.client import asks
from cacheroute.wire.instances import HeartbeatBody, SnapshotBody, UnregisterBody
from cacheroute.wire.topology import LinkBody, TopologyReportBody


def test_reading_is_a_get_and_telling_a_post() -> None:
    assert asks.HEALTH.method == "GET"
    assert asks.unregister(UnregisterBody(instance_id="i-1")).method == "POST"


def test_a_query_is_written_as_the_protocol_has_it() -> None:
    assert asks.instances(include_dead=True).path == "/v1/instance/list?include_dead=true"
    assert asks.resources(include_dead=False).path == "/debug/instance_resources?include_dead=false"


def test_a_report_carries_its_instance_and_what_it_saw() -> None:
    ask = asks.report_snapshot(
        SnapshotBody(instance_id="i-1", snapshot={"cpu": 1}, metadata={"seq": 7})
    )

    assert ask.path == "/v1/instance/resource_snapshot"
    assert json.loads(ask.body or b"") == {
        "instance_id": "i-1",
        "snapshot": {"cpu": 1},
        "metadata": {"seq": 7},
    }


def test_a_topology_report_carries_the_links_of_its_instance() -> None:
    link = LinkBody(bandwidth_mbps=1.0)

    ask = asks.report_topology(TopologyReportBody(instance_id="i-1", links={"kdn": link}))

    assert ask.path == "/v1/topology/report"
    assert json.loads(ask.body or b"")["links"] == {"kdn": {"bandwidth_mbps": 1.0}}


def test_what_was_not_set_is_not_sent() -> None:
    ask = asks.heartbeat(HeartbeatBody(instance_id="i-1", qps_1m=None))

    assert json.loads(ask.body or b"") == {"instance_id": "i-1", "qps_1m": None}
