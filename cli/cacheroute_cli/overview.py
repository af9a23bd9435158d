"""A Proxy and its pool at a glance, as one value and as a few lines.

What an older Proxy does not tell is None here and a dash on paper.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cacheroute.wire.debug import InstanceLoadsReply, PoolResourceReply, StatusReply
from cacheroute.wire.instances import InstanceRow
from cacheroute_cli.amounts import render_count, render_duration, render_ms
from cacheroute_cli.fleet import rows_of
from cacheroute_cli.tables import Line
from cacheroute_cli.text import UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What `cacheroute status` shows."""

    proxy_url: str
    proxy_id: str | None
    strategy: str | None
    version: str | None
    uptime_s: float | None
    ttl_s: int | None
    """Silence after which an Instance is no longer alive, in seconds."""
    alive: int
    stale: int
    """Lately lost: silent for more than one time to live, and for three at most."""
    dead: int
    accepting: int | None
    degraded: int | None
    rejecting: int | None
    admission_state: str | None
    admission_reason: str | None
    inflight: int | None
    qps_1m: float | None
    prepare_queue_depth: int | None
    ready_queue_depth: int | None
    backlog_max_ms: float | None
    backlog_max_id: str | None
    """The Instance that the longest backlog is at."""


def overview_of(
    *,
    status: StatusReply,
    pool: PoolResourceReply,
    entries: Iterable[InstanceRow],
    loads: InstanceLoadsReply,
    proxy_url: str,
) -> Overview:
    """Put together what the endpoints say."""
    states = [row.state for row in rows_of(entries, loads)]
    backlogs = [
        (load.predicted_total_backlog_ms, load.instance_id)
        for load in loads.instances
        if load.predicted_total_backlog_ms is not None and load.is_alive
    ]
    longest, longest_id = max(backlogs, default=(None, None))
    summary = pool.pool_resource
    return Overview(
        proxy_url=proxy_url,
        proxy_id=status.proxy_id or _text(summary, "proxy_id"),
        strategy=status.strategy,
        version=status.version,
        uptime_s=status.uptime_s,
        ttl_s=status.ttl_s,
        alive=states.count("alive"),
        stale=states.count("stale"),
        dead=states.count("dead"),
        accepting=_count(summary, "instances", "accepting"),
        degraded=_count(summary, "instances", "degraded"),
        rejecting=_count(summary, "instances", "rejecting"),
        admission_state=_text(summary, "pool_admission_state"),
        admission_reason=_text(summary, "pool_admission_reason"),
        inflight=_count(summary, "load", "inflight_total"),
        qps_1m=_number(summary, "load", "qps_1m_total"),
        prepare_queue_depth=_count(summary, "load", "prepare_queue_depth"),
        ready_queue_depth=_count(summary, "load", "ready_queue_depth"),
        backlog_max_ms=longest,
        backlog_max_id=longest_id,
    )


def _at(value: object, *path: str) -> object:
    """Follow keys through the pool's summary, whose shape differs between versions."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _number(value: object, *path: str) -> float | None:
    found = _at(value, *path)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def _count(value: object, *path: str) -> int | None:
    number = _number(value, *path)
    return None if number is None else int(number)


def _text(value: object, *path: str) -> str | None:
    found = _at(value, *path)
    return found if isinstance(found, str) else None


def lines_of(overview: Overview) -> list[Line]:
    """Write it down for people."""
    o = overview
    return [
        Line(
            label="proxy",
            facts=(
                o.proxy_id or UNKNOWN,
                o.proxy_url,
                *([f"up {render_duration(o.uptime_s)}"] if o.uptime_s is not None else []),
                *([o.strategy] if o.strategy else []),
                f"ttl {UNKNOWN if o.ttl_s is None else f'{o.ttl_s} s'}",
            ),
        ),
        Line(
            label="pool",
            facts=(
                f"{o.alive} alive · {o.stale} stale · {o.dead} dead",
                f"  accepting {render_count(o.accepting)}",
                f"degraded {render_count(o.degraded)}",
                f"rejecting {render_count(o.rejecting)}",
            ),
            tone="good" if o.alive else "bad",
        ),
        Line(
            label="load",
            facts=(
                f"inflight {render_count(o.inflight)}",
                f"{UNKNOWN if o.qps_1m is None else f'{o.qps_1m:.1f}'} req/s",
                f"prepare {render_count(o.prepare_queue_depth)}",
                f"ready {render_count(o.ready_queue_depth)}",
                _backlog(o),
            ),
        ),
        *[Line(label="", facts=(reason,)) for reason in _warnings(o)],
    ]


def _backlog(overview: Overview) -> str:
    at = f" ({overview.backlog_max_id})" if overview.backlog_max_id else ""
    return f"backlog max {render_ms(overview.backlog_max_ms)}{at}"


def _warnings(overview: Overview) -> list[str]:
    reason = overview.admission_reason
    is_fine = overview.admission_state in (None, "accepting")
    return [reason] if reason and not is_fine else []
