"""The drawing of a fleet in text: a chain of who sends to whom, and a tree of links."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby

from cacheroute.console.cells import UNKNOWN, UNTOLD, cells, pad, printable
from cacheroute.console.columns import Tone
from cacheroute.console.nodes import SIGNS as NODE_SIGNS
from cacheroute.console.nodes import Node, NodeState, node_name
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rows.states import SIGNS, TONES
from cacheroute.console.rows.topology import LinkRow
from cacheroute.console.store import Seen
from cacheroute_tui.amounts import render_bandwidth, render_duration, render_latency
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
_NODES: Mapping[NodeState, Tone] = {"answers": "good", "fails": "bad", "not asked": "dim"}
_NO_LINK = Span("  no link is known", "dim")
_NAMED_AT_MOST = 200
"""Instances that are named one by one where they have no link."""
_WHO_CELLS = 24


def is_faulty(link: LinkRow) -> bool:
    """Whether a link does not count, or nobody knows how fast it is."""
    is_gone = link.reported_by != STATIC and link.state not in (None, "alive")
    return is_gone or not link.bandwidth_mbps


def drawn_chain(look: Seen, proxy_url: str) -> list[TextLine]:
    """Draw the way of a request: Client, Scheduler, Proxy, Instances."""
    scheduler = look.look.scheduler
    proxy = look.look.snapshot.proxy
    lines: list[TextLine] = [(Span(" Client", "title"),)]
    # The words of the Proxy; one that registers with nobody is asked by its clients directly.
    state = None if scheduler is None else scheduler.state
    if scheduler is not None and state not in (None, "off"):
        sign, tone = _SCHEDULER.get(state or "", ("○", "dim"))
        told = [Span("   └─▶ "), Span("Scheduler ", "title"), Span(f"{sign} {state}", tone)]
        told.append(Span(f"  {scheduler.url or UNTOLD}", "dim"))
        if scheduler.heard_age_s is not None:
            told.append(Span(f"  heard {render_duration(scheduler.heard_age_s)} ago", "dim"))
        lines.append(tuple(told))
        indent = "         "
    else:
        lines.append((Span("   │   no Scheduler", "dim"),))
        indent = "   "
    name = proxy.proxy_id or UNTOLD
    strategy = proxy.strategy or UNTOLD
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
    nodes = look.look.nodes
    lines: list[Part] = []
    linked = set()
    for kdn, links in groupby(look.links, key=lambda link: link.kdn):
        linked.add(node_name(kdn))
        node = None if nodes is None else nodes.get(node_name(kdn))
        lines += _node(kdn, list(links), node, faults_only=faults_only)
    for name, node in ({} if nodes is None else nodes).items():
        if name not in linked and (node.state == "fails" or not faults_only):
            lines.append((Span(f" {printable(node.name)}", "accent"), _NO_LINK))
            lines += [*_state_of(node), ()]
    told_of = look.look.snapshot.kdn
    if told_of is not None and told_of.left_out:
        lines.append((Span(f" {told_of.left_out} more nodes are not told of", "dim"),))
    if not lines:
        is_well = bool(look.links or nodes)
        told = "nothing is wrong with any link" if is_well else "no knowledge node is known"
        lines.append((Span(f" {told}", "good" if is_well else "dim"),))
    if nodes is None:
        lines.insert(
            0, (Span(" how nodes are and what waits there: the Proxy does not tell", "dim"),)
        )
    return lines + _without_link(look, faults_only=faults_only)


def _state_of(node: Node) -> list[Part]:
    """Say whether a node answers, why it does not, and how much it has to send."""
    state = node.state
    parts = [Span(f"   {NODE_SIGNS[state]} {state}", _NODES[state])]
    if node.state_age_s is not None:
        parts.append(Span(f" for {render_duration(node.state_age_s)}", _NODES[state]))
        parts.append(Span(f"  asked {render_duration(node.asked_age_s)} ago", "dim"))
    parts.append(Span(f"  sends {node.running}  queue {node.waiting}"))
    if node.error is None:
        return [tuple(parts)]
    return [tuple(parts), (Span(f"     {printable(node.error)}", "bad"),)]


def _node(
    kdn: str, links: Sequence[LinkRow], node: Node | None, *, faults_only: bool
) -> list[Part]:
    shown = [link for link in links if not faults_only or is_faulty(link)]
    if not shown and (node is None or node.state != "fails"):
        return []
    best = next((link for link in links if link.is_best), None)
    head = [Span(f" {kdn}", "accent")]
    if best is None:
        head.append(Span("  ✕ no link counts", "bad"))
    else:
        head.append(Span(f"  best {_speed(best)}", "good"))
        head.append(Span(f"  reported by {best.reported_by or UNTOLD}"))
    lines: list[Part] = [tuple(head), *([] if node is None else _state_of(node))]
    if shown:
        wide = min(_WHO_CELLS, max(cells(link.reported_by or UNTOLD) for link in shown))
        lines += [partial(_link, link, wide, is_last=False) for link in shown[:-1]]
        lines.append(partial(_link, shown[-1], wide, is_last=True))
    return [*lines, ()]


def _link(link: LinkRow, wide: int, *, is_last: bool) -> TextLine:
    who = link.reported_by or UNTOLD
    if who == STATIC:
        sign, tone, state = "■", "dim", "settings"
    else:
        sign, tone = _SIGNS.get(link.state or "", ("○", "dim"))
        state = link.state or UNTOLD
    more = " ".join(f"{key}={value}" for key, value in link.metrics.items())
    return (
        Span(f"   {'└' if is_last else '├'}─ "),
        Span("► " if link.is_best else "  ", "good"),
        Span(pad(shortened(printable(who), wide), wide)),
        Span(f"  {sign} {pad(state, 8)}", tone),  # type: ignore[arg-type]
        Span(f" {_speed(link):>20}", "plain" if link.bandwidth_mbps else "warn"),
        Span(f"  {UNKNOWN if who == STATIC else render_duration(link.report_age_s):>5}", "dim"),
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
