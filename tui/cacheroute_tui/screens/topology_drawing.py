"""The drawing of a fleet in text: a chain of who sends to whom, and a tree of links."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby

from cacheroute.console.amounts import render_bandwidth, render_duration, render_latency
from cacheroute.console.cells import UNKNOWN, cells, pad, printable
from cacheroute.console.columns import Tone
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rows.states import SIGNS, TONES
from cacheroute.console.rows.topology import LinkRow
from cacheroute.console.store import Seen
from cacheroute_tui.screens.panels import state_counts
from cacheroute_tui.widgets.column_layout import shortened
from cacheroute_tui.widgets.later_lines import Part
from cacheroute_tui.widgets.lines import Span, TextLine

STATIC = "static"
_SIGNS: Mapping[str, tuple[str, Tone]] = {
    "alive": ("●", "good"), "stale": ("◐", "warn"), "dead": ("✕", "bad"),
}  # fmt: skip
_SCHEDULER: Mapping[str, tuple[str, Tone]] = {
    "registered": ("●", "good"), "registering": ("◐", "warn"),
    "unreachable": ("✕", "bad"), "refused": ("✕", "bad"),
}  # fmt: skip
_NAMED_AT_MOST = 200
"""Instances that are named one by one where they have no link."""
_WHO_CELLS = 24


def is_faulty(link: LinkRow) -> bool:
    """Whether a link does not count, or nobody knows how fast it is."""
    is_gone = link.reported_by != STATIC and link.state not in (None, "alive")
    return is_gone or not link.bandwidth_mbps


def drawn_chain(look: Seen, proxy_url: str) -> list[TextLine]:
    """Draw the way of a request: Client, Scheduler, Proxy, Instances."""
    scheduler = look.look.snapshot.scheduler
    proxy = look.look.snapshot.proxy
    lines: list[TextLine] = [(Span(" Client", "title"),)]
    # The words of the Proxy; one that registers with nobody is asked by its clients directly.
    state = None if scheduler is None else scheduler.state
    if scheduler is not None and state not in (None, "off"):
        sign, tone = _SCHEDULER.get(state or "", ("○", "dim"))
        told = [Span("   └─▶ "), Span("Scheduler ", "title"), Span(f"{sign} {state}", tone)]
        told.append(Span(f"  {scheduler.url or UNKNOWN}", "dim"))
        if scheduler.heard_age_s is not None:
            told.append(Span(f"  heard {render_duration(scheduler.heard_age_s)} ago", "dim"))
        lines.append(tuple(told))
        indent = "         "
    else:
        lines.append((Span("   │   no Scheduler", "dim"),))
        indent = "   "
    name = proxy.proxy_id or UNKNOWN
    strategy = proxy.strategy or UNKNOWN
    lines.append(
        (
            Span(f"{indent}└─▶ "),
            Span("Proxy ", "title"),
            Span(name, "accent"),
            Span(f"  {proxy_url.removeprefix('http://')}  {strategy}", "dim"),
        )
    )
    lines.append((Span(f"{indent}      └─▶ "), Span("Instances ", "title"), *_counted(look.rows)))
    return lines


def _counted(rows: Sequence[FleetRow]) -> list[Span]:
    found: list[Span] = [Span(str(len(rows)))]
    for shown, count in state_counts(rows).items():
        if count:
            word = "draining" if shown == "drain" else shown
            found.append(Span(f"  {SIGNS[shown]} {count} {word}", TONES[shown]))
    return found


def drawn_links(look: Seen, *, faults_only: bool) -> list[Part]:
    """Draw each knowledge node with its links, the one that counts on top."""
    lines: list[Part] = []
    for kdn, links in groupby(look.links, key=lambda link: link.kdn):
        lines += _node(kdn, list(links), faults_only=faults_only)
    if not look.links:
        lines.append((Span(" no link to a knowledge node is known", "dim"),))
    elif not lines:
        lines.append((Span(" nothing is wrong with any link", "good"),))
    return lines + _without_link(look, faults_only=faults_only)


def _node(kdn: str, links: Sequence[LinkRow], *, faults_only: bool) -> list[Part]:
    shown = [link for link in links if not faults_only or is_faulty(link)]
    if not shown:
        return []
    best = next((link for link in links if link.is_best), None)
    head = [Span(f" {kdn}", "accent")]
    if best is None:
        head.append(Span("  ✕ no link counts", "bad"))
    else:
        head.append(Span(f"  best {_speed(best)}", "good"))
        head.append(Span(f"  reported by {best.reported_by or UNKNOWN}"))
    wide = min(_WHO_CELLS, max(cells(link.reported_by or UNKNOWN) for link in shown))
    more = [partial(_link, link, wide, is_last=False) for link in shown[:-1]]
    return [tuple(head), *more, partial(_link, shown[-1], wide, is_last=True), ()]


def _link(link: LinkRow, wide: int, *, is_last: bool) -> TextLine:
    who = link.reported_by or UNKNOWN
    if who == STATIC:
        sign, tone, state = "■", "dim", "settings"
    else:
        sign, tone = _SIGNS.get(link.state or "", ("○", "dim"))
        state = link.state or UNKNOWN
    more = " ".join(f"{key}={value}" for key, value in link.metrics.items())
    return (
        Span(f"   {'└' if is_last else '├'}─ "),
        Span("► " if link.is_best else "  ", "good"),
        Span(pad(shortened(printable(who), wide), wide)),
        Span(f"  {sign} {pad(state, 8)}", tone),  # type: ignore[arg-type]
        Span(f" {_speed(link):>20}", "plain" if link.bandwidth_mbps else "warn"),
        Span(f"  {render_duration(link.report_age_s):>5}", "dim"),
        Span(f"  {more}" if more else "", "dim"),
    )


def _speed(link: LinkRow) -> str:
    return f"{render_bandwidth(link.bandwidth_mbps)} · {render_latency(link.latency_ms)}"


def _without_link(look: Seen, *, faults_only: bool) -> list[Part]:
    reporters = {link.reported_by for link in look.links}
    silent = [
        row
        for row in look.rows
        if row.id not in reporters and not (faults_only and row.state == "alive")
    ]
    if not silent:
        return []
    word = "that are not alive" if faults_only else "that reported no link"
    lines: list[Part] = [(Span(f" Instances {word}: {len(silent)}", "title"),)]
    lines += [(Span("   "), *_named(row)) for row in silent[:_NAMED_AT_MOST]]
    if len(silent) > _NAMED_AT_MOST:
        lines.append((Span(f"   and {len(silent) - _NAMED_AT_MOST} more", "dim"),))
    return lines


def _named(row: FleetRow) -> Iterable[Span]:
    sign, tone = _SIGNS.get(row.state, ("○", "dim"))
    if row.draining and row.state == "alive":
        sign, tone = "■", "warn"
    yield Span(f"{sign} ", tone)
    yield Span(row.id)
    yield Span(f"  {row.address}  {'draining' if row.draining else row.state}", "dim")
