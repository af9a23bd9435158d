"""A Proxy and its pool at a glance, as one value and as a few lines.

What an older Proxy does not tell is None here and a dash on paper.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cacheroute.console.alerts import Alert, alerts_of
from cacheroute.console.amounts import (
    instant_of,
    render_count,
    render_duration,
    render_ms,
    render_ratio,
)
from cacheroute.console.cells import UNKNOWN
from cacheroute.console.columns import GAP, Tone
from cacheroute.console.first_tokens import FirstToken
from cacheroute.console.lines import Line
from cacheroute.console.nodes import failing_of
from cacheroute.console.queueing import Queueing, queueing_of, render_queue
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rows.loads import load_rows
from cacheroute.console.rules import RULES, Rules
from cacheroute.wire.queue_rules import QueueRules

if TYPE_CHECKING:
    from cacheroute.wire.debug import (
        InstanceLoadsReply,
        PoolResourceReply,
        SchedulerReply,
        StatusReply,
    )

_SHOWN_ALERTS = 5
_SHOWN_FULL = 2
_SIGNS = {"bad": "✕", "warn": "▲"}
_WORTH_A_LOOK = frozenset({"skew", "slow", "gpu", "mem", "backlog", "ejected", "kdn"})
_TONES: dict[str, Tone] = {"registered": "good", "registering": "plain"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What became of the knowledge that requests named, on the Instances of the pool."""

    kv_inject: int
    text_inject: int
    fallback: int
    """Requests that went on with less than was wanted."""
    prediction_error_p50_ratio: float | None
    """The median error of the predicted times to first token."""
    predictions: int
    """How many of them it is over, the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerLook:
    """How the Proxy stands with its Scheduler."""

    url: str | None
    state: str
    state_age_s: float | None
    heard_age_s: float | None
    """Since when no call has worked; None before the first."""
    last_error: str | None
    """What went wrong last; kept when all is well again."""


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
    queueing: Queueing | None
    """How full the queues of all that are alive are; None where the Proxy tells no loads."""
    queue_rules: QueueRules | None
    """None where the Proxy does not tell."""
    injection_strategy: str | None
    """Who chooses between text and KV."""
    backlog_max_ms: float | None
    backlog_max_id: str | None
    """The Instance that the longest backlog is at."""
    knowledge: Knowledge | None
    """None where the Proxy does not tell."""
    scheduler: SchedulerLook | None
    """None where none is configured."""
    draining: bool | None
    """Whether the Proxy ends, and takes nothing new; None where it does not tell."""
    alerts: tuple[Alert, ...]
    """What is out of order, the worst first."""


def overview_of(
    *,
    status: StatusReply,
    pool: PoolResourceReply | None,
    rows: Sequence[FleetRow],
    loads: InstanceLoadsReply | None,
    proxy_url: str,
    scheduler: SchedulerReply | None = None,
    rules: Rules = RULES,
    first_tokens: Mapping[str, FirstToken] | None = None,
) -> Overview:
    """Put together what the endpoints say; `rows` are all Instances, the dead ones too."""
    states = [row.state for row in rows]
    backlogs = [(row.backlog_ms, row.id) for row in rows if row.backlog_ms is not None]
    longest, longest_id = max(backlogs, default=(None, None))
    summary = pool.pool_resource if pool else {}
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
        queueing=None if loads is None else queueing_of(load_rows(loads)),
        queue_rules=None if loads is None else loads.queue_rules,
        injection_strategy=status.injection_strategy,
        backlog_max_ms=longest,
        backlog_max_id=longest_id,
        knowledge=_knowledge_of(status),
        scheduler=None if scheduler is None else _look_at(scheduler),
        # Nobody but our own Proxy tells its name here, and only that one tells this.
        draining=status.draining if status.proxy_id else None,
        alerts=tuple(
            alerts_of(
                rows,
                rules=rules,
                ttl_s=status.ttl_s,
                now=instant_of(loads.generated_at if loads else None),
                first_tokens=first_tokens or {},
                nodes=failing_of(status),
            )
        ),
    )


def _knowledge_of(status: StatusReply) -> Knowledge | None:
    counts, errors = status.knowledge, status.prediction_error
    if counts is None:
        return None
    return Knowledge(
        kv_inject=counts.kv_inject,
        text_inject=counts.text_inject,
        fallback=counts.fallback,
        prediction_error_p50_ratio=None if errors is None else errors.p50_ratio,
        predictions=0 if errors is None else errors.window,
    )


def _look_at(scheduler: SchedulerReply) -> SchedulerLook:
    return SchedulerLook(
        url=scheduler.url,
        state=scheduler.state,
        state_age_s=scheduler.state_age_s,
        heard_age_s=scheduler.heard_age_s,
        last_error=scheduler.last_error,
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
                _short(o.proxy_url),
                *([f"up {render_duration(o.uptime_s)}"] if o.uptime_s is not None else []),
                _how_it_routes(o),
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
        *[Line(label="", facts=(reason,)) for reason in _warnings(o)],
        Line(
            label="load",
            facts=(
                f"inflight {render_count(o.inflight)}",
                f"{UNKNOWN if o.qps_1m is None else f'{o.qps_1m:.1f}'} req/s",
                *queue_facts(o),
                _backlog(o),
            ),
        ),
        *_full_line(o.queueing),
        *_knowledge_line(o.knowledge),
        *_scheduler_line(o.scheduler),
        *_alert_lines(o.alerts),
        *_next_line(o),
    ]


def _how_it_routes(overview: Overview) -> str:
    """Say how it routes as one fact, which a narrow terminal moves as a whole."""
    ttl = UNKNOWN if overview.ttl_s is None else f"{overview.ttl_s} s"
    rules = overview.queue_rules
    release = None if rules is None else rules.release_policy
    modes = modes_in_force(overview.strategy, overview.injection_strategy, release)
    parts = (modes, "draining" if overview.draining else "", f"ttl {ttl}")
    return GAP.join(filter(None, parts))


def modes_in_force(strategy: str | None, injection: str | None, release: str | None) -> str:
    """Name the strategies in force: who routes, who injects, who is released."""
    return " · ".join(name for name in (strategy, injection, release) if name)


def queue_facts(overview: Overview) -> tuple[str, str]:
    """Write how full the pool is: `prepare 4/16` and `ready 9/32 +2`, with those that wait."""
    q = overview.queueing
    if q is None:
        waiting = (overview.prepare_queue_depth, overview.ready_queue_depth)
        prepare, ready = (render_queue(None, None, count) for count in waiting)
    else:
        prepare = render_queue(q.preparing, q.prepare_limit, q.waiting_to_prepare)
        ready = render_queue(q.released, q.ready_limit, q.waiting_ready)
    return f"prepare {prepare}", f"ready {ready}"


def _full_line(queueing: Queueing | None) -> list[Line]:
    full = () if queueing is None else queueing.full
    if not full:
        return []
    more = f" and {len(full) - _SHOWN_FULL} more" if len(full) > _SHOWN_FULL else ""
    names = ", ".join(full[:_SHOWN_FULL])
    return [Line(label="", facts=(f"queue full at {names}{more}",), tone="bad")]


def _short(url: str) -> str:
    """Write an address as `--proxy-url` takes it, so that the line of a default name has room."""
    return url.removeprefix("http://")


def _knowledge_line(knowledge: Knowledge | None) -> list[Line]:
    k = knowledge
    if k is None or not (k.kv_inject or k.text_inject or k.fallback or k.predictions):
        return []
    error = f"TTFT error p50 {render_ratio(k.prediction_error_p50_ratio)} of {k.predictions}"
    facts = (f"kv {k.kv_inject}", f"text {k.text_inject}", f"fallback {k.fallback}")
    return [Line(label="knowledge", facts=(*facts, *([error] if k.predictions else [])))]


def _scheduler_line(scheduler: SchedulerLook | None) -> list[Line]:
    s = scheduler
    if s is None:
        return []
    age = "" if s.state_age_s is None else f" for {render_duration(s.state_age_s)}"
    facts = [s.state + age, _short(s.url or UNKNOWN)]
    if s.state != "registered" and s.last_error:
        facts.append(s.last_error)
    elif s.heard_age_s is not None:
        facts.append(f"heard {render_duration(s.heard_age_s)} ago")
    return [Line(label="scheduler", facts=tuple(facts), tone=_TONES.get(s.state, "bad"))]


def _alert_lines(alerts: Sequence[Alert]) -> list[Line]:
    # That nobody is alive stands in the line of the pool.
    alerts = [alert for alert in alerts if alert.kind != "pool"]
    shown = [
        Line(
            label="" if at else "alerts",
            facts=(f"{_SIGNS[alert.severity]} {alert.kind:<8}{alert.message}",),
            tone=alert.severity,
        )
        for at, alert in enumerate(alerts[:_SHOWN_ALERTS])
    ]
    more = len(alerts) - len(shown)
    hidden = [Line(label="", facts=(f"{more} more: cacheroute alerts",))] if more else []
    return shown + hidden


def _next_line(overview: Overview) -> list[Line]:
    if not overview.alive and not overview.stale and not overview.dead:
        return [Line(label="next", facts=("cacheroute instance start",))]
    worst = next((alert for alert in overview.alerts if alert.kind in _WORTH_A_LOOK), None)
    if worst is None:
        return []
    command = "topology" if worst.instance_id is None else f"show {worst.instance_id}"
    return [Line(label="next", facts=(f"cacheroute {command}",))]


def _backlog(overview: Overview) -> str:
    at = f" ({overview.backlog_max_id})" if overview.backlog_max_id else ""
    return f"backlog max {render_ms(overview.backlog_max_ms)}{at}"


def _warnings(overview: Overview) -> list[str]:
    reason = overview.admission_reason
    is_fine = overview.admission_state in (None, "accepting")
    return [reason] if reason and not is_fine and not _ONLY_COUNTS.fullmatch(reason) else []


_ONLY_COUNTS = re.compile(
    r"Of \d+ alive: \d+ (accepting|degraded|rejecting)(, \d+ (accepting|degraded|rejecting))*\."
)
"""A reason that says no more than the line above it."""
