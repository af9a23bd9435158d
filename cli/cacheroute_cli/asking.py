"""What each list asks of a control plane, and what it makes of a Proxy that tells less.

A page that a published Proxy does not have costs its columns, not the command: they are
unknown, and a note says why.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cacheroute.client.ask import Ask
from cacheroute.client.control import ControlClient
from cacheroute.client.faults import NotUnderstood, Refused
from cacheroute.console.rules import RULES, Rules
from cacheroute.wire import paths
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.faults import no_such_proxy

if TYPE_CHECKING:
    from cacheroute.console.first_tokens import FirstToken
    from cacheroute.wire.debug import InstanceLoadsReply

T = TypeVar("T")
R = TypeVar("R")

_NO_SUCH_PAGE = frozenset({404, 405, 501})
_JUDGED_TRACES = 500
"""Requests that times to first token are told from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a list was asked for, beyond the options of all lists."""

    all: bool = False
    """Those that have expired as well."""
    last: int = 20
    """How many decisions, or requests."""
    slow_s: float | None = None
    """Only requests that took longer."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Of a what-if; empty is none."""
    id: str | None = None
    """The one Instance that is meant."""
    scheduler_url: str | None = None
    """The Scheduler to ask; None asks the Proxy."""
    scheduler_path: str | None = None
    """Where it lists its Proxies; None is the usual path."""
    proxy_id: str | None = None
    """The one Proxy that is meant of those it lists; None is all of them."""
    rules: Rules = RULES
    """Thresholds of alerts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Generic[R]):
    """What was told."""

    rows: Sequence[R]
    notes: Sequence[str] = ()
    now: datetime | None = None
    """The Proxy's clock, where a watch needs it to tell since when."""


def told(notes: list[str], page: str, ask: Callable[[], T]) -> T | None:
    """Ask for a page that may be missing; None and a note where it is."""
    try:
        return ask()
    except Refused as fault:
        if fault.status not in _NO_SUCH_PAGE:
            raise
        notes.append(f"this Proxy has no {page}: what it would tell is unknown")
    except NotUnderstood as fault:
        notes.append(f"{page} is not understood ({fault.why}): what it would tell is unknown")
    return None


def instances(client: ControlClient, wanted: Wanted) -> Found[Any]:
    """Ask for the pool and its loads."""
    from cacheroute.console.rows.instances import rows_of

    notes: list[str] = []
    entries = client.instances(include_dead=wanted.all)
    loads = told(notes, paths.DEBUG_INSTANCE_LOADS, client.loads)
    return Found(rows=rows_of(entries, loads), notes=notes)


def loads(client: ControlClient, wanted: Wanted) -> Found[Any]:
    """Ask for the loads."""
    from cacheroute.console.rows.loads import load_rows, only_alive

    rows = load_rows(client.loads())
    return Found(rows=rows if wanted.all else only_alive(rows))


def queues(client: ControlClient, wanted: Wanted) -> Found[Any]:
    """Ask for the loads, for their queues."""
    from cacheroute.console.rows.loads import only_alive
    from cacheroute.console.rows.queues import queue_rows

    rows = queue_rows(client.loads())
    rows = rows if wanted.all else only_alive(rows)
    is_quiet = bool(rows) and all(row.ready_queue_depth is None for row in rows)
    notes = ["nothing queues at this Proxy: its figures are unknown"] if is_quiet else []
    return Found(rows=rows, notes=notes)


def resources(client: ControlClient, wanted: Wanted) -> Found[Any]:
    """Ask for the hosts, and for the time they are told at."""
    from cacheroute.console.rows.resources import only_alive, resource_rows

    notes: list[str] = []
    reply = client.resources(include_dead=True)
    rows = resource_rows(reply, told(notes, paths.DEBUG_INSTANCE_LOADS, client.loads))
    return Found(rows=rows if wanted.all else only_alive(rows), notes=notes)


def topology(client: ControlClient, wanted: Wanted) -> Found[Any]:  # noqa: ARG001
    """Ask for all links, or else for the best ones."""
    from cacheroute.console.rows.topology import best_link_rows, link_rows

    notes: list[str] = []
    reply = told(notes, paths.DEBUG_TOPOLOGY, client.topology)
    if reply is not None:
        return Found(rows=link_rows(reply))
    return Found(rows=best_link_rows(client.kdn_links()), notes=notes)


def scores(client: ControlClient, wanted: Wanted) -> Found[Any]:
    """Ask for the pool and its loads, for their scores; a weight of no signal is a UsageFault."""
    from cacheroute.console.rows.scores import UnknownSignal, score_rows, what_if

    rows = score_rows(client.instances(include_dead=True), client.loads())
    if wanted.weights:
        try:
            rows = what_if(rows, wanted.weights)
        except UnknownSignal as problem:
            raise UsageFault(f"--what-if: {problem}") from None
    notes = ["what-if is worked out here; nothing changes at the Proxy"] if wanted.weights else []
    return Found(rows=rows, notes=notes)


def decisions(client: ControlClient, wanted: Wanted) -> Found[Any]:
    """Ask for the last decisions."""
    from cacheroute.console.rows.decisions import decision_rows

    notes: list[str] = []
    reply = told(notes, paths.DEBUG_DECISIONS, lambda: client.decisions(last=wanted.last))
    return Found(rows=decision_rows(reply) if reply else [], notes=notes)


