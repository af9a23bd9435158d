"""The first screen: how the Proxy and its pool are, what was decided lately, and what is wrong."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container

from cacheroute.console.amounts import render_wait
from cacheroute.console.cells import UNTOLD, pad, printable
from cacheroute.console.columns import Tone
from cacheroute.console.injections import Injections
from cacheroute.console.nodes import SIGNS as NODE_SIGNS
from cacheroute.console.nodes import Node, NodeState, node_name
from cacheroute.console.queueing import render_queue
from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.rows.instances import INSTANCES
from cacheroute.console.rows.states import SIGNS, TONES
from cacheroute.console.rows.topology import LinkRow
from cacheroute.console.rules import TONES as LEVEL_TONES
from cacheroute.console.rules import Limits
from cacheroute.console.sparks import spark
from cacheroute.console.store import Seen, Snapshot
from cacheroute_tui.amounts import (
    render_bandwidth,
    render_clock,
    render_count,
    render_duration,
    render_latency,
    render_ms,
    render_percent,
    render_score,
)
from cacheroute_tui.drawing import Ink
from cacheroute_tui.keymap import CHARTING, LISTING, Key
from cacheroute_tui.screens.alert_panels import alert_lines, alerts_title
from cacheroute_tui.screens.instances import Instances
from cacheroute_tui.screens.panels import alert_count, state_counts
from cacheroute_tui.screens.windowed import Windowed
from cacheroute_tui.widgets.charts import Chart, Course
from cacheroute_tui.widgets.column_layout import shortened
from cacheroute_tui.widgets.lines import Span, TextLine
from cacheroute_tui.widgets.panel import Panel

_BOXES = ("pool", "requests", "queues", "knowledge")
_BELOW = {"decisions": "why this Instance?", "alerts": "alerts"}
_REPORT_IS_FRESH_S = 10.0
_LISTS_ALERTS_FROM = 22
"""Lines of a terminal, as in the style of the screen."""
_SPREAD = ("worst", "median", "best")
_SHOWN_LINKS = 2
_LINK_CELLS = 23
"""What a link takes beside the name of its node and what waits there."""
_SAYS_QUEUE_FROM = 46
"""Cells of a box from which there is room for the word."""
_INKS: Mapping[NodeState, Ink] = {"answers": "good", "fails": "bad", "not asked": "dim"}
_ID_CELLS = {"line": 10, "narrow": 10, "normal": 14, "wide": 14}
"""The end of a request's name tells it apart; the reason has the rest of the line."""
_FALLBACK = Limits(warn=1, bad=50)
"""Percent of the requests with knowledge that went on with less than was wanted."""
_MINUTE_S = 60
_WHO_CELLS = 20
"""Of the name of an Instance in a line that names two."""


