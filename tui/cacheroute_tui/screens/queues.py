"""The screen of queues: who waits for each Instance, until when, and how right that was."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container

from cacheroute.console.columns import Column
from cacheroute.console.rows.loads import LoadRow
from cacheroute.console.rows.queues import QUEUES
from cacheroute.console.store import Seen, Snapshot
from cacheroute_tui.drawing import palette_of
from cacheroute_tui.keymap import CHARTING, LISTING, Key
from cacheroute_tui.screens.listing import ListScreen
from cacheroute_tui.screens.queue_columns import queue_columns
from cacheroute_tui.screens.queue_panels import (
    figures_line,
    forecast_line,
    knowledge_lines,
    lane_lines,
)
from cacheroute_tui.screens.windowed import Windowed
from cacheroute_tui.widgets.charts import Chart, Course
from cacheroute_tui.widgets.lines import Lines, Span
from cacheroute_tui.widgets.panel import Panel

_LANES = {"low": 4, "tall": 8}


class Queues(Windowed, ListScreen[LoadRow]):
    """The queues before all Instances."""

    NAME, TITLE, NUMBER, SHORT = "queues", "Queues", 4, "Que"
    KIND = QUEUES
    USUAL = ("wait", "The longest wait on top.")
    NEEDS = frozenset({"traces", "topology"})
    KEYS: ClassVar[tuple[Key, ...]] = (
        *LISTING,
        *CHARTING,
        Key(id="queues.panel", label="Slots/KV", action="panel", rank=4,
            doc="Show the slots of the Instance under the cursor, the ways of knowledge, or the "
            "charts; where there is room all of them are seen."),
    )  # fmt: skip
    CSS = """
    Queues #charts { layout: horizontal; height: 8; display: none; }
    Queues #charts Chart { height: 1fr; }
    Queues.-roomy #charts { display: block; }
    Queues.-charts #charts { display: block; }
    Queues #panels { height: auto; layout: vertical; }
    Queues.-wide #panels { layout: horizontal; }
    Queues.-wide #slots { width: 3fr; }
    Queues.-wide #knowledge { width: 2fr; }
    """

    _PANELS = ("slots", "knowledge", "charts")

    def __init__(self) -> None:
        super().__init__()
        self.panel = "slots"

    def body(self) -> ComposeResult:
        """Make the figures, the charts, the table and the panels."""
        yield Lines(id="summary")
        with Container(id="charts"):
            yield Chart("Prepare", kind="blocks", id="chart-prepare")
            yield Chart("Ready", kind="blocks", id="chart-ready")
            yield Chart("Backlog", unit="ms", id="chart-backlog")
        yield self.make_table()
        with Container(id="panels"):
            yield Panel(id="slots")
            yield Panel("knowledge", id="knowledge")

    def columns(self) -> Sequence[Column[LoadRow]]:
        """Return the columns for the room there is."""
        return queue_columns(
            ahead_cells={"wide": 60, "normal": 36}.get(self.shape, 12),
            longest_ms=self._longest_ms,
            fleet_row=lambda id_: look.row_of.get(id_) if (look := self.snapshot.look) else None,
            rules=self.console.target.rules,
            as_ascii=self.console.is_ascii,
        )

    def _longest_ms(self) -> float:
        # Asked for each row that is drawn, so it must not go through all of them.
        look = self.snapshot.look
        return (None if look is None else look.overview.backlog_max_ms) or 1.0

    def rows_of(self, look: Seen) -> Sequence[LoadRow]:
        """Return all of them, the longest wait on top."""
        return look.queues

    def is_alive(self, row: LoadRow) -> bool:
        """Whether it was heard of lately."""
        return row.is_alive

    def is_faulty(self, row: LoadRow) -> bool:
        """Whether it is not alive, or a new request would wait long."""
        backlog_ms = row.predicted_total_backlog_ms or 0.0
        return not row.is_alive or backlog_ms > self.console.target.rules.backlog_ms

    # -- drawing -------------------------------------------------------------------------

    def draw_more(self, snapshot: Snapshot) -> None:
        """Draw the figures, the charts and the panels."""
        look = snapshot.look
        summary = self.query_one("#summary", Lines)
        is_roomy = self.app.size.height >= 40
        self.set_class(is_roomy, "-roomy")
        self.set_class(self.panel == "charts", "-charts")
        if look is None:
            summary.show([[Span(" no look has come yet", "dim")]])
        else:
            summary.show([figures_line(look)])
        self.cursor_moved(self.table.cursor_id)
        self.draw_charts()

    def cursor_moved(self, row_id: str | None) -> None:
        """Draw the slots of the Instance under the cursor, and knowledge."""
        look, row = self.snapshot.look, self.table.cursor_row
        slots = self.query_one("#slots", Panel)
        knowledge = self.query_one("#knowledge", Panel)
        slots.display = self.is_tall or self.panel == "slots"
        knowledge.display = self.is_tall or self.panel == "knowledge"
        if look is None or row is None or row_id is None:
            slots.fill("no Instance", [])
            knowledge.fill("knowledge", [])
            return
        room = _LANES["tall" if self.is_tall else "low"]
        width = self.app.size.width
        if self.shape == "wide":
            width = width * 3 // 5
        lines = [forecast_line(row)]
        lines += lane_lines(
            look.traces,
            row.id,
            room=room - 1,
            width=width - 1,
            inks=palette_of(self).series,
            missing=self.missing("traces"),
            as_ascii=self.console.is_ascii,
        )
        slots.fill(f"slots of {row.id} · actual /predicted first token", lines)
        knowledge.fill("knowledge", knowledge_lines(look, self.snapshot.missing, room=room))

    def draw_charts(self) -> None:
        """Draw the charts, where they are to be seen."""
        if not (self.has_class("-roomy") or self.has_class("-charts")):
            return
        history = self.history
        for name in ("prepare", "ready"):

            def waiting(since_s: float, series: str = f"{name}_sum") -> list[Course]:
                points = history.pool(series, since_s=since_s)
                return [Course(label="waiting", points=points, ink=0 if series[0] == "p" else 1)]

            self.draw_chart(self.query_one(f"#chart-{name}", Chart), ("waiting",), waiting)
        which = ("max", "median")
        self.draw_chart(self.query_one("#chart-backlog", Chart), which, lambda since_s: [
            Course(label=one, points=history.pool(f"backlog_{one}", since_s=since_s))
            for one in which
        ])  # fmt: skip

    def action_panel(self) -> None:
        """Show the next panel where there is no room for all."""
        if self.is_tall:
            self.panel = "slots" if self.panel == "charts" else "charts"
        else:
            at = self._PANELS.index(self.panel) + 1
            self.panel = self._PANELS[at % len(self._PANELS)]
        self.redraw()
        self.call_after_refresh(self.draw_charts)
