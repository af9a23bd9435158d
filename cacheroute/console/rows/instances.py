"""What an operator sees of a pool: one row for each Instance, in a useful order.

Joined from the published list and the published loads, so any Proxy that speaks the protocol
can be looked at. Ages are counted by the Proxy's clock; ours may be wrong. Of an Instance
that is not alive no measure is known: an old one says nothing about now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cacheroute.console import cast
from cacheroute.console.amounts import render_percent
from cacheroute.console.columns import NAME_FLOOR, Column, Kind, Tone
from cacheroute.console.rows.states import (
    RANKS,
    SIGNS,
    STATE_DOC,
    TONES,
    Liveness,
    Shown,
    liveness_of,
    shown_state,
)
from cacheroute.console.rules import RULES, Limits
from cacheroute.console.rules import TONES as TONES_OF_LEVEL

if TYPE_CHECKING:
    from cacheroute.wire.debug import InstanceLoadRow, InstanceLoadsReply
    from cacheroute.wire.instances import InstanceRow

_AGENT = "the host's agent, in its last report"
_PROXY = "counted by the Proxy"
_QUEUES = "the queues of the Proxy"
_NOT_REPORTED = "Its agent has not reported it, or the Instance is not alive; it is not 0."
_NOT_QUEUED = "Nothing queues for it, or the Proxy does not say; it is not 0."


# Nobody changes one. Frozen, or to be given by name alone, a thousand of them would take three
# times as long, and a screen makes them anew each second.
@dataclass(slots=True)
class FleetRow:
    """One Instance; what nobody knows is None."""

    id: str
    address: str
    state: Liveness
    inflight: int | None
    """Requests it works on, counted by the Proxy."""
    qps_1m: float | None
    score: float | None
    """What least_load compares; lower wins."""
    cpu_util: float | None
    """Percent, as the two below."""
    memory_util: float | None
    gpu_util: float | None
    admission_state: str | None
    age_s: float | None
    """Since it was last heard of."""
    weight: float
    origin: str | None
    """`registered` or `static`."""
    draining: bool
    ejected_for_s: float
    """How much longer health keeps it out of the choice."""
    models: list[str] | None
    endpoints: list[str]
    tags: list[str]
    gpu_memory_util: float | None
    """Percent."""
    network_rx_mbps: float | None
    network_tx_mbps: float | None
    report_age_s: float | None
    """Since its last resource report, to the second."""
    prepare_queue_depth: int | None
    ready_queue_depth: int | None
    pending_prefill_count: int | None
    active_decode_count: int | None
    backlog_ms: float | None
    """What a new request would wait, as predicted."""
    clock_skew_ms: int | None
    """How far its host's clock is ahead of the Proxy's."""
    unanswered_s: float | None
    """How long it has answered nothing while requests wait; None while none waits for long."""

    @property
    def shown(self) -> Shown:
        """Its state in the one word that matters most."""
        # In this order, since it is asked for some thousand times a look.
        if self.draining or self.ejected_for_s:
            return shown_state(self.state, draining=self.draining, ejected_for_s=self.ejected_for_s)
        if self.origin == "static" and self.state == "alive" and self._is_past_probes:
            return "silent"
        return self.state

    @property
    def _is_past_probes(self) -> bool:
        # One from the settings never expires: its age is all there is to tell that it is away.
        return self.age_s is not None and self.age_s > RULES.probe_s


def rows_of(entries: Iterable[InstanceRow], loads: InstanceLoadsReply | None) -> list[FleetRow]:
    """Join what is known of each Instance; alive ones first, the least loaded on top."""
    load_of = {load.instance_id: load for load in loads.instances} if loads else {}
    return in_fleet_order(_row(entry, load_of.get(entry.instance_id), loads) for entry in entries)


def in_fleet_order(rows: Iterable[FleetRow]) -> list[FleetRow]:
    """Sort them: alive ones first, the least loaded on top."""
    return sorted(rows, key=_order)


def address_of(entry: InstanceRow) -> str:
    """Write where an Instance is as URLs have it."""
    return address_in(entry.host, entry.port, entry.base_path or "")


def address_in(host: str, port: int, base_path: str) -> str:
    """Write an address as URLs have it."""
    return f"[{host}]:{port}{base_path}" if ":" in host else f"{host}:{port}{base_path}"


def _row(
    entry: InstanceRow, load: InstanceLoadRow | None, loads: InstanceLoadsReply | None
) -> FleetRow:
    # These models take a tenth of a second to load, and whoever has an entry has them already.
    from cacheroute.wire.instances import LoadRow, ResourceRow

    now_s = None if loads is None else loads.generated_at
    age_s = entry.age_s if entry.age_s is not None else _since(entry.last_seen_at, now_s)
    state = liveness_of(
        is_alive=entry.is_alive,
        said=entry.state,
        age_s=age_s,
        ttl_s=None if loads is None else loads.ttl_s,
    )
    is_alive = state == "alive"
    resource = entry.resource if is_alive else ResourceRow()
    beat = entry.load if is_alive else LoadRow(inflight=entry.load.inflight)
    queued = load if is_alive and load is not None else None
    gpu_util = beat.gpu_util if resource.gpu_util_avg is None else resource.gpu_util_avg
    return FleetRow(
        id=entry.instance_id,
        address=address_of(entry),
        state=state,
        inflight=entry.load.inflight if load is None else load.inflight,
        qps_1m=beat.qps_1m if queued is None else queued.qps_1m,
        score=queued.least_load_score.total if queued else None,
        cpu_util=resource.cpu_util,
        memory_util=percent_of(resource.memory_used_mb, resource.memory_total_mb),
        gpu_util=gpu_util,
        admission_state=resource.admission_state,
        age_s=age_s,
        weight=entry.weight,
        origin=entry.origin,
        draining=entry.draining,
        ejected_for_s=entry.ejected_for_s,
        models=entry.models,
        endpoints=entry.endpoints,
        tags=entry.tags,
        gpu_memory_util=percent_of(resource.gpu_mem_used_mb, resource.gpu_mem_total_mb),
        network_rx_mbps=resource.network_rx_mbps,
        network_tx_mbps=resource.network_tx_mbps,
        report_age_s=_since(entry.resource.resource_reported_at, now_s),
        prepare_queue_depth=queued.prepare_queue_depth if queued else None,
        ready_queue_depth=queued.ready_queue_depth if queued else None,
        pending_prefill_count=queued.pending_prefill_count if queued else None,
        active_decode_count=queued.active_decode_count if queued else None,
        backlog_ms=queued.predicted_total_backlog_ms if queued else None,
        clock_skew_ms=entry.clock_skew_ms,
        unanswered_s=entry.unanswered_s,
    )


def percent_of(part: float | None, whole: float | None) -> float | None:
    """Return a share in percent; None when either is unknown or there is no whole."""
    return None if part is None or not whole else 100 * part / whole


def _since(then_s: float | None, now_s: float | None) -> float | None:
    return None if then_s is None or now_s is None else max(0.0, now_s - then_s)


def _order(row: FleetRow) -> tuple[int, float, str]:
    rank = {"alive": 0, "stale": 1, "dead": 2}[row.state]
    return (rank, float("inf") if row.score is None else row.score, row.id)


def marked_percent(limits: Limits) -> Callable[[float | None], str]:
    """Write a share in percent, with a `!` where it is past the upper threshold."""

    def text(value: float | None) -> str:
        return render_percent(value) + ("!" if limits.level(value) == "bad" else "")

    return text


_gpu_text, _mem_text = marked_percent(RULES.gpu), marked_percent(RULES.mem)


def _state_text(row: FleetRow) -> str:
    # How many requests it still has is what one waits for.
    return f"drain {row.inflight}" if row.shown == "drain" and row.inflight else row.shown


def _state_tone(row: FleetRow) -> Tone:
    return TONES[row.shown]


COLUMNS: tuple[Column[FleetRow], ...] = (
    Column(
        key="sign",
        header=" ",
        text=lambda row: SIGNS[row.shown],
        value=lambda row: SIGNS[row.shown],
        tone=_state_tone,
        doc="The state as a sign.",
        width=1,
        ages=True,
    ),
    Column(
        key="id",
        header="ID",
        text=lambda row: row.id,
        gives_way=True,
        floor=NAME_FLOOR,
        gap=" ",
        doc="Name of the Instance.",
        source="its registration, or the settings",
    ),
    Column(
        key="address",
        header="ADDRESS",
        text=lambda row: row.address,
        gives_way=True,
        rank=5,
        doc="Where its data plane is.",
        source="its registration, or the settings",
    ),
    Column(
        key="state",
        header="STATE",
        text=_state_text,
        value=lambda row: row.shown,
        # One that drains is alive all the same.
        matched=lambda row: (row.shown, row.state),
        order=lambda row: RANKS[row.shown],
        tone=_state_tone,
        doc=STATE_DOC,
        source="the time since its last heartbeat, or probe, by the Proxy's clock",
        width=7,
        ages=True,
    ),
    cast.count(
        "inflight", "INFL", "Requests it works on.", source=_PROXY, aliases=("load",), width=4
    ),
    cast.score(
        "score",
        "SCORE",
        "What least_load compares; lower wins.",
        source="the Proxy: signals times weights, divided by the Instance's weight",
        unknown="It has no known signals, its weight is 0, or it is not alive.", lacks=True,
        width=6,
    ),
    cast.percent(
        "cpu_util", "CPU", "Processor use of its host.", source=_AGENT, unknown=_NOT_REPORTED,
        rank=3, width=4,
    ),
    cast.percent(
        "memory_util",
        "MEM",
        "Memory use of its host.",
        text=lambda row: _mem_text(row.memory_util),
        tone=lambda row: TONES_OF_LEVEL[RULES.mem.level(row.memory_util)],
        source=_AGENT,
        unknown=_NOT_REPORTED,
        aliases=("memory",),
        rank=2,
        width=4,
    ),
    cast.percent(
        "gpu_util",
        "GPU",
        "Average use of its GPUs.",
        text=lambda row: _gpu_text(row.gpu_util),
        tone=lambda row: TONES_OF_LEVEL[RULES.gpu.level(row.gpu_util)],
        source=f"{_AGENT}, or else its heartbeat",
        unknown=_NOT_REPORTED,
        rank=1,
        width=4,
    ),
    cast.duration(
        "age_s", "AGE", "Time since it was last heard of.",
        source="the Proxy's clock", unknown="The Proxy does not say what time it has.", width=5,
    ),
    cast.count(
        "prepare_queue_depth", "PREP", "Requests that wait to be prepared.",
        source=_QUEUES, unknown=_NOT_QUEUED, lacks=True, aliases=("prepare",), spare=True,
    ),
    cast.count(
        "ready_queue_depth", "READY", "Requests that are prepared and wait to be released.",
        source=_QUEUES, unknown=_NOT_QUEUED, lacks=True, aliases=("rdy",), spare=True,
    ),
    cast.wait(
        "backlog_ms", "BACKLOG", "What a new request would wait.",
        source="predicted by the Proxy", unknown=_NOT_QUEUED, lacks=True, spare=True,
    ),
    cast.word(
        "admission_state", "ADMISSION", "What its agent thinks of taking more work; only shown.",
        source=_AGENT, unknown=_NOT_REPORTED, aliases=("adm",), wide=True,
    ),
    cast.rate(
        "qps_1m", "QPS", "Requests a second over the last minute.", source="its heartbeat",
        wide=True,
    ),
    cast.count(
        "pending_prefill_count", "PFIL", "Requests there whose first token is still to come.",
        source=_QUEUES, unknown=_NOT_QUEUED, lacks=True, aliases=("prefill",), wide=True,
    ),
    cast.count(
        "active_decode_count", "DEC", "Requests there that are past their first token.",
        source=_QUEUES, unknown=_NOT_QUEUED, lacks=True, aliases=("decode",), wide=True,
    ),
    cast.percent(
        "gpu_memory_util", "GPUMEM", "Memory use of its GPUs.", source=_AGENT,
        unknown=_NOT_REPORTED, aliases=("gpu_mem",), wide=True,
    ),
    cast.bandwidth(
        "network_rx_mbps", "RX Mbps", "What its host receives.", source=_AGENT,
        unknown=_NOT_REPORTED, aliases=("rx",), wide=True,
    ),
    cast.bandwidth(
        "network_tx_mbps", "TX Mbps", "What its host sends.", source=_AGENT,
        unknown=_NOT_REPORTED, aliases=("tx",), wide=True,
    ),
    cast.duration(
        "report_age_s", "REPORT", "Time since its agent's last report, to the second.",
        source="the Proxy's clock", unknown="No agent has reported for it.", wide=True,
    ),
    cast.number("weight", "WEIGHT", "Its share of the traffic; 0 takes none.", wide=True),
    cast.word(
        "origin", "ORIGIN", "registered by itself, or static: from the settings.", wide=True
    ),
    cast.words(
        "models", "MODELS", "What it serves.", source="its registration, or /v1/models",
        aliases=("model",), wide=True,
    ),
    cast.words(
        "endpoints", "ENDPOINTS", "The paths it serves; none is all.", aliases=("endpoint",),
        wide=True,
    ),
    cast.words("tags", "TAGS", "Words it was registered with.", aliases=("tag",), wide=True),
    cast.yes("draining", "DRAINING", "Whether it takes no new work.", wide=True),
    cast.duration(
        "ejected_for_s", "EJECTED", "How much longer health keeps it out of the choice.",
        wide=True,
    ),
    cast.duration(
        "unanswered_s", "HUNG", "How long it has answered nothing while requests wait for it.",
        source="the Proxy", unknown="No request has waited for an answer of its for 5 s.",
        aliases=("hung",), wide=True,
    ),
)  # fmt: skip

INSTANCES = Kind(
    name="instances",
    noun="Instances",
    columns=COLUMNS,
    name_of=lambda row: row.id,
    searched=lambda row: f"{row.id} {row.address} {' '.join(row.tags)}",
)
