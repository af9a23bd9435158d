"""What an operator sees of a pool: one row for each Instance, in a useful order.

Joined from the published list and the published loads, so any Proxy that speaks the protocol
can be looked at. Ages are counted by the Proxy's clock; ours may be wrong.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cacheroute.wire.debug import InstanceLoadRow, InstanceLoadsReply
from cacheroute.wire.instances import InstanceRow
from cacheroute_cli.amounts import render_count, render_duration, render_percent, render_score
from cacheroute_cli.tables import Column, Tone
from cacheroute_cli.text import UNKNOWN

State = Literal["alive", "stale", "dead"]

SIGNS: dict[str, str] = {"alive": "●", "drain": "■", "ejected": "▲", "stale": "◐", "dead": "✕"}
_TONES: dict[str, Tone] = {"alive": "good", "dead": "bad"}
_RANKS: dict[State, int] = {"alive": 0, "stale": 1, "dead": 2}
_STALE_TTLS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRow:
    """One Instance; what nobody knows is None."""

    id: str
    address: str
    state: State
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
    age_s: float
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


def rows_of(entries: Iterable[InstanceRow], loads: InstanceLoadsReply) -> list[FleetRow]:
    """Join what is known of each Instance; alive ones first, the least loaded on top."""
    load_of = {load.instance_id: load for load in loads.instances}
    rows = [_row(entry, load_of.get(entry.instance_id), loads) for entry in entries]
    return sorted(rows, key=_order)


def state_of(entry: InstanceRow, *, age_s: float, ttl_s: int) -> State:
    """Tell alive, stale and dead apart, also for a Proxy that only tells alive from not."""
    if entry.is_alive:
        return "alive"
    if entry.state in ("stale", "dead"):
        return "stale" if entry.state == "stale" else "dead"
    return "stale" if age_s <= _STALE_TTLS * ttl_s else "dead"


def _row(entry: InstanceRow, load: InstanceLoadRow | None, loads: InstanceLoadsReply) -> FleetRow:
    age_s = entry.age_s
    if age_s is None:
        age_s = max(0.0, loads.generated_at - entry.last_seen_at)
    resource = entry.resource
    gpu_util = entry.load.gpu_util if resource.gpu_util_avg is None else resource.gpu_util_avg
    host = f"[{entry.host}]" if ":" in entry.host else entry.host
    return FleetRow(
        id=entry.instance_id,
        address=f"{host}:{entry.port}{entry.base_path or ''}",
        state=state_of(entry, age_s=age_s, ttl_s=loads.ttl_s),
        inflight=entry.load.inflight if load is None else load.inflight,
        qps_1m=entry.load.qps_1m if load is None else load.qps_1m,
        score=None if load is None else load.least_load_score.total,
        cpu_util=resource.cpu_util,
        memory_util=_percent(resource.memory_used_mb, resource.memory_total_mb),
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
    )


def _percent(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else 100 * part / whole


def _order(row: FleetRow) -> tuple[int, float, str]:
    score = row.score if row.state == "alive" and row.score is not None else float("inf")
    return (_RANKS[row.state], score, row.id)


def _now(row: FleetRow, text: str) -> str:
    """Show a measure only of an Instance that is alive: an old one says nothing about now."""
    return text if row.state == "alive" else UNKNOWN


def _state_text(row: FleetRow) -> str:
    if row.state == "alive" and row.draining:
        return "drain"
    return "ejected" if row.state == "alive" and row.ejected_for_s > 0 else row.state


def _sign(row: FleetRow) -> str:
    return SIGNS[_state_text(row)]


def _tone(row: FleetRow) -> Tone:
    return _TONES.get(_state_text(row), "warn")


COLUMNS: tuple[Column[FleetRow], ...] = (
    Column(
        key="sign",
        header=" ",
        text=_sign,
        tone=_tone,
        doc="The state as a sign.",
    ),
    Column(
        key="id",
        header="ID",
        text=lambda row: row.id,
        gives_way=True,
        gap=" ",
        doc="Name of the Instance.",
    ),
    Column(
        key="address",
        header="ADDRESS",
        text=lambda row: row.address,
        gives_way=True,
        doc="Where its data plane is.",
    ),
    Column(
        key="state",
        header="STATE",
        text=_state_text,
        tone=_tone,
        doc="alive, stale (silent for up to three times its time to live) or dead; of those "
        "alive, drain (takes no new work) or ejected (failed lately, and rests).",
    ),
    Column(
        key="inflight",
        header="INFL",
        text=lambda row: render_count(row.inflight),
        right=True,
        doc="Requests it works on, counted by the Proxy.",
    ),
    Column(
        key="score",
        header="SCORE",
        text=lambda row: _now(row, render_score(row.score)),
        right=True,
        doc="What least_load compares; lower wins.",
    ),
    Column(
        key="cpu_util",
        header="CPU",
        text=lambda row: _now(row, render_percent(row.cpu_util)),
        right=True,
        doc="Processor use of its host.",
    ),
    Column(
        key="memory_util",
        header="MEM",
        text=lambda row: _now(row, render_percent(row.memory_util)),
        right=True,
        doc="Memory use of its host.",
    ),
    Column(
        key="gpu_util",
        header="GPU",
        text=lambda row: _now(row, render_percent(row.gpu_util)),
        right=True,
        doc="Average use of its GPUs.",
    ),
    Column(
        key="age_s",
        header="AGE",
        text=lambda row: render_duration(row.age_s),
        right=True,
        doc="Time since it was last heard of.",
    ),
)
