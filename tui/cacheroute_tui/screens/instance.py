"""The screen of one Instance: what it is, what it does, what it costs, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult

from cacheroute.console.amounts import instant_of, render_score, render_wait, render_words
from cacheroute.console.cells import UNKNOWN, UNTOLD, pad, printable
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rows.scores import source_in_words
from cacheroute.console.rows.states import SIGNS, TONES
from cacheroute.console.sparks import spark
from cacheroute.console.standing import place_word
from cacheroute.console.store import Seen, Snapshot
from cacheroute_tui.amounts import (
    render_clock,
    render_count,
    render_duration,
    render_memory,
    render_number,
    render_percent,
)
from cacheroute_tui.feed import Question
from cacheroute_tui.keymap import Key
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.screens.gpus import gpu_lines
from cacheroute_tui.screens.panels import in_order
from cacheroute_tui.widgets.column_layout import shortened
from cacheroute_tui.widgets.lines import Span, TextLine
from cacheroute_tui.widgets.panel import Panel
from cacheroute_tui.widgets.reading_pane import ReadingPane

if TYPE_CHECKING:
    from cacheroute.wire.instances import InstanceRow

_PANELS = ("identity", "load", "score", "resources", "links", "decisions")
_KDN_CELLS = 24
_SERIES = (("inflight", "inflight", None), ("gpu", "gpu %", 100.0), ("backlog", "backlog", None))


class InstanceDetail(ConsoleScreen):
    """Everything that is known of one Instance."""

    NAME, TITLE, NUMBER = "instance", "Instance", 0
    NEEDS = frozenset({"decisions", "topology"})
    KEYS: ClassVar[tuple[Key, ...]] = (
        Key(id="instance.next", label="Next", action="neighbour(1)", rank=4,
            doc="Show the next Instance of the list."),
        Key(id="instance.before", label="Before", action="neighbour(-1)",
            doc="Show the Instance before it in the list."),
    )  # fmt: skip
    AUTO_FOCUS = "#scroll"

    def __init__(self, instance_id: str) -> None:
        super().__init__()
        self.instance_id = instance_id

    def body(self) -> ComposeResult:
        """Make the panels, one below the other."""
        with ReadingPane(id="scroll", can_focus=True):
            for name in _PANELS:
                yield Panel(name, id=name)

    def source_changed(self) -> None:
        """Empty what the Proxy before has filled."""
        for name in _PANELS:
            self.query_one(f"#{name}", Panel).fill(name, [])

    def asks(self) -> Mapping[str, Question]:
        """Ask for all that is known of this one."""
        instance_id = self.instance_id
        return {f"instance {instance_id}": lambda source: source.instance(instance_id)}

    def selected_id(self) -> str | None:
        """Return the Instance that is shown."""
        return self.instance_id

    def selected_json(self) -> object | None:
        """Return all that is known of it."""
        entry = self._entry(self.snapshot)
        return None if entry is None else entry.model_dump(mode="json")

    def explained(self) -> tuple[str, ...]:
        """Return the terms that stand here."""
        return ("score", "inflight", "backlog_ms", "weight", "admission_state", "drain", "kdn")

    def _entry(self, snapshot: Snapshot) -> InstanceRow | None:
        look = snapshot.look
        found = None if look is None else look.beside.more.get(f"instance {self.instance_id}")
        # Nothing else stands there; its class takes long to load, and is there once one is.
        return cast("InstanceRow | None", found)

    def draw(self, snapshot: Snapshot) -> None:
        """Draw a snapshot."""
        look = None if snapshot.look is None else snapshot.look.later(self.since_s())
        row = None if look is None else look.row_of.get(self.instance_id)
        if look is None or row is None:
            text = " it is not in the pool, or no longer" if look else " no look has come yet"
            self.query_one("#identity", Panel).fill(self.instance_id, [[Span(text, "warn")]])
            return
        entry = self._entry(snapshot)
        why = self.missing(f"instance {self.instance_id}")
        titles = {
            "identity": (f"{row.id}", identity_lines(row, entry)),
            "load": ("load", self._load_lines(row)),
            "score": ("score", score_lines(look, row)),
            "resources": ("resources", resource_lines(row, entry, why)),
            "links": ("links", self._link_lines(look)),
            "decisions": ("recent decisions", self._decision_lines(look)),
        }
        for name, (title, lines) in titles.items():
            self.query_one(f"#{name}", Panel).fill(title, lines)

    def _load_lines(self, row: FleetRow) -> list[TextLine]:
        width = max(10, min(60, self.app.size.width - 40))
        facts = _facts(
            ("inflight", render_count(row.inflight)),
            ("req/s", render_number(row.qps_1m)),
            ("prepare", render_count(row.prepare_queue_depth)),
            ("ready", render_count(row.ready_queue_depth)),
            ("prefill", render_count(row.pending_prefill_count)),
            ("decode", render_count(row.active_decode_count)),
            ("backlog", render_wait(row.backlog_ms)),
        )
        lines: list[TextLine] = [facts]
        for series, name, top in _SERIES:
            values = self.history.trend(row.id, series, last=width)
            drawn = spark(values, width, top=top, as_ascii=self.console.is_ascii)
            lines.append([Span(f" {name:<9} ", "dim"), Span(drawn, "accent")])
        return lines

    def _link_lines(self, look: Seen) -> list[TextLine]:
        if (why := self.missing("topology")) is not None:
            return [[Span(f" not told: {why}", "dim")]]
        links = [link for link in look.links if link.reported_by == self.instance_id]
        if not links:
            return [[Span(" it has reported no links to knowledge nodes", "dim")]]
        return [
            [
                Span(f" {pad(shortened(printable(link.kdn), _KDN_CELLS), _KDN_CELLS)} "),
                Span(f"{render_number(link.bandwidth_mbps):>7} Mbps  "),
                Span(f"{render_number(link.latency_ms):>6} ms  "),
                Span("best" if link.is_best else "", "good"),
                Span(f"  {render_duration(link.report_age_s)}", "dim"),
            ]
            for link in links
        ]

    def _decision_lines(self, look: Seen) -> list[TextLine]:
        if (why := self.missing("decisions")) is not None:
            return [[Span(f" not told: {why}", "dim")]]
        mine = [one for one in look.decisions if one.instance_id == self.instance_id]
        if not mine:
            return [[Span(" none of the last decisions fell on it", "dim")]]
        return [
            [
                Span(f" {render_clock(one.at)} ", "dim"),
                Span(f"{one.request_id:<14} "),
                Span(f"{render_score(one.cost):>7} "),
                Span(
                    f"next {one.runner_up or UNKNOWN} {render_score(one.runner_up_cost)}  ", "dim"
                ),
                Span(one.why),
            ]
            for one in mine[:20]
        ]

    def action_neighbour(self, places: int) -> None:
        """Show the next Instance of the list, or the one before."""
        look = self.snapshot.look
        ids = [] if look is None else [row.id for row in in_order(look)]
        if not ids:
            return
        at = ids.index(self.instance_id) + places if self.instance_id in ids else 0
        self.instance_id = ids[at % len(ids)]
        self.console.screen_shown(self)
        self.redraw()


def identity_lines(row: FleetRow, entry: InstanceRow | None) -> list[TextLine]:
    """Return what it is."""
    # A simulated fleet and a recording do not know it, and write 0.
    since = None if entry is None else instant_of(entry.registered_at or None)
    state = row.shown if row.shown == row.state else f"{row.shown} ({row.state})"
    lines: list[TextLine] = [
        [
            Span(f" {SIGNS[row.shown]} {state}", TONES[row.shown]),
            Span(f"  {row.address}  heard of {render_duration(row.age_s)} ago"),
            Span(f"  {row.origin or UNTOLD}"),
            Span("" if since is None else f" since {since.astimezone():%Y-%m-%d %H:%M:%S}", "dim"),
        ],
        _facts(
            ("weight", render_number(row.weight)),
            ("models", UNTOLD if row.models is None else render_words(row.models)),
            ("endpoints", render_words(row.endpoints) or "all"),
            ("tags", render_words(row.tags) or "none"),
        ),
    ]
    if entry is not None and entry.drain_reason:
        lines.append([Span(f" drained: {entry.drain_reason}", "warn")])
    if entry is not None and (entry.meta or entry.capability_fingerprint):
        told = "  ".join(f"{key}={value}" for key, value in list(entry.meta.items())[:12])
        lines.append(_facts(("capabilities", entry.capability_fingerprint or UNTOLD), ("", told)))
    return lines


def score_lines(seen: Seen, row: FleetRow) -> list[TextLine]:
    """Return the score, a line for each part."""
    standing = seen.standing(row.id)
    if standing is None:
        return [[Span(" nothing is told of it", "dim")]]
    it = standing.row
    head: list[Span] = [Span(f" {render_score(it.score)}", "title")]
    if standing.rank is not None:
        word = place_word(seen.look.snapshot.proxy.strategy)
        head.append(Span(f"  {word} {standing.rank} of {standing.of}"))
    if it.excluded is not None:
        head.append(Span(f"  not in the choice: {it.excluded}", "warn"))
    if standing.behind is not None:
        head.append(Span(f"  {standing.behind}", "dim"))
    lines: list[TextLine] = [head]
    for term in it.terms:
        ink = "plain" if term.weight and term.value else "dim"
        told = "0" if term.weighted is None else render_number(term.weighted)
        lines.append(
            [
                Span(f" {term.signal:<27} {render_number(term.value):>8} × ", ink),  # type: ignore[arg-type]
                Span(f"{render_number(term.weight):<6} = {told:>8}  ", ink),  # type: ignore[arg-type]
                Span(source_in_words(term.source), "dim"),
            ]
        )
    if it.share not in (None, 1.0):
        lines.append([Span(f" {'divided by its weight':<27} {render_number(it.share):>8}")])
    return lines


def resource_lines(row: FleetRow, entry: InstanceRow | None, why: str | None) -> Sequence[TextLine]:
    """Return what its host has, GPU by GPU where the report tells them apart."""
    head = _facts(
        ("cpu", render_percent(row.cpu_util)),
        ("mem", render_percent(row.memory_util)),
        ("gpu", render_percent(row.gpu_util)),
        ("gpu mem", render_percent(row.gpu_memory_util)),
        ("rx", f"{render_number(row.network_rx_mbps)} Mbps"),
        ("tx", f"{render_number(row.network_tx_mbps)} Mbps"),
        ("admission", row.admission_state or UNTOLD),
        ("report", f"{render_duration(row.report_age_s)} old"),
    )
    lines: list[TextLine] = [head]
    if entry is None:
        lines.append([Span(f" GPU by GPU: {why or 'asked for, not answered yet'}", "dim")])
        return lines
    r = entry.resource
    if r.memory_total_mb is not None:
        used, total = render_memory(r.memory_used_mb), render_memory(r.memory_total_mb)
        lines.append(_facts(("memory", f"{used} of {total}")))
    return [*lines, *gpu_lines(r)]


def _facts(*facts: tuple[str, str]) -> list[Span]:
    spans = [Span(" ")]
    for name, text in facts:
        spans += [Span(f"{name} " if name else "", "dim"), Span(f"{text}  ")]
    return spans