class Overview(Windowed, Instances):
    """The fleet at a glance."""

    NAME, TITLE, NUMBER, SHORT = "overview", "Overview", 1, "Ovr"
    KIND = INSTANCES
    NEEDS = frozenset({"decisions", "topology"})
    KEYS: ClassVar[tuple[Key, ...]] = (
        *LISTING,
        *CHARTING,
        Key(id="overview.open", label="Detail", action="open_row", rank=4,
            doc="Show the Instance under the cursor."),
    )  # fmt: skip

    def body(self) -> ComposeResult:
        """Make the boxes, the table and the panels."""
        with Container(id="boxes"):
            for name in _BOXES:
                yield Panel(name, id=name, classes="-framed")
        with Container(id="courses"):
            yield Chart("GPU average", unit="%", top=100.0, kind="blocks", id="gpu")
            yield Chart("inflight: worst, median, best", id="inflight")
        yield self.make_table()
        with Container(id="below"):
            for name, title in _BELOW.items():
                yield Panel(title, id=name)

    def draw_more(self, snapshot: Snapshot) -> None:
        """Draw the boxes and the panels."""
        look = snapshot.look
        if look is None:
            why = snapshot.connection.trouble or "no look has come yet"
            self.query_one("#pool", Panel).fill("pool", [[Span(f" {why}", "dim")]])
            return
        width = self._box_width()
        boxes = {
            "pool": ("Pool", self._pool(look)),
            "requests": ("Requests", self._requests(look, width)),
            "queues": ("Queues", self._queues(look, width)),
            "knowledge": (_knowledge_title(look), self._knowledge(look, width)),
        }
        for name, (title, lines) in boxes.items():
            self.query_one(f"#{name}", Panel).fill(title, lines)
        room = self._panel_room()
        why_not = self.missing("decisions")
        lines = (
            [[Span(f" not told: {why_not}", "dim")]]
            if why_not is not None
            else decision_lines(look.decisions[:room], id_cells=_ID_CELLS[self.shape])
        )
        self.query_one("#decisions", Panel).fill(_BELOW["decisions"], lines)
        keys = self.console.alert_keys
        title = alerts_title(look.noted, None if self.shape == "narrow" else keys)
        self.query_one("#alerts", Panel).fill(
            title, alert_lines(look.noted, room, keys, passed_s=look.judged_ago_s)
        )
        self.draw_charts()

    def source_changed(self) -> None:
        """Empty what the Proxy before has filled."""
        super().source_changed()
        for name in _BOXES:
            self.query_one(f"#{name}", Panel).fill(name, [])
        for name, title in _BELOW.items():
            self.query_one(f"#{name}", Panel).fill(title, [])
        self.draw_charts()

    def cursor_moved(self, row_id: str | None) -> None:
        """Nothing here depends on it."""

    @property
    def shows_charts(self) -> bool:
        """Whether there is room for charts and for a table worth the name."""
        high_enough = {"wide": 30, "normal": 40}.get(self.shape)
        return high_enough is not None and self.app.size.height >= high_enough

    def draw_charts(self) -> None:
        """Draw the charts, where there is room for them."""
        self.set_class(self.shows_charts, "-charted")
        if not self.shows_charts:
            return
        history = self.history
        self.draw_chart(
            self.query_one("#gpu", Chart),
            ("mean",),
            lambda since_s: [
                Course(label="mean", points=history.pool("gpu_mean", since_s=since_s))
            ],
        )
        self.draw_chart(
            self.query_one("#inflight", Chart),
            _SPREAD,
            lambda since_s: [
                Course(label=what, points=history.pool(f"inflight_{series}", since_s=since_s))
                for what, series in zip(_SPREAD, ("max", "median", "min"), strict=True)
            ],
        )

    def beside_tabs(self) -> Sequence[Span]:
        """Count the alerts where there is no room to list them."""
        look = self.snapshot.look
        if look is None or self.app.size.height >= _LISTS_ALERTS_FROM:
            return super().beside_tabs()
        return [*alert_count(look.alerts), Span(" "), *super().beside_tabs()]

    def _box_width(self) -> int:
        boxes = 4 if self.shape == "wide" else 2
        return self.app.size.width // boxes - 2

    def _panel_room(self) -> int:
        height = self.app.size.height
        return 5 if height >= 36 else 3 if height >= 24 else 2

    def _spark(self, series: str, width: int) -> Span:
        values = self.history.pool(series, last=max(width, 0)).values
        return Span(spark(values, width, as_ascii=self.console.is_ascii), "accent")

    def _pool(self, look: Seen) -> list[TextLine]:
        found = look.overview
        counts = state_counts(look.rows)
        reports = [row.report_age_s for row in look.rows if row.report_age_s is not None]
        fresh = [age_s for age_s in reports if age_s <= _REPORT_IS_FRESH_S]
        oldest = render_duration(max(fresh, default=None))
        reports_line = [Span(f"reports {len(fresh)}/{len(look.rows)}   oldest {oldest}")]
        odd = [
            span
            for shown in ("silent", "ejected")
            if (count := counts[shown])
            for span in _counted(shown, count)
        ]
        if odd:
            reports_line = [*odd, Span(f"reports {len(fresh)}/{len(look.rows)} {oldest}")]
        return [
            [
                Span(" "),
                *_counted("alive", counts["alive"]),
                *_counted("stale", counts["stale"]),
                *_counted("dead", counts["dead"]),
            ],
            [
                Span(" "),
                *_counted("drain", counts["drain"]),
                Span(
                    f"acc {render_count(found.accepting)}  deg {render_count(found.degraded)}"
                    f"  rej {render_count(found.rejecting)}"
                ),
            ],
            [Span(" "), *reports_line],
        ]

    def _requests(self, look: Seen, width: int) -> list[TextLine]:
        found, rates = look.overview, look.rates
        rate = rates.requests_s if rates.requests_s is not None else found.qps_1m
        room = max(0, width - 22)
        rows = (
            ("inflight", render_count(found.inflight), "inflight_sum"),
            ("req/s", UNTOLD if rate is None else f"{rate:.1f}", "requests_s"),
            ("TTFT p95", render_ms(rates.ttft_p95_ms), "ttft_p95_ms"),
        )
        return [
            [Span(f" {name:<9}", "dim"), Span(f"{text:>8}  "), self._spark(series, room)]
            for name, text, series in rows
        ]

    def _queues(self, look: Seen, width: int) -> list[TextLine]:
        found, queued = look.overview, look.look.queueing
        figures = (
            render_queue(queued.preparing, queued.prepare_limit, queued.waiting_to_prepare),
            render_queue(queued.released, queued.ready_limit, queued.waiting_ready),
        )
        cells = max(8, *map(len, figures))
        ink: Tone = "bad" if queued.full else "plain"
        lines: list[TextLine] = [
            [
                Span(f" {name:<9}", "dim"),
                Span(f"{figure:>{cells}}  ", ink),
                self._spark(f"{name}_sum", max(0, width - 14 - cells)),
            ]
            for name, figure in zip(("prepare", "ready"), figures, strict=True)
        ]
        who = shortened(printable(found.backlog_max_id or ""), max(8, width - 20))
        longest = f"{render_wait(found.backlog_max_ms):>8}  {who}"
        return [*lines, [Span(" backlog  ", "dim"), Span(longest)]]

    def _knowledge(self, look: Seen, width: int) -> list[TextLine]:
        lines = [_injected(look.injections)]
        if (why := self.missing("topology")) is not None:
            return [*lines, [Span(f" links: {why}", "dim")]]
        word = "queue" if width >= _SAYS_QUEUE_FROM else "q"
        room = max(10, width - _LINK_CELLS - len(word) - 4)
        for link in _best_links(look)[:_SHOWN_LINKS]:
            node = _node_at(look, link)
            sign, ink = (
                (UNTOLD, "dim") if node is None else (NODE_SIGNS[node.state], _INKS[node.state])
            )
            waiting = None if node is None else node.waiting
            lines.append(
                [
                    Span(f" {pad(shortened(_node_name(link.kdn), room), room)} "),
                    Span(f"{sign} ", ink),
                    Span(f"{render_bandwidth(link.bandwidth_mbps):>11} "),
                    Span(f"{render_latency(link.latency_ms):>7}"),
                    Span(f" {word} {render_count(waiting)}", "warn" if waiting else "plain"),
                ]
            )
        return lines


