"""Alerts as lines: the active ones, those somebody has silenced, and those that have ended."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from textwrap import wrap
from typing import NamedTuple

from cacheroute.console.alert_log import Noted
from cacheroute.console.alert_meanings import MEANINGS, where_set
from cacheroute.console.alerts import AlertKey
from cacheroute.console.amounts import render_number
from cacheroute.console.rules import Rules
from cacheroute_tui.drawing import Ink
from cacheroute_tui.widgets.lines import Span, TextLine

_ROOM_FOR_COUNT = 4
_SIGNS = {"bad": "✕", "warn": "▲"}
_SIGN_OF = {"silenced": "■", "past": "○"}
_WIDTH = 72
_SHOWN_KINDS = 4


class AlertKeys(NamedTuple):
    """The keys that alerts are dealt with by, as they are written."""

    silence: str
    explain: str


def alerts_title(noted: Sequence[Noted], keys: AlertKeys | None = None) -> str:
    """Return the heading of a panel: `alerts 2 · 1 silenced · 1 past`, and what keys do there."""
    counts = dict.fromkeys(("active", "silenced", "past"), 0)
    for one in noted:
        counts[one.state] += 1
    parts = [f"alerts {counts['active']}" if counts["active"] else "alerts"]
    parts += [f"{counts[state]} {state}" for state in ("silenced", "past") if counts[state]]
    if keys is not None and noted:
        parts.append(f"{keys.silence} silences, {keys.explain} explains")
    return " · ".join(parts)


def alert_lines(
    noted: Sequence[Noted], room: int, keys: AlertKeys, *, passed_s: float = 0.0
) -> list[TextLine]:
    """Return a line for each alert, the active ones first; the last one counts those without room.

    The clock says since when, and of one that has ended when it was last so. They are as they
    read so many seconds after they were found.
    """
    if not noted:
        return [[Span(" no alerts", "dim")]]
    # Where there are only a few lines, the heading tells how many there are.
    keeps_count = len(noted) > room >= _ROOM_FOR_COUNT
    shown = noted[: room - 1] if keeps_count else noted[:room]
    lines = [alert_line(one.later(passed_s)) for one in shown]
    if keeps_count:
        lines.append([Span(f"   {len(noted) - len(shown)} more: {keys.silence} lists them", "dim")])
    return lines


def alert_line(one: Noted) -> TextLine:
    """Return one alert; a sign and a word tell its state, and colour after them."""
    alert = one.alert
    is_active = one.state == "active"
    sign = _SIGNS[alert.severity] if is_active else _SIGN_OF[one.state]
    ink: Ink = alert.severity if is_active else "dim"
    word = "" if is_active else f"{one.state}: "
    at = one.last_at if one.state == "past" else alert.since
    return [
        Span(f" {sign} ", ink),
        Span(f"{_clock(at)} ", "dim"),
        Span(f"{alert.kind:<8} ", ink),
        Span(f"{word}{alert.message}", "dim" if word else "plain"),
    ]


def choice_text(one: Noted) -> str:
    """Return one alert as a line of a menu."""
    return "".join(span.text for span in alert_line(one)).strip()


def alert_meaning(one: Noted, rules: Rules) -> list[TextLine]:
    """Explain one alert: what it means, what was found, and where its threshold is set."""
    alert, found = one.alert, MEANINGS[one.alert.kind]
    lines: list[TextLine] = [alert_line(one)]
    lines += _wrapped(found.meaning)
    if found.settings and alert.value is not None and alert.threshold is not None:
        value, limit = (f"{render_number(n)}{alert.unit}" for n in (alert.value, alert.threshold))
        lines += _wrapped(f"found: {value}, told from {limit} on", "dim")
    lines += _wrapped(f"threshold: {found.threshold}", "dim")
    for setting in where_set(alert.kind, rules):
        lines += _wrapped(f"set by: {setting}   ('cacheroute config edit' changes it)", "dim")
    lines += _wrapped(f"from: {found.source}", "dim")
    if found.unknown is not None:
        lines += _wrapped(f"unknown: {found.unknown}", "dim")
    return [*lines, [Span("")]]


def alert_meanings(
    noted: Iterable[Noted], rules: Rules, *, first: str | None = None
) -> list[TextLine]:
    """Explain a few of those that have not ended, one of each kind: those about `first` first."""
    known = [one for one in noted if one.state != "past"]
    known.sort(key=lambda one: first is None or one.alert.instance_id != first)
    of_kind = {one.alert.kind: one for one in reversed(known)}
    chosen = [one for one in known if of_kind[one.alert.kind] is one][:_SHOWN_KINDS]
    return [line for one in chosen for line in alert_meaning(one, rules)]


def about(noted: Iterable[Noted], instance_id: str | None) -> AlertKey | None:
    """Return the first alert about one Instance that has not ended."""
    return next(
        (
            one.alert.key
            for one in noted
            if one.alert.instance_id == instance_id and one.state != "past"
        ),
        None,
    )


def _wrapped(text: str, ink: Ink = "plain") -> list[TextLine]:
    return [[Span(f"   {row}", ink)] for row in wrap(text, _WIDTH - 3)]


def _clock(at: datetime | None) -> str:
    return "--:--:--" if at is None else f"{at.astimezone():%H:%M:%S}"
