"""Who measured which link, and which is the best."""

import msgspec

from cacheroute.console.rows.topology import best_link_rows, link_rows
from cacheroute.wire.links import KdnLinksReply, TopologyReply

REPORT = {
    "instance_id": "i-1", "state": "alive", "is_alive": True, "age_s": 0.1, "report_age_s": 5.0,
}  # fmt: skip
REPLY = msgspec.convert(
    {
        "ok": True,
        "generated_at": 100.0,
        "instances": [
            {
                **REPORT,
                "links": {
                    "kdn-1": {"bandwidth_mbps": 90, "rtt_ms": 14, "iface": "eth0"},
                    "kdn-2": {"latency_ms": 0, "bandwidth_mbps": True},
                },
            },
            {
                "instance_id": "i-2", "state": "stale", "is_alive": False, "age_s": 41.0,
                "report_age_s": 41.0, "links": {"kdn-1": {"bandwidth_mbps": 820}},
            },
        ],
        "static": {"kdn-1": {"bandwidth_mbps": 100}},
        "kdn_links": {"kdn-1": {"reported_by": "static"}, "kdn-2": {"reported_by": "i-1"}},
    },
    TopologyReply,
)  # fmt: skip


def test_every_link_is_told_by_node_and_the_best_on_top() -> None:
    rows = link_rows(REPLY)

    assert [(row.kdn, row.reported_by, row.is_best, row.state) for row in rows] == [
        ("kdn-1", "static", True, None),
        ("kdn-1", "i-2", False, "stale"),
        ("kdn-1", "i-1", False, "alive"),
        ("kdn-2", "i-1", True, "alive"),
    ]


def test_a_round_trip_is_a_latency_and_no_time_at_all_was_measured() -> None:
    by_key = {(row.kdn, row.reported_by): row for row in link_rows(REPLY)}

    assert by_key["kdn-1", "i-1"].latency_ms == 14
    assert by_key["kdn-2", "i-1"].latency_ms == 0
    assert by_key["kdn-2", "i-1"].bandwidth_mbps is None
    assert by_key["kdn-1", "i-2"].latency_ms is None


def test_whatever_else_was_reported_is_kept() -> None:
    assert {"iface": "eth0"} in [row.metrics for row in link_rows(REPLY)]


def test_a_node_that_is_reported_by_name_and_by_address_is_there_once() -> None:
    link = {"bandwidth_mbps": 1000.0, "latency_ms": 0.3, "measured_by": "i-1"}
    both = {"kdn_10.0.0.7:9101": link, "kdn://10.0.0.7:9101": link}
    report = {**REPORT, "links": {**both, "kdn-2": {"latency_ms": 1.0}}}
    best = {key: {**link, "reported_by": "i-1"} for key in both}
    told = {"ok": True, "generated_at": 1.0, "instances": [report], "kdn_links": best}
    whole = link_rows(msgspec.convert(told, TopologyReply))
    only_best = best_link_rows(msgspec.convert({"kdn_links": best}, KdnLinksReply))
    assert [(row.kdn, row.is_best) for row in whole] == [
        ("kdn-2", False), ("kdn://10.0.0.7:9101", True),
    ]  # fmt: skip
    assert [(row.kdn, row.is_best) for row in only_best] == [("kdn://10.0.0.7:9101", True)]


def test_a_proxy_that_tells_only_the_best_links_is_enough() -> None:
    told = {"kdn_links": {"k": {"bandwidth_mbps": 5, "reported_by": "i-1"}, "l": {}}}
    links = msgspec.convert(told, KdnLinksReply)

    assert [(row.kdn, row.reported_by, row.is_best) for row in best_link_rows(links)] == [
        ("k", "i-1", True),
        ("l", None, True),
    ]