def _injected(lately: Injections | None) -> TextLine:
    """Say what became of knowledge, and over which time."""
    if lately is None:
        return [Span(" the Proxy does not tell", "dim")]
    is_long = lately.over_s >= _MINUTE_S
    over = f"{lately.over_s / _MINUTE_S:.0f}m" if is_long else render_duration(lately.over_s)
    every = lately.text + lately.kv + lately.fallback
    if not lately.over_s:
        return [Span(" text ?  kv ?  fallback ?  (0s)", "dim")]
    if not every:
        return [Span(f" no request named knowledge ({over})", "dim")]
    text, kv, fallback = (100 * n / every for n in (lately.text, lately.kv, lately.fallback))
    return [
        Span(f" text {_share(text)}  kv {_share(kv)}  "),
        Span(f"fallback {_share(fallback)}", LEVEL_TONES[_FALLBACK.level(fallback)]),
        Span(f" ({over})", "dim"),
    ]


def _share(percent: float) -> str:
    """Write a share; one that is small is not written as none."""
    return "<1%" if 0 < percent < 1 else render_percent(percent)


def _node_at(look: Seen, link: LinkRow) -> Node | None:
    nodes = look.look.nodes
    return None if nodes is None else nodes.get(node_name(link.kdn))


def _best_links(look: Seen) -> list[LinkRow]:
    """Return the best link to each node, those to nodes that fail before all others."""
    best = [link for link in look.links if link.is_best]
    return sorted(
        best, key=lambda link: (it := _node_at(look, link)) is None or it.answers is not False
    )


def _knowledge_title(look: Seen) -> str:
    links = len(_best_links(look))
    more = f" · {_SHOWN_LINKS} of {links}: key 6" if links > _SHOWN_LINKS else ""
    return f"Injection / KDN{more}"


def _node_name(kdn: str) -> str:
    """Write the address of a node without its scheme, which all of them have."""
    return kdn.removeprefix("kdn://")


def _counted(shown: str, count: int) -> list[Span]:
    word = "draining" if shown == "drain" else shown
    ink = TONES[shown] if count else "dim"  # type: ignore[index]
    return [Span(f"{SIGNS[shown]} {word} {count}", ink), Span("  ")]  # type: ignore[index]


def decision_lines(decisions: Sequence[DecisionRow], *, id_cells: int = 24) -> list[TextLine]:
    """Return a line for each decision, the newest first."""
    if not decisions:
        return [[Span(" nothing was decided yet", "dim")]]
    return [_decision(one, id_cells) for one in decisions]


def _decision(one: DecisionRow, id_cells: int) -> TextLine:
    request = pad(shortened(printable(one.request_id), id_cells), 10)
    head = [Span(f" {render_clock(one.at)} ", "dim"), Span(f"{request} → ")]
    if one.instance_id is None:
        return [*head, Span("nobody ", "bad"), Span(one.reason)]
    who = shortened(printable(one.instance_id), _WHO_CELLS)
    parts = [*head, Span(f"{who} ", "title")]
    if one.cost is not None:
        parts.append(Span(render_score(one.cost)))
    if one.runner_up is not None:
        is_tie = one.cost is not None and one.cost == one.runner_up_cost
        sign = "=" if is_tie else "|"
        next_ = shortened(printable(one.runner_up), _WHO_CELLS)
        parts.append(Span(f" {sign} {next_} {render_score(one.runner_up_cost)}", "dim"))
    parts.append(Span(f"  {one.why}", "dim"))
    return parts
