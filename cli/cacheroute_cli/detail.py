"""One Instance from every side: what `show` prints."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cacheroute.client.asks import instances as ask_instances
from cacheroute.client.control import ControlClient
from cacheroute.client.faults import NotUnderstood
from cacheroute.console.alerts import Alert, alerts_of
from cacheroute.console.amounts import (
    instant_of,
    render_clock,
    render_count,
    render_duration,
    render_number,
    render_percent,
    render_score,
    render_wait,
)
from cacheroute.console.cells import UNKNOWN
from cacheroute.console.lines import Line
from cacheroute.console.rows.decisions import DecisionRow, decision_rows
from cacheroute.console.rows.instances import FleetRow, rows_of
from cacheroute.console.rows.loads import LoadRow, load_rows
from cacheroute.console.rows.scores import ScoreRow, explained, score_rows
from cacheroute.console.rows.states import SIGNS, TONES
from cacheroute.console.rows.topology import LinkRow, link_rows
from cacheroute.wire import paths
from cacheroute_cli.asking import first_tokens, told
from cacheroute_cli.config.rules import rules_of
from cacheroute_cli.control import control_client
from cacheroute_cli.faults import no_such_instance
from cacheroute_cli.list_options import Watching
from cacheroute_cli.looking import look
from cacheroute_cli.output import json_text, print_text, stdout_is_terminal
from cacheroute_cli.views import LinesView

_SCHEMA = "cacheroute.instance/1"
_ASKED_DECISIONS = 200
_SHOWN_DECISIONS = 5


def show_instance(watching: Watching, instance_id: str, *, raw: bool) -> None:
    """Run the command."""
    if raw:
        _show_raw(watching, instance_id)
        return

    def fetch(client: ControlClient) -> LinesView:
        return _view(client, instance_id, watching)

    look(watching, fetch)


def _show_raw(watching: Watching, instance_id: str) -> None:
    context = watching.context
    with control_client(context) as client:
        entries = _raw_entries(client)
    found = [entry for entry in entries if entry.get("instance_id") == instance_id]
    if not found:
        raise no_such_instance(instance_id, [str(entry.get("instance_id")) for entry in entries])
    for_people = context.output in ("table", "wide") or (
        context.output is None and stdout_is_terminal()
    )
    print_text(json_text(found[0], indent=2 if for_people else None))


def _raw_entries(client: ControlClient) -> list[dict[str, Any]]:
    path = ask_instances(include_dead=True).path
    try:
        entries = json.loads(client.raw(path))
    except (ValueError, RecursionError) as problem:
        raise NotUnderstood(
            url=client.base_url + path, why=f"it is no JSON: {problem}"
        ) from problem
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise NotUnderstood(url=client.base_url + path, why="it is no list of Instances")
    return entries


def _view(client: ControlClient, instance_id: str, watching: Watching) -> LinesView:
    notes: list[str] = []
    entries = client.instances(include_dead=True)
    loads = told(notes, paths.DEBUG_INSTANCE_LOADS, client.loads)
    rows = rows_of(entries, loads)
    row = next((row for row in rows if row.id == instance_id), None)
    if row is None:
        raise no_such_instance(instance_id, [row.id for row in rows])
    load = next((one for one in load_rows(loads) if one.id == instance_id), None) if loads else None
    scores = score_rows(entries, loads) if loads else []
    score = next((one for one in scores if one.id == instance_id), None)
    topology = told(notes, paths.DEBUG_TOPOLOGY, client.topology)
    links = [link for link in link_rows(topology) if link.reported_by == row.id] if topology else []
    reply = told(notes, paths.DEBUG_DECISIONS, lambda: client.decisions(last=_ASKED_DECISIONS))
    decisions = [
        one for one in (decision_rows(reply) if reply else []) if one.instance_id == instance_id
    ][:_SHOWN_DECISIONS]
    alerts = [
        alert
        for alert in alerts_of(
            rows,
            rules=rules_of(watching.context.alerts),
            ttl_s=loads.ttl_s if loads else None,
            now=instant_of(loads.generated_at if loads else None),
            first_tokens=first_tokens(client, loads, []),
        )
        if alert.instance_id == instance_id
    ]
    content: Mapping[str, object] = {
        "context": watching.context.name,
        "proxy_url": watching.context.proxy_url,
        "instance": row,
        "load": load,
        "score": score,
        "links": links,
        "decisions": decisions,
        "alerts": alerts,
    }
    lines = [
        *_identity(row),
        *_alert_lines(alerts),
        *_load_lines(row, load),
        *_score_lines(score, scores),
        *_resource_lines(row),
        *_link_lines(links),
        *_decision_lines(decisions),
    ]
    return LinesView(lines=lines, schema=_SCHEMA, content=content, notes=notes)


def _identity(row: FleetRow) -> list[Line]:
    shown = row.shown
    models = UNKNOWN if row.models is None else " ".join(row.models) or "none"
    facts = (
        f"{SIGNS[shown]} {shown}",
        f"last seen {render_duration(row.age_s)} ago",
        row.origin or UNKNOWN,
        f"weight {render_number(row.weight)}",
    )
    lines = [
        Line(label="instance", facts=(row.id, row.address)),
        Line(label="state", facts=facts, tone=TONES[shown]),
        Line(label="models", facts=(models,)),
    ]
    if row.endpoints:
        lines.append(Line(label="paths", facts=tuple(row.endpoints)))
    if row.tags:
        lines.append(Line(label="tags", facts=tuple(row.tags)))
    return lines


def _load_lines(row: FleetRow, load: LoadRow | None) -> list[Line]:
    line = Line(
        label="load",
        facts=(
            f"inflight {render_count(row.inflight)}",
            f"{render_number(row.qps_1m)} req/s",
            f"backlog {render_wait(row.backlog_ms)}",
        ),
    )
    if load is None or load.ready_queue_depth is None:
        return [line]
    queues = (
        f"prepare {render_count(load.prepare_queue_depth)}+{render_count(load.active_prepare)}",
        f"ready {render_count(load.ready_queue_depth)}+{render_count(load.active_ready)}",
        f"prefill {render_count(load.pending_prefill_count)}",
        f"decode {render_count(load.active_decode_count)}",
        f"next slot in {render_wait(load.next_slot_ready_in_ms)}",
    )
    return [line, Line(label="queues", facts=queues)]


def _score_lines(score: ScoreRow | None, scores: Sequence[ScoreRow]) -> list[Line]:
    if score is None:
        return [Line(label="score", facts=(UNKNOWN,))]
    return explained(score, scores)


def _resource_lines(row: FleetRow) -> list[Line]:
    facts = (
        f"cpu {render_percent(row.cpu_util)}",
        f"mem {render_percent(row.memory_util)}",
        f"gpu {render_percent(row.gpu_util)}",
        f"gpu mem {render_percent(row.gpu_memory_util)}",
        f"rx {render_number(row.network_rx_mbps)} tx {render_number(row.network_tx_mbps)} Mbps",
        f"admission {row.admission_state or UNKNOWN}",
        f"reported {render_duration(row.report_age_s)} ago",
    )
    return [Line(label="resources", facts=facts)]


def _link_lines(links: Sequence[LinkRow]) -> list[Line]:
    return [
        Line(
            label="" if at else "links",
            facts=(
                link.kdn,
                f"{render_number(link.bandwidth_mbps)} Mbps",
                f"{render_number(link.latency_ms)} ms",
                *(["best"] if link.is_best else []),
            ),
        )
        for at, link in enumerate(links)
    ]


def _decision_lines(decisions: Sequence[DecisionRow]) -> list[Line]:
    return [
        Line(
            label="" if at else "requests",
            facts=(render_clock(one.at), one.request_id, f"cost {render_score(one.cost)}"),
        )
        for at, one in enumerate(decisions)
    ]


def _alert_lines(alerts: Sequence[Alert]) -> list[Line]:
    return [
        Line(label="" if at else "alerts", facts=(alert.message,), tone=alert.severity)
        for at, alert in enumerate(alerts)
    ]
