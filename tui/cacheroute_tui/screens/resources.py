"""The screen of resources: what each host has left, how fresh that is, and how it went before."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container

from cacheroute.console.bars import bar
from cacheroute.console.cells import UNTOLD
from cacheroute.console.columns import Column, Tone
from cacheroute.console.rows.resources import RESOURCES, ResourceRow
from cacheroute.console.rules import TONES, Limits
from cacheroute.console.sorting import Order
from cacheroute.console.store import Seen, Snapshot
from cacheroute_tui.amounts import render_duration, render_latency, render_memory, render_number
from cacheroute_tui.keymap import CHARTING, LISTING, Key
from cacheroute_tui.screens.listing import ListScreen
from cacheroute_tui.screens.resource_columns import resource_columns
from cacheroute_tui.screens.windowed import Windowed
from cacheroute_tui.widgets.charts import Chart, Course
from cacheroute_tui.widgets.lines import Lines, Span, TextLine
from cacheroute_tui.widgets.panel import Panel

_MEMORY_CELLS = 18
"""What `116.2G of 250.0G` takes, with the blanks before it."""
_MEANS = (
    ("cpu", "CPU", "%"),
    ("mem", "Memory", "%"),
    ("gpu", "GPU", "%"),
    ("gpu_mem", "GPU mem", "%"),
)
"""Charts with the mean of the pool and the Instance under the cursor: series, heading, unit."""


class Resources(Windowed, ListScreen[ResourceRow]):
    """The hosts of all Instances."""

    NAME, TITLE, NUMBER, SHORT = "resources", "Resources", 3, "Res"
    KIND = RESOURCES
    USUAL = ("name", "Those alive first, by name.")
    KEYS: ClassVar[tuple[Key, ...]] = (
        *LISTING,
        *CHARTING,
        Key(id="resources.charts", label="Charts", action="charts", rank=4,
            doc="Show or hide the charts; where there is little room they replace the table."),
        Key(id="resources.bars", label="Bars", action="bars", rank=7,
            doc="Show shares as bars, or as figures again."),
        Key(id="resources.stale", label="Stale", action="stale",
            doc="Show only Instances that are stale or dead, or all again."),
        Key(id="resources.reported", label="Measured", action="reported",
            doc="Show only Instances with a resource report, or all again."),
    )  # fmt: skip
    CSS = """
    Resources #charts { layout: grid; grid-size: 3; height: 18; display: none; }
    Resources.-normal #charts { height: 14; }
    Resources #charts Chart { height: 1fr; }
    Resources.-charts #charts { display: block; }
    Resources.-charts.-alone #charts { grid-size: 2; height: 1fr; }
    Resources.-charts.-alone #card { display: none; }
    Resources.-charts.-alone VTable { height: 0; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.wants_charts: bool | None = None
        """None is as there is room."""
        self.has_bars = False
        self.is_stale_only = False
        self.is_reported_only = False

    def body(self) -> ComposeResult:
        """Make the summary, the charts, the table and the card."""
        yield Lines(id="summary")
        with Container(id="charts"):
            for series, heading, unit in _MEANS:
                yield Chart(heading, unit=unit, top=100.0, id=f"chart-{series}")
            yield Chart("Network", unit="Mbps", id="chart-net")
            yield Chart("Instances", id="chart-states")
        yield self.make_table()
        yield Panel(id="card")

    def columns(self) -> Sequence[Column[ResourceRow]]:
        """Return the columns for the room there is."""
        bars = {"wide": 20, "normal": 12}.get(self.shape, 6) if self.has_bars else 0
        return resource_columns(
            is_wide=self.is_wide or self.shape == "wide",
            bar_cells=bars,
            fleet_row=lambda id_: look.row_of.get(id_) if (look := self.snapshot.look) else None,
            since_s=self.since_s,
            rules=self.console.target.rules,
            as_ascii=self.console.is_ascii,
        )

    # -- which rows ----------------------------------------------------------------------

    def rows_of(self, look: Seen) -> Sequence[ResourceRow]:
        """Return all hosts, by name."""
        return look.resources

    def is_alive(self, row: ResourceRow) -> bool:
        """Whether its Instance was heard of lately."""
        return row.is_alive is not False

    def is_faulty(self, row: ResourceRow) -> bool:
        """Whether it is not alive, short of something, or its report is old or missing."""
        rules = self.console.target.rules
        age_s = row.report_age_s
        return (
            row.is_alive is False
            or age_s is None
            or age_s > rules.report_age_s
            or row.admission_state in ("degraded", "rejecting")
            or rules.gpu.level(row.gpu_util) == "bad"
            or rules.mem.level(row.memory_util) == "bad"
        )

    def _test(self) -> Callable[[ResourceRow], bool] | None:
        tests: list[Callable[[ResourceRow], bool]] = []
        if self.is_faults_only:
            tests.append(self.is_faulty)
        elif not self.is_all:
            tests.append(self.is_alive)
        if self.is_stale_only:
            tests.append(lambda row: row.is_alive is False)
        if self.is_reported_only:
            tests.append(lambda row: row.report_age_s is not None)
        return (lambda row: all(test(row) for test in tests)) if tests else None

    def beside_tabs(self) -> Sequence[Span]:
        """Say what the rows are sorted and filtered by."""
        flags = ((self.is_stale_only, " stale"), (self.is_reported_only, " measured"))
        return [*super().beside_tabs(), *(Span(text, "accent") for on, text in flags if on)]

    def action_filter(self) -> None:
        """Type a filter, before the table that it is about."""
        self._show_table()
        super().action_filter()

    def take_order(self, orders: Sequence[Order[ResourceRow]]) -> None:
        """Sort, to be seen."""
        self._show_table()
        super().take_order(orders)

    def action_wide(self) -> None:
        """Show more columns, to be seen."""
        self._show_table()
        super().action_wide()

    def action_mark(self) -> None:
        """Mark the row under the cursor, to be seen."""
        self._show_table()
        super().action_mark()

    def _narrow(self) -> None:
        self._show_table()
        super()._narrow()

    def _show_table(self) -> None:
        """Take the charts away where they stand in the place of the table."""
        if self.shows_charts and not self.is_tall:
            self.wants_charts = False
            self._lay_out_charts()

    def action_stale(self) -> None:
        """Show only what is not alive, or all again."""
        self.is_stale_only = not self.is_stale_only
        if self.is_stale_only:
            self.is_all = True
        self._narrow()

    def action_all(self) -> None:
        """Show all, or only those that are alive."""
        self.is_stale_only = False
        super().action_all()

    def action_reported(self) -> None:
        """Show only what has a report, or all again."""
        self.is_reported_only = not self.is_reported_only
        self._narrow()

    def action_bars(self) -> None:
        """Show bars or figures."""
        self._show_table()
        self.has_bars = not self.has_bars
        self.table.take_columns(self.columns())

    def action_charts(self) -> None:
        """Show or hide the charts."""
        self.wants_charts = not self.shows_charts
        self._lay_out_charts()
        self.call_after_refresh(self.draw_charts)

    @property
    def shows_charts(self) -> bool:
        """Whether charts are to be seen: as wished, or where there is room for both."""
        return self.is_tall if self.wants_charts is None else self.wants_charts

    def _lay_out_charts(self) -> None:
        self.set_class(self.shows_charts, "-charts")
        self.set_class(not self.is_tall, "-alone")

    # -- drawing -------------------------------------------------------------------------

    def draw_more(self, snapshot: Snapshot) -> None:
        """Draw the summary, the charts and the card."""
        look = snapshot.look
        summary = self.query_one("#summary", Lines)
        self._lay_out_charts()
        if look is None:
            summary.show([[Span(" no look has come yet", "dim")]])
        else:
            summary.show([summary_of(look.resources, look)])
        self.cursor_moved(self.table.cursor_id)

    def cursor_moved(self, row_id: str | None) -> None:
        """Draw the card of the host under the cursor, and its lines in the charts."""
        panel = self.query_one("#card", Panel)
        row = self.table.cursor_row
        if row is None or row_id is None:
            panel.fill("no host", [])
        else:
            width = {"narrow": 12, "normal": 20}.get(self.shape, 30)
            panel.fill(f"{row.id} · {row.host or UNTOLD}", self._card(row, width))
        self.draw_charts()

    def draw_charts(self) -> None:
        """Draw the charts, where there are any to be seen."""
        if not self.shows_charts:
            return
        history, who = self.history, self.table.cursor_id
        shown = self.table.cursor_row
        for series, _, _ in _MEANS:
            name = series

            def means(since_s: float, name: str = name) -> list[Course]:
                found = [Course(label="mean", points=history.pool(f"{name}_mean", since_s=since_s))]
                if who is not None and shown is not None:
                    own = history.of(who, name, since_s=since_s)
                    found.append(Course(label=who, points=own))
                return found

            labels = ["mean"] if who is None or shown is None else ["mean", who]
            self.draw_chart(self._chart(series), labels, means)
        self.draw_chart(self._chart("net"), ("rx", "tx"), lambda since_s: [
            Course(label=way, points=history.pool(f"{way}_sum", since_s=since_s))
            for way in ("rx", "tx")
        ])  # fmt: skip
        self.draw_chart(self._chart("states"), ("alive", "stale", "dead"), lambda since_s: [
            Course(label=state, points=history.pool(state, since_s=since_s), ink=ink)
            for state, ink in (("alive", 1), ("stale", 2), ("dead", 6))
        ])  # fmt: skip

    def _chart(self, name: str) -> Chart:
        return self.query_one(f"#chart-{name}", Chart)

    def _card(self, row: ResourceRow, width: int) -> list[TextLine]:
        rules, is_ascii = self.console.target.rules, self.console.is_ascii

        def share(label: str, value: float | None, limits: Limits | None = None) -> list[Span]:
            tone: Tone = "plain" if limits is None else TONES[limits.level(value)]
            figure = UNTOLD if value is None else f"{value:.0f}%"
            return [
                Span(f" {label} "),
                Span(bar(value, width, as_ascii=is_ascii), "dim" if value is None else tone),
                Span(f" {figure:>4}", tone),
            ]

        def of(used_mb: float | None, total_mb: float | None) -> Span:
            if used_mb is None and total_mb is None:
                return Span(" " * _MEMORY_CELLS)
            return Span(f"  {_memory(used_mb)} of {_memory(total_mb)}".ljust(_MEMORY_CELLS))

        age_s = None if row.report_age_s is None else row.report_age_s + self.since_s()
        is_old = age_s is None or age_s > rules.report_age_s
        age = "no report has come" if age_s is None else f"report {render_duration(age_s)} ago"
        sample = ""
        if row.gpu_sample_quality is not None:
            sample = f"  gpu sample {row.gpu_sample_quality}, {row.gpu_sample_source or UNTOLD}"
            if row.gpu_sample_age_ms is not None:
                sample += f", {render_latency(row.gpu_sample_age_ms)} old"
        return [
            [*share("cpu", row.cpu_util), Span(" " * 17),
             *share("mem ", row.memory_util, rules.mem),
             of(row.memory_used_mb, row.memory_total_mb)],
            [*share("gpu", row.gpu_util, rules.gpu),
             Span(f"  now {_figure(row.gpu_util_current):>3} max {_figure(row.gpu_util_max):>3}"),
             *share("gmem", row.gpu_memory_util),
             of(row.gpu_memory_used_mb, row.gpu_memory_total_mb)],
            [Span(f" rx {_figure(row.network_rx_mbps)} tx {_figure(row.network_tx_mbps)} Mbps  "),
             Span(f"admission {row.admission_state or UNTOLD}  "),
             Span(age, "warn" if is_old else "plain"), Span(sample, "dim")],
        ]  # fmt: skip


def summary_of(rows: Sequence[ResourceRow], look: Seen) -> TextLine:
    """Return all hosts in one line: who reports, how fresh, and the means of those alive."""
    alive = [row for row in rows if row.is_alive is not False]
    ages = [row.report_age_s for row in alive if row.report_age_s is not None]
    pool = look.look.snapshot.pool
    oldest = render_duration(max(ages)) if ages else UNTOLD
    spans = [
        Span(f" reports {len(ages)}/{len(rows)}", "plain" if ages else "warn"),
        Span(f"  oldest {oldest}  "),
    ]
    for label, value, tone in (
        ("acc", pool.accepting, "plain"),
        ("deg", pool.degraded, "warn"),
        ("rej", pool.rejecting, "bad"),
    ):
        told = UNTOLD if value is None else str(value)
        spans.append(Span(f"{label} {told} ", tone if value else "dim"))  # type: ignore[arg-type]
    for label, values in (
        ("cpu", [row.cpu_util for row in alive]),
        ("mem", [row.memory_util for row in alive]),
        ("gpu", [row.gpu_util for row in alive]),
    ):
        known = [value for value in values if value is not None]
        mean = f"{sum(known) / len(known):.0f}%" if known else UNTOLD
        spans.append(Span(f" {label} {mean}"))
    return spans


def _figure(value: float | None) -> str:
    if value is None:
        return UNTOLD
    return f"{value:.0f}" if value >= 1_000 else render_number(value)


def _memory(value_mb: float | None) -> str:
    return UNTOLD if value_mb is None else render_memory(value_mb)
