"""What each Instance's host has left, as its agent reported it, and how old that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cacheroute.console import cast
from cacheroute.console.columns import NAME_FLOOR, Column, Kind
from cacheroute.console.rows.instances import marked_percent, percent_of
from cacheroute.console.rules import RULES, TONES, Limits

if TYPE_CHECKING:
    from cacheroute.wire.debug import InstanceLoadsReply, InstanceResourcesReply

_AGENT = "the host's agent"
_UNKNOWN = "The agent has not reported it; it is not 0."


# Nobody changes one. Frozen, or to be given by name alone, a thousand of them would take three
# times as long, and a screen makes them anew each second.
@dataclass(slots=True)
class ResourceRow:
    """The host of one Instance; what nobody has reported is None."""

    id: str
    host: str
    is_alive: bool | None
    """None where the Proxy does not say."""
    cpu_util: float | None
    """Percent, as all that ends so."""
    memory_util: float | None
    memory_used_mb: float | None
    memory_total_mb: float | None
    gpu_util: float | None
    """Average over the window."""
    gpu_util_current: float | None
    gpu_util_max: float | None
    gpu_memory_util: float | None
    gpu_memory_used_mb: float | None
    gpu_memory_total_mb: float | None
    gpu_sample_quality: str | None
    gpu_sample_source: str | None
    gpu_sample_age_ms: int | None
    network_rx_mbps: float | None
    network_tx_mbps: float | None
    admission_state: str | None
    report_age_s: float | None
    """Since the report came, to the second; None before the first."""


def resource_rows(
    resources: InstanceResourcesReply, loads: InstanceLoadsReply | None
) -> list[ResourceRow]:
    """Return a row for each Instance, by id; `loads` tells the time and who is alive."""
    alive = {load.instance_id: load.is_alive for load in loads.instances} if loads else {}
    now_s = loads.generated_at if loads else None
    rows = []
    for entry in resources.instances:
        it = entry.resource
        reported_s = it.resource_reported_at
        rows.append(
            ResourceRow(
                id=entry.instance_id,
                host=entry.host,
                is_alive=alive.get(entry.instance_id),
                cpu_util=it.cpu_util,
                memory_util=percent_of(it.memory_used_mb, it.memory_total_mb),
                memory_used_mb=it.memory_used_mb,
                memory_total_mb=it.memory_total_mb,
                gpu_util=it.gpu_util_avg,
                gpu_util_current=it.gpu_util_current,
                gpu_util_max=it.gpu_util_max,
                gpu_memory_util=percent_of(it.gpu_mem_used_mb, it.gpu_mem_total_mb),
                gpu_memory_used_mb=it.gpu_mem_used_mb,
                gpu_memory_total_mb=it.gpu_mem_total_mb,
                gpu_sample_quality=it.gpu_sample_quality,
                gpu_sample_source=it.gpu_sample_source,
                gpu_sample_age_ms=it.gpu_sample_age_ms,
                network_rx_mbps=it.network_rx_mbps,
                network_tx_mbps=it.network_tx_mbps,
                admission_state=it.admission_state,
                report_age_s=(
                    None if now_s is None or reported_s is None else max(0.0, now_s - reported_s)
                ),
            )
        )
    return sorted(rows, key=lambda row: (row.is_alive is False, row.id))


def only_alive(rows: Iterable[ResourceRow]) -> list[ResourceRow]:
    """Leave out those that are known to have expired."""
    return [row for row in rows if row.is_alive is not False]


def _share(
    limits: Limits, read: Callable[[ResourceRow], float | None]
) -> dict[str, Callable[[ResourceRow], Any]]:
    text = marked_percent(limits)
    return {
        "text": lambda row: text(read(row)),
        "tone": lambda row: TONES[limits.level(read(row))],
    }


COLUMNS: tuple[Column[ResourceRow], ...] = (
    cast.word("id", "ID", "Name of the Instance.", gives_way=True, floor=NAME_FLOOR),
    cast.word("host", "HOST", "Where it is.", gives_way=True, rank=6),
    cast.yes("is_alive", "ALIVE", "Whether it was heard of within its time to live.", wide=True),
    cast.percent(
        "cpu_util", "CPU", "Use of all processors together.", source=_AGENT, unknown=_UNKNOWN
    ),
    cast.percent(
        "memory_util", "MEM", "Host memory in use.", source=_AGENT, unknown=_UNKNOWN,
        aliases=("memory",), **_share(RULES.mem, lambda row: row.memory_util),
    ),
    cast.memory(
        "memory_used_mb", "MEM-USED", "Host memory in use.", source=_AGENT, unknown=_UNKNOWN,
        wide=True,
    ),
    cast.memory(
        "memory_total_mb", "MEM-ALL", "Host memory.", source=_AGENT, unknown=_UNKNOWN, wide=True
    ),
    cast.percent(
        "gpu_util", "GPU", "Average use of its GPUs over the window.", source=_AGENT,
        unknown=_UNKNOWN, **_share(RULES.gpu, lambda row: row.gpu_util),
    ),
    cast.percent(
        "gpu_util_current", "GPU-NOW", "Use of its GPUs in the newest samples.", source=_AGENT,
        unknown=_UNKNOWN, wide=True,
    ),
    cast.percent(
        "gpu_util_max", "GPU-MAX", "The busiest sample of any of its GPUs.", source=_AGENT,
        unknown=_UNKNOWN, wide=True,
    ),
    cast.percent(
        "gpu_memory_util", "GPUMEM", "Memory of its GPUs in use.", source=_AGENT,
        unknown=_UNKNOWN, aliases=("gpu_mem",), rank=1,
    ),
    cast.memory(
        "gpu_memory_used_mb", "GPUMEM-USED", "Memory of its GPUs in use.", source=_AGENT,
        unknown=_UNKNOWN, wide=True,
    ),
    cast.memory(
        "gpu_memory_total_mb", "GPUMEM-ALL", "Memory of its GPUs.", source=_AGENT,
        unknown=_UNKNOWN, wide=True,
    ),
    cast.word(
        "gpu_sample_quality", "QUALITY", "How good the GPU's figures are; ok is good.",
        source=_AGENT, unknown=_UNKNOWN, rank=5,
    ),
    cast.word(
        "gpu_sample_source", "SOURCE", "Where the GPU's figures are from.", source=_AGENT,
        unknown=_UNKNOWN, wide=True,
    ),
    cast.latency(
        "gpu_sample_age_ms", "SAMPLE", "How old the newest GPU sample was when reported.",
        source=_AGENT, unknown=_UNKNOWN, wide=True,
    ),
    cast.bandwidth(
        "network_rx_mbps", "RX Mbps", "What its first interface receives.", source=_AGENT,
        unknown=_UNKNOWN, aliases=("rx",), rank=3,
    ),
    cast.bandwidth(
        "network_tx_mbps", "TX Mbps", "What its first interface sends.", source=_AGENT,
        unknown=_UNKNOWN, aliases=("tx",), rank=3,
    ),
    cast.word(
        "admission_state", "ADMISSION", "What the agent thinks of taking more work; only shown.",
        source=_AGENT, unknown=_UNKNOWN, aliases=("adm",), rank=2,
    ),
    cast.duration(
        "report_age_s", "AGE", "Time since the report came, to the second.",
        source="the Proxy's clock", unknown="No agent has reported for it.",
        aliases=("report",),
    ),
)  # fmt: skip

RESOURCES: Kind[ResourceRow] = Kind(
    name="resources",
    noun="hosts",
    columns=COLUMNS,
    name_of=lambda row: row.id,
    searched=lambda row: f"{row.id} {row.host}",
)
