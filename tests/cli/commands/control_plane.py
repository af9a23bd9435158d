"""A control plane that says what the published protocol says, and no more."""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.cacheroute.client.canned import a_peer, answer


def an_instance(instance_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "instance_id": instance_id,
        "host": "127.0.0.1",
        "port": 9001,
        "endpoints": [],
        "tags": [],
        "weight": 1.0,
        "meta": {},
        "registered_at": 1000,
        "last_seen_at": 1100,
        "load": {"inflight": 0},
        "is_alive": True,
        **changes,
    }


def replies(*instances: Mapping[str, Any]) -> dict[str, Any]:
    alive = sum(1 for instance in instances if instance["is_alive"])
    return {
        "/healthz": {"ok": True, "ttl_s": 30},
        "/debug/status": {
            "ok": True,
            "ttl_s": 30,
            "alive_instances": alive,
            "total_instances": len(instances),
            "expired_instances": len(instances) - alive,
        },
        "/v1/instance/list?include_dead=true": list(instances),
        "/v1/instance/list?include_dead=false": [i for i in instances if i["is_alive"]],
        "/debug/instance_loads": {
            "ok": True,
            "ttl_s": 30,
            "generated_at": 1101.0,
            "instances": [
                {
                    "instance_id": instance["instance_id"],
                    "is_alive": instance["is_alive"],
                    "inflight": instance["load"]["inflight"],
                    "least_load_score": {"total": float(instance["load"]["inflight"])},
                }
                for instance in instances
            ],
        },
        "/debug/pool_resource": {
            "ok": True,
            "pool_resource": {"proxy_id": "proxy-a", "load": {"inflight_total": 3}},
        },
    }


@contextmanager
def a_control_plane(said: Mapping[str, Any]) -> Iterator[str]:
    def reply(request: bytes, connection: socket.socket) -> None:
        path = request.split(b" ")[1].decode()
        if path in said:
            connection.sendall(answer(json.dumps(said[path]).encode()))
        else:
            connection.sendall(answer(b'{"detail":"Not Found"}', status="404 Not Found"))

    with a_peer(reply) as url:
        yield url


def our_replies(*instances: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a Proxy of ours says, which is more."""
    decisions = {
        "ok": True,
        "decisions": [
            {
                "seq": seq, "at": 1_100.5, "request_id": f"r-{seq}", "strategy": "least_load",
                "endpoint": "chat/completions", "instance_id": instance["instance_id"],
                "cost": 3.0, "considered": len(instances), "reason": "It had the least cost.",
            }
            for seq, instance in reversed(list(enumerate(instances, 1)))
        ],
    }  # fmt: skip
    traces = {
        "ok": True,
        "total": len(instances),
        "traces": [
            {
                "seq": seq, "at": 1_100.5, "request_id": f"r-{seq}",
                "endpoint": "chat/completions", "instance_id": instance["instance_id"],
                "outcome": "ok", "status": 200, "sent_ms": 1.0, "ttft_ms": 50.0,
                "e2e_ms": 1_000.0 * seq,
                "rooms": [
                    {"room": "place", "start_ms": 0, "end_ms": 1},
                    {"room": "prefill", "start_ms": 1, "end_ms": 50},
                    {"room": "decode", "start_ms": 50, "end_ms": 1_000.0 * seq},
                ],
            }
            for seq, instance in reversed(list(enumerate(instances, 1)))
        ],
    }  # fmt: skip
    one = {**traces, "traces": traces["traces"][-1:]}  # type: ignore[index]
    return {
        **replies(*instances),
        **{f"/debug/traces?last={last}": traces for last in (20, 200, 500, 1024)},
        "/debug/traces?request_id=r-1": one,
        "/debug/instance_resources?include_dead=true": {
            "instances": [
                {
                    "instance_id": instance["instance_id"], "host": "127.0.0.1", "port": 9001,
                    "last_seen_at": 1_100, "resource": instance.get("resource", {}),
                }
                for instance in instances
            ]
        },
        "/debug/topology": {
            "ok": True,
            "generated_at": 1_101.0,
            "instances": [
                {
                    "instance_id": instance["instance_id"], "state": "alive", "is_alive": True,
                    "age_s": 0.1, "report_age_s": 5.0,
                    "links": {"kdn-1": {"bandwidth_mbps": 820, "latency_ms": 1.9}},
                }
                for instance in instances[:1]
            ],
            "kdn_links": {"kdn-1": {"reported_by": instances[0]["instance_id"]}},
        },
        "/debug/scheduler": {"ok": True, "state": "off", "proxy_id": "proxy-a"},
        **{f"/debug/decisions?last={last}": decisions for last in (20, 200, 1024)},
    }  # fmt: skip
