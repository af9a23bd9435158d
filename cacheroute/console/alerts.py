"""What is out of order in a pool, each finding with its value and the threshold it is past.

Skew is told against the median: one Instance that has much is no fault of those with little.
Slowness is told against the median of the others that serve the same models.
Of several at once the worst comes first.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from cacheroute.console.amounts import (
    render_duration,
    render_ms,
    render_number,
    render_percent,
    render_wait,
)
from cacheroute.console.first_tokens import FirstToken
from cacheroute.console.nodes import Node
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rules import Limits, Rules

AlertKind = Literal[
    "pool",
    "dead",
    "stale",
    "ejected",
    "probe",
    "hung",
    "skew",
    "slow",
    "gpu",
    "mem",
    "report",
    "backlog",
    "kdn",
]
Severity = Literal["bad", "warn"]
AlertKey = tuple[AlertKind, str | None]
"""What makes a finding the same as one before: its kind, and whom it is about."""

ORDER: Mapping[Severity, int] = {"bad": 0, "warn": 1}
"""The worst comes first."""
FEWEST_REQUESTS = 20
"""Requests that a TTFT p95 must be told from; of fewer it is the slowest of them."""
SLOWER_MS = 50
"""How much longer a TTFT p95 must be at least: of two short times the ratio is chance."""
ASKED_LATELY_S = 600
"""What was seen of a knowledge node longer ago says nothing about now."""
_FEWEST_TO_COMPARE = 2
_NOBODY_TOLD: Mapping[str, FirstToken] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One finding."""

    kind: AlertKind
    severity: Severity
    instance_id: str | None
    """None when it is about the pool as a whole, or a knowledge node."""
    message: str
    value: float | None
    threshold: float | None
    unit: str
    since: datetime | None
    """None when it is not known since when."""
    node: str | None = None
    """The knowledge node it is about, if it is about one."""

    @property
    def key(self) -> AlertKey:
        """What makes it the same finding as one before."""
        return (self.kind, self.about)

    @property
    def about(self) -> str | None:
        """The name of the Instance or the knowledge node; None when it is the pool as a whole."""
        return self.instance_id or self.node

    def later(self, passed_s: float) -> "Alert":
        """Return it as it reads so many seconds later, if nothing but the time has moved."""
        write = _AGES.get(self.kind)
        if write is None or self.value is None or not passed_s:
            return self
        age_s = self.value + passed_s
        return replace(self, value=age_s, message=write(self.about, age_s, self.threshold))


def alerts_of(
    rows: Sequence[FleetRow],
    *,
    rules: Rules,
    ttl_s: int | None,
    now: datetime | None,
    first_tokens: Mapping[str, FirstToken] = _NOBODY_TOLD,
    nodes: Iterable[Node] = (),
) -> list[Alert]:
    """Judge the rows and the knowledge nodes, the worst first.

    `now` is the Proxy's clock, and times to first token are by Instance.
    """
    alive = [row for row in rows if row.state == "alive"]
    found = [
        *_pool(rows, alive),
        *(alert for row in rows for alert in _silence(row, ttl_s, now)),
        *(
            alert
            for row in alive
            if row.unanswered_s is not None or row.origin == "static"
            for alert in _unanswered(row, rules, now)
        ),
        *_skew(alive, rules),
        *_slow(alive, rules, first_tokens),
        *(alert for row in alive for alert in _measures(row, rules, now)),
        *(alert for node in nodes for alert in _unreachable(node, rules, now)),
    ]
    return sorted(found, key=lambda alert: ORDER[alert.severity])


def remembered(alerts: Iterable[Alert], before: Iterable[Alert], *, now: datetime) -> list[Alert]:
    """Fill in since when, for whoever looks again and again: what is new began now."""
    known = {alert.key: alert.since for alert in before}
    return [
        alert if alert.since is not None else replace(alert, since=known.get(alert.key) or now)
        for alert in alerts
    ]


def _pool(rows: Sequence[FleetRow], alive: Sequence[FleetRow]) -> Iterable[Alert]:
    if alive:
        return
    known = f"{len(rows)} known" if rows else "none known"
    yield _alert("pool", "bad", None, f"no Instance is alive, {known}", value=0, threshold=1)


