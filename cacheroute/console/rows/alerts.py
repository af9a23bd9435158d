"""Alerts as a list: what is wrong, by how much, and since when."""

from typing import get_args

from cacheroute.console import cast
from cacheroute.console.alerts import Alert, AlertKind
from cacheroute.console.amounts import render_number
from cacheroute.console.columns import Column, Kind

_SIGNS = {"bad": "✕", "warn": "▲"}

COLUMNS: tuple[Column[Alert], ...] = (
    Column(
        key="sign",
        header=" ",
        text=lambda alert: _SIGNS[alert.severity],
        value=lambda alert: _SIGNS[alert.severity],
        tone=lambda alert: alert.severity,
        doc="How bad it is, as a sign.",
    ),
    cast.word("kind", "ALERT",
        f"What is wrong: {', '.join(get_args(AlertKind))}.",
        gap=" ", tone=lambda alert: alert.severity),
    cast.word("severity", "SEVERITY", "bad or warn.", wide=True),
    cast.word("instance_id", "INSTANCE", "Whom it is about.", aliases=("id",), gives_way=True,
        unknown="It is about a knowledge node, or the pool as a whole."),
    cast.word("node", "KDN", "The knowledge node it is about.", wide=True,
        unknown="It is about an Instance, or the pool as a whole."),
    cast.word("message", "WHAT", "The finding in words.", gives_way=True),
    Column(
        key="value", header="VALUE",
        text=lambda alert: render_number(alert.value) + alert.unit if alert.value is not None
        else render_number(None),
        doc="What was found.", right=True, wide=True,
    ),
    Column(
        key="threshold", header="LIMIT",
        text=lambda alert: render_number(alert.threshold) + alert.unit
        if alert.threshold is not None else render_number(None),
        doc="From when on it is worth a word.", right=True, wide=True,
    ),
    cast.clock("since", "SINCE", "Since when, as far as that is known.",
        source="the Proxy's clock, or else when a watch first saw it",
        unknown="One look cannot tell.", spare=True),
)  # fmt: skip

ALERTS: Kind[Alert] = Kind(
    name="alerts",
    noun="alerts",
    columns=COLUMNS,
    name_of=lambda alert: alert.instance_id or "",
    searched=lambda alert: f"{alert.kind} {alert.instance_id or ''} {alert.message}",
)
