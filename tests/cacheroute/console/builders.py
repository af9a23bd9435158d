"""Replies of a control plane and rows of the console, with only what a test is about."""

from typing import Any

from cacheroute.console.rows.instances import FleetRow, rows_of
from cacheroute.wire.debug import InstanceLoadsReply
from cacheroute.wire.instances import InstanceRow


def an_entry(instance_id: str = "i-1", **changes: Any) -> InstanceRow:
    return InstanceRow.model_validate(
        {
            "instance_id": instance_id,
            "host": "127.0.0.1",
            "port": 9001,
            "registered_at": 1000,
            "last_seen_at": 1099,
            "is_alive": True,
            **changes,
        }
    )


def some_loads(*loads: dict[str, Any], **changes: Any) -> InstanceLoadsReply:
    return InstanceLoadsReply.model_validate(
        {
            "ok": True,
            "ttl_s": 30,
            "generated_at": 1100.0,
            "instances": [{"is_alive": True, **load} for load in loads],
            **changes,
        }
    )


def a_row(
    instance_id: str = "i-1", *, load: dict[str, Any] | None = None, **entry: Any
) -> FleetRow:
    loads = some_loads({"instance_id": instance_id, **load}) if load is not None else some_loads()
    [row] = rows_of([an_entry(instance_id, **entry)], loads)
    return row