def _silence(row: FleetRow, ttl_s: int | None, now: datetime | None) -> Iterable[Alert]:
    if row.state == "alive":
        if row.ejected_for_s > 0:
            left = render_duration(row.ejected_for_s)
            message = f"{row.id} failed lately and rests for {left}"
            yield _alert("ejected", "warn", row.id, message, value=row.ejected_for_s, unit="s")
        return
    since = None
    if now is not None and row.age_s is not None and ttl_s is not None:
        with suppress(OverflowError):  # older than any calendar
            since = now - timedelta(seconds=max(0.0, row.age_s - ttl_s))
    yield _alert(
        row.state,
        "warn" if row.state == "stale" else "bad",
        row.id,
        _last_seen(row.id, row.age_s, ttl_s),
        value=row.age_s,
        threshold=ttl_s,
        unit="s",
        since=since,
    )


def _unanswered(row: FleetRow, rules: Rules, now: datetime | None) -> Iterable[Alert]:
    # One from the settings never expires, so its age is all there is to tell that it is away.
    probed_s = row.age_s if row.origin == "static" else None
    waits: tuple[tuple[AlertKind, float | None, float], ...] = (
        ("probe", probed_s, rules.probe_s),
        ("hung", row.unanswered_s, rules.hung_s),
    )
    for kind, passed_s, limit_s in waits:
        if passed_s is not None and passed_s > limit_s:
            yield _alert(
                kind,
                "warn",
                row.id,
                _AGES[kind](row.id, passed_s, limit_s),
                value=passed_s,
                threshold=limit_s,
                unit="s",
                since=None if now is None else now - timedelta(seconds=passed_s),
            )


def _skew(alive: Sequence[FleetRow], rules: Rules) -> Iterable[Alert]:
    counted = [
        (row, row.inflight) for row in alive if row.inflight is not None and not row.draining
    ]
    if len(counted) < _FEWEST_TO_COMPARE:
        return
    middle = _median(sorted(inflight for _, inflight in counted))
    threshold = max(middle * rules.skew_ratio, middle + rules.skew_min)
    for row, inflight in counted:
        is_far = inflight > middle * rules.skew_ratio and inflight - middle >= rules.skew_min
        if is_far:
            message = f"{row.id} inflight {inflight}, median {render_number(middle)}"
            yield _alert("skew", "warn", row.id, message, value=inflight, threshold=threshold)


def _slow(
    alive: Sequence[FleetRow], rules: Rules, first_tokens: Mapping[str, FirstToken]
) -> Iterable[Alert]:
    # A large model is slower than a small one, and that is no fault of its Instance.
    alike: dict[tuple[str, ...] | None, list[tuple[float, FleetRow]]] = {}
    for row in alive:
        told = first_tokens.get(row.id)
        if told is not None and told.requests >= FEWEST_REQUESTS:
            models = None if row.models is None else tuple(row.models)
            alike.setdefault(models, []).append((told.p95_ms, row))
    for group in alike.values():
        if len(group) >= _FEWEST_TO_COMPARE:
            yield from _slower(group, rules)


def _slower(group: list[tuple[float, FleetRow]], rules: Rules) -> Iterable[Alert]:
    group.sort(key=lambda one: one[0])
    every_ms = [p95_ms for p95_ms, _ in group]
    for at, (p95_ms, row) in enumerate(group):
        middle_ms = _median_without(every_ms, at)
        is_slow = p95_ms > middle_ms * rules.ttft_ratio and p95_ms - middle_ms >= SLOWER_MS
        if is_slow:
            times = f" = {p95_ms / middle_ms:.1f}× median" if middle_ms else ""
            yield _alert(
                "slow",
                "warn",
                row.id,
                f"{row.id} TTFT p95 {render_ms(p95_ms)}{times}",
                value=p95_ms,
                threshold=max(middle_ms * rules.ttft_ratio, middle_ms + SLOWER_MS),
                unit="ms",
            )


