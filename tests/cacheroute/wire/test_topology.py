"""Links on the wire."""

import pytest
from pydantic import ValidationError

from cacheroute.wire.topology import (
    MAX_METRICS,
    LinkBody,
    TopologyReportBody,
    TopologyReportReply,
)


def test_a_link_comes_out_as_it_was_reported() -> None:
    reported = {"bandwidth_mbps": 1000.0, "latency_ms": 0.0, "iface": None, "hops": 3, "up": True}
    assert LinkBody.model_validate(reported).as_reported() == reported


@pytest.mark.parametrize(
    "given",
    [
        {"latency_ms": float("nan")},
        {"bandwidth_mbps": -1},
        {"rtt_ms": True},
        {"more": float("inf")},
        {"more": {"nested": 1}},
        {"more": "x" * 513},
        {f"m{n}": n for n in range(MAX_METRICS + 1)},
    ],
)
def test_a_link_is_finite_flat_and_bounded(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        LinkBody.model_validate(given)


def test_a_key_is_neither_empty_nor_endless() -> None:
    for key in ("", "k" * 257):
        with pytest.raises(ValidationError):
            TopologyReportBody.model_validate({"instance_id": "i", "links": {key: {}}})


def test_replies_are_read() -> None:
    assert TopologyReportReply.model_validate({"ok": True, "merged_links": 2}).merged_links == 2
