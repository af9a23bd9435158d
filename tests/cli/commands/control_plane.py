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