def traces(client: ControlClient, wanted: Wanted) -> Found[Any]:
    """Ask for the last requests."""
    from cacheroute.console.rows.traces import slower_than, trace_rows

    notes: list[str] = []
    reply = told(notes, paths.DEBUG_TRACES, lambda: client.traces(last=wanted.last))
    rows = trace_rows(reply) if reply else []
    return Found(
        rows=rows if wanted.slow_s is None else slower_than(rows, wanted.slow_s), notes=notes
    )


def scheduler(client: ControlClient, wanted: Wanted) -> Found[Any]:
    """Ask the Proxy how it stands with its Scheduler, or a Scheduler whom it knows.

    Raises NoSuchProxy when it does not know the one that is meant.
    """
    from cacheroute.console.rows.scheduler import row_of_proxy, rows_of_scheduler
    from cacheroute.wire.scheduler import ProxyRow

    if wanted.scheduler_url is not None:
        with ControlClient(wanted.scheduler_url) as its:
            path = wanted.scheduler_path or paths.PROXY_LIST
            proxies = its.ask(Ask(path=path, reply=list[ProxyRow]))
        rows = rows_of_scheduler(proxies, wanted.scheduler_url)
        if wanted.proxy_id is None or wanted.all:
            return Found(rows=rows)
        mine = [row for row in rows if row.proxy_id == wanted.proxy_id]
        if not mine:
            known = [row.proxy_id or "" for row in rows]
            raise no_such_proxy(wanted.proxy_id, wanted.scheduler_url, known)
        others = f"{len(rows) - 1} more with --all" if len(rows) > 1 else ""
        notes = [f"only {wanted.proxy_id}, as PROXY_ID says: {others}"] if others else []
        return Found(rows=mine, notes=notes)
    notes = []
    reply = told(notes, paths.DEBUG_SCHEDULER, client.scheduler)
    return Found(rows=[row_of_proxy(reply)] if reply else [], notes=notes)


def alerts(client: ControlClient, wanted: Wanted) -> Found[Any]:
    """Ask for the pool, its loads and the knowledge nodes that fail, and judge them."""
    from cacheroute.console.alerts import alerts_of
    from cacheroute.console.amounts import instant_of
    from cacheroute.console.nodes import failing_of
    from cacheroute.console.rows.instances import rows_of

    notes: list[str] = []
    entries = client.instances(include_dead=True)
    loads = told(notes, paths.DEBUG_INSTANCE_LOADS, client.loads)
    status = told(notes, paths.DEBUG_STATUS, client.status)
    found = alerts_of(
        rows_of(entries, loads),
        rules=wanted.rules,
        ttl_s=loads.ttl_s if loads else None,
        now=instant_of(loads.generated_at if loads else None),
        first_tokens=first_tokens(client, loads, notes),
        nodes=failing_of(status) if status else (),
    )
    return Found(rows=found, notes=notes)


def first_tokens(
    client: ControlClient, loads: "InstanceLoadsReply | None", notes: list[str]
) -> Mapping[str, "FirstToken"]:
    """Ask for the last requests, for how slow each Instance is; empty where nobody tells."""
    from cacheroute.console.first_tokens import first_tokens_of
    from cacheroute.console.rows.traces import trace_rows

    if loads is None:
        return {}
    ask = partial(client.traces, last=_JUDGED_TRACES)
    reply = told(notes, paths.DEBUG_TRACES, ask)
    return {} if reply is None else first_tokens_of(trace_rows(reply), now_s=loads.generated_at)


ASKERS: Mapping[str, Callable[[ControlClient, Wanted], Found[Any]]] = {
    "instances": instances,
    "loads": loads,
    "resources": resources,
    "queues": queues,
    "topology": topology,
    "scores": scores,
    "decisions": decisions,
    "traces": traces,
    "scheduler": scheduler,
    "alerts": alerts,
}
"""By the name of the list's kind."""

FOLLOWED: Mapping[str, str] = {"decisions": "seq", "traces": "seq"}
"""Lists that grow, and the number by which what is new is told from what was seen."""


def overview(client: ControlClient, proxy_url: str, rules: Rules = RULES) -> Any:
    """Ask for everything that `status` shows; returns it with its rows and the notes."""
    from cacheroute.console.overview import overview_of
    from cacheroute.console.rows.instances import rows_of

    notes: list[str] = []
    status = client.status()
    pool = told(notes, paths.DEBUG_POOL_RESOURCE, client.pool)
    entries = client.instances(include_dead=True)
    loads = told(notes, paths.DEBUG_INSTANCE_LOADS, client.loads)
    is_scheduled = status.scheduler_state not in (None, "off")
    rows = rows_of(entries, loads)
    found = overview_of(
        status=status,
        pool=pool,
        rows=rows,
        loads=loads,
        proxy_url=proxy_url,
        rules=rules,
        # Where nobody tells, nothing is missing from what `status` shows.
        first_tokens=first_tokens(client, loads, []),
        scheduler=told(notes, paths.DEBUG_SCHEDULER, client.scheduler) if is_scheduled else None,
    )
    return found, rows, notes
