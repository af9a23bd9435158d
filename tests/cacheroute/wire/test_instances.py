"""Bodies and replies about Instances."""

import pytest
from pydantic import ValidationError

from cacheroute.core.resources import Resource
from cacheroute.wire.instances import (
    HeartbeatReply,
    InstanceRow,
    OkReply,
    RegisterBody,
    ResourceRow,
    SnapshotBody,
)


def test_a_registration_needs_host_and_port_only() -> None:
    body = RegisterBody(host="127.0.0.1", port=9001)
    assert (body.instance_id, body.weight, body.capabilities) == (None, 1.0, None)


def test_lists_are_bounded() -> None:
    with pytest.raises(ValidationError):
        RegisterBody(host="h", port=1, tags=["t"] * 65)


def test_a_snapshot_may_hold_anything() -> None:
    body = SnapshotBody.model_validate_json('{"instance_id": "i", "snapshot": {"x": NaN}}')
    assert set(body.snapshot) == {"x"}
    assert body.metadata == {}


def test_the_resource_row_has_the_published_fields() -> None:
    assert set(ResourceRow.model_fields) == set(Resource().as_wire(raw=True))


def test_a_row_of_another_proxy_is_read_too() -> None:
    row = InstanceRow.model_validate(
        {
            "instance_id": "i-1",
            "host": "h",
            "port": 1,
            "registered_at": 1,
            "last_seen_at": 2,
            "is_alive": True,
            "something": "else",
        }
    )
    assert (row.state, row.age_s, row.load.inflight) == (None, None, None)


def test_short_replies_are_whole() -> None:
    assert HeartbeatReply(ok=True).error is None
    assert not OkReply.model_validate({"ok": False}).ok