def _median_without(values: Sequence[float], at: int) -> float:
    """Return the median of all but one of several sorted values, without a copy for each."""

    def other(place: int) -> float:
        return values[place if place < at else place + 1]

    count = len(values) - 1
    half = count // 2
    return other(half) if count % 2 else (other(half - 1) + other(half)) / 2


def _median(values: Sequence[int]) -> float:
    # The library's own costs a command the import of decimals, fractions and random numbers.
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def _measures(row: FleetRow, rules: Rules, now: datetime | None) -> Iterable[Alert]:
    yield from _past("gpu", row, "GPU use", row.gpu_util, rules.gpu)
    yield from _past("mem", row, "memory use", row.memory_util, rules.mem)
    age_s = row.report_age_s
    if age_s is not None and age_s > rules.report_age_s:
        yield _alert(
            "report",
            "warn",
            row.id,
            _report_old(row.id, age_s),
            value=age_s,
            threshold=rules.report_age_s,
            unit="s",
            since=None if now is None else now - timedelta(seconds=age_s - rules.report_age_s),
        )
    if row.backlog_ms is not None and row.backlog_ms > rules.backlog_ms:
        message = f"{row.id} backlog {render_wait(row.backlog_ms)}"
        yield _alert(
            "backlog",
            "warn",
            row.id,
            message,
            value=row.backlog_ms,
            threshold=rules.backlog_ms,
            unit="ms",
        )


def _unreachable(node: Node, rules: Rules, now: datetime | None) -> Iterable[Alert]:
    failing_s, asked_age_s = node.state_age_s, node.asked_age_s
    if node.answers is not False or failing_s is None or failing_s <= rules.kdn_s:
        return
    if asked_age_s is not None and asked_age_s > ASKED_LATELY_S:
        return
    yield replace(
        _alert(
            "kdn",
            "warn",
            None,
            _node_fails(node.name, failing_s),
            value=failing_s,
            threshold=rules.kdn_s,
            unit="s",
            since=None if now is None else now - timedelta(seconds=failing_s),
        ),
        node=node.name,
    )


def _last_seen(who: str | None, age_s: float | None, ttl_s: float | None) -> str:
    limit = "" if ttl_s is None else f", ttl {ttl_s} s"
    return f"{who} last seen {render_duration(age_s)} ago{limit}"


def _report_old(who: str | None, age_s: float, _limit_s: float | None = None) -> str:
    return f"{who} resource report {render_duration(age_s)} old"


def _answers_no_probe(who: str | None, age_s: float, _limit_s: float | None = None) -> str:
    return f"{who} has answered no probe for {render_duration(age_s)}"


def _answers_nothing(who: str | None, hung_s: float, _limit_s: float | None = None) -> str:
    return f"{who} has answered nothing for {render_duration(hung_s)}, requests wait"


def _node_fails(who: str | None, failing_s: float, _limit_s: float | None = None) -> str:
    return f"{who} has not answered for {render_duration(failing_s)}"


_AGES: Mapping[AlertKind, Callable[[str | None, float, float | None], str]] = {
    "stale": _last_seen, "dead": _last_seen, "report": _report_old,
    "probe": _answers_no_probe, "hung": _answers_nothing, "kdn": _node_fails,
}  # fmt: skip
"""What writes the findings that grow older by themselves."""


def _past(
    kind: AlertKind, row: FleetRow, what: str, value: float | None, limits: Limits
) -> Iterable[Alert]:
    level = limits.level(value)
    if level == "fine":
        return
    yield _alert(
        kind,
        level,
        row.id,
        f"{row.id} {what} {render_percent(value)}",
        value=value,
        threshold=limits.warn if level == "warn" else limits.bad,
        unit="%",
    )


def _alert(
    kind: AlertKind,
    severity: Severity,
    instance_id: str | None,
    message: str,
    *,
    value: float | None,
    threshold: float | None = None,
    unit: str = "",
    since: datetime | None = None,
) -> Alert:
    return Alert(
        kind=kind,
        severity=severity,
        instance_id=instance_id,
        message=message,
        value=value,
        threshold=threshold,
        unit=unit,
        since=since,
    )
