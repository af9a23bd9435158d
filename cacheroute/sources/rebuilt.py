"""One Instance as the Proxy lists it, rebuilt from columns: what a recording has of it."""

from typing import Any

from cacheroute.wire.console import ConsoleSnapshot, Lists, only
from cacheroute.wire.instances import InstanceRow

_OF_LOAD = ("inflight", "qps_1m", "gpu_util")
_OF_RESOURCE = (
    "cpu_util", "memory_used_mb", "memory_total_mb", "gpu_util_avg", "gpu_util_current",
    "gpu_util_max", "gpu_sample_age_ms", "gpu_sample_source", "gpu_sample_quality",
    "gpu_mem_used_mb", "gpu_mem_total_mb", "network_rx_mbps", "network_tx_mbps",
    "admission_state",
)  # fmt: skip
_ITSELF = (
    "host", "port", "base_path", "origin", "models", "own_weight", "draining", "weight",
    "ejected_for_s", "unanswered_s", "age_s", "clock_skew_ms", "state",
)  # fmt: skip


def instance_row(snapshot: ConsoleSnapshot, instance_id: str) -> InstanceRow | None:
    """Return an Instance with what its columns tell; None if it is not there."""
    alone = only(snapshot, [instance_id])
    if not alone.ids or alone.identities is None:
        return None
    values = {**_first(alone.identities), **_first(alone.instances)}
    seen_s = snapshot.generated_at - (values["age_s"] or 0.0)
    return InstanceRow.model_validate(
        {
            **{name: values[name] for name in _ITSELF if values[name] is not None},
            "instance_id": instance_id,
            "endpoints": values["endpoints"] or [],
            "tags": values["tags"] or [],
            "registered_at": 0,
            "last_seen_at": int(seen_s),
            "is_alive": values["state"] == "alive",
            "load": {name: values[name] for name in _OF_LOAD},
            "resource": {
                **{name: values[name] for name in _OF_RESOURCE},
                "resource_reported_at": _reported_at(snapshot, values["report_age_s"]),
            },
        }
    )


def _reported_at(snapshot: ConsoleSnapshot, age_s: float | None) -> int | None:
    return None if age_s is None else int(snapshot.generated_at - age_s)


def _first(columns: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in columns.__struct_fields__:
        column = getattr(columns, name)
        if isinstance(column, Lists):
            at = column.at[0] if isinstance(column.at, list) else column.at
            found[name] = column.values[at] if 0 <= at < len(column.values) else None
        else:
            found[name] = column[0] if isinstance(column, list) else column
    return found
