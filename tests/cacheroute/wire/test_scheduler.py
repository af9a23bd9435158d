"""Bodies and replies between a Proxy and the Scheduler."""

import pytest
from pydantic import ValidationError

from cacheroute.wire.scheduler import (
    ProxyHeartbeatBody,
    ProxyOkReply,
    ProxyRegisterBody,
    ProxyRegisterReply,
    ProxyRow,
    ProxyUnregisterBody,
)


def test_a_registration_needs_host_and_port_only() -> None:
    body = ProxyRegisterBody(host="127.0.0.1", port=8001)
    assert body.endpoints == ["chat/completions", "completions"]
    assert (body.proxy_id, body.weight, body.kv_cache_update_policy) == (None, 1.0, "lru")
    assert body.pool_resource is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": 0},
        {"port": 65536},
        {"host": ""},
        {"weight": -1},
        {"max_capacity": -1},
        {"kv_mem_per_instance_gb": float("inf")},
        {"meta": {"kdn_links": {"k": {"bandwidth_mbps": float("nan")}}}},
    ],
)
def test_a_registration_that_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ProxyRegisterBody.model_validate({"host": "h", "port": 8001} | wrong)


def test_an_interval_of_the_reply_is_bounded() -> None:
    assert ProxyRegisterReply(proxy_id="p").heartbeat_interval_s == 5
    for interval_s in (0, -1, 1e9, float("nan")):
        with pytest.raises(ValidationError):
            ProxyRegisterReply(proxy_id="p", heartbeat_interval_s=interval_s)


def test_a_heartbeat_leaves_out_what_nobody_knows() -> None:
    body = ProxyHeartbeatBody(proxy_id="p", pool_resource={"schema_version": 1})
    assert body.model_dump(exclude_none=True) == {
        "proxy_id": "p",
        "pool_resource": {"schema_version": 1},
    }


def test_short_bodies_are_whole() -> None:
    assert ProxyUnregisterBody(proxy_id="p").proxy_id == "p"
    assert ProxyOkReply.model_validate({"ok": True, "more": 1}).ok


def test_a_row_of_another_scheduler_is_read_too() -> None:
    row = ProxyRow.model_validate(
        {
            "proxy_id": "p",
            "host": "127.0.0.1",
            "port": 8001,
            "registered_at": 1,
            "last_seen_at": 2,
            "is_alive": True,
            "something": "else",
        }
    )
    assert (row.inflight, row.pool_resource, row.kv_cache_pool_gb) == (None, None, 0.0)
