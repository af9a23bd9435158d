"""The screen of Instances: the pool as a table, and of the one under the cursor why it ranks so."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container, Vertical

from cacheroute.console.columns import Column
from cacheroute.console.rows.instances import INSTANCES, FleetRow
from cacheroute.console.store import Seen, Snapshot
from cacheroute_tui.keymap import LISTING, Key
from cacheroute_tui.screens.alert_panels import (
    alert_lines,
    alert_meanings,
    alerts_title,
)
from cacheroute_tui.screens.fleet_columns import fleet_columns
from cacheroute_tui.screens.instance import InstanceDetail
from cacheroute_tui.screens.listing import ListScreen
from cacheroute_tui.screens.panels import (
    alert_count,
    in_order,
    instance_title,
    load_line,
    score_line,
    summary_line,
)
from cacheroute_tui.widgets.lines import Lines, Span, TextLine
from cacheroute_tui.widgets.panel import Panel

_GPU_CELLS = {"line": 8, "narrow": 14, "normal": 30, "wide": 14}
"""Of the line of a host; a wide terminal has it in one half, with the age of its report."""
_TREND_CELLS = {"line": 6, "narrow": 8, "normal": 12, "wide": 10}


class Instances(ListScreen[FleetRow]):
    """All Instances of the pool."""

    NAME, TITLE, NUMBER, SHORT = "instances", "Instances", 2, "Inst"
    KIND = INSTANCES
    USUAL = ("usual", "Who may be chosen first, of those the lowest score on top.")
    KEYS: ClassVar[tuple[Key, ...]] = (
        *LISTING,
        Key(id="instances.open", label="Detail", action="open_row", rank=4,
            doc="Show the Instance under the cursor."),
    )  # fmt: skip

    def body(self) -> ComposeResult:
        """Make the summary, the table and what stands below or beside it."""
        yield Lines(id="summary")
        with Container(id="split"):
            yield self.make_table()
            with Vertical(id="side"):
                yield Panel(id="detail")
                yield Panel("alerts", id="alerts")

    def columns(self) -> Sequence[Column[FleetRow]]:
        """Return the columns for the room there is."""
        return fleet_columns(
            is_wide=self.is_wide or self.shape in ("normal", "wide"),
            trend_width=_TREND_CELLS[self.shape],
            history=lambda: self.history,
            look=lambda: self.snapshot.look,
            since_s=self.since_s,
            as_ascii=self.console.is_ascii,
            chosen=() if self.is_wide else self.console.options.columns,
        )

    def rows_of(self, look: Seen) -> Sequence[FleetRow]:
        """Return all of them: who may be chosen first, the least loaded on top."""
        return in_order(look)

    def told_by(self, look: Seen) -> object:
        """Return what stands for the look: nothing else is in the rows."""
        return look.told

    def history_cleared(self) -> None:
        """Draw no trend."""
        self.table.take_columns(self.columns())
        super().history_cleared()

    def is_alive(self, row: FleetRow) -> bool:
        """Whether it was heard of lately."""
        return row.state == "alive"

    def is_faulty(self, row: FleetRow) -> bool:
        """Whether it is not alive, or an alert is about it."""
        look = self.snapshot.look
        return row.shown != "alive" or (look is not None and row.id in look.troubled)

    def draw_more(self, snapshot: Snapshot) -> None:
        """Draw the summary, the alerts and the Instance under the cursor."""
        look = snapshot.look
        summary = self.query_one("#summary", Lines)
        alerts = self.query_one("#alerts", Panel)
        if look is None:
            summary.show([[Span(" no look has come yet", "dim")]])
            alerts.fill("alerts", [])
        else:
            summary.show([summary_line(look, self.app.size.width)])
            room = 8 if self.is_tall else 2
            keys = self.console.alert_keys
            alerts.fill(
                alerts_title(look.noted),
                alert_lines(look.noted, room, keys, passed_s=look.judged_ago_s),
            )
        self.cursor_moved(self.table.cursor_id)

    def cursor_moved(self, row_id: str | None) -> None:
        """Draw the Instance under the cursor."""
        panel = self.query_one("#detail", Panel)
        look = self.snapshot.look
        row = None if look is None or row_id is None else look.row_of.get(row_id)
        if look is None or row is None:
            panel.fill("no Instance", [])
            return
        width = _GPU_CELLS[self.shape]
        panel.fill(
            instance_title(look, row.id),
            [
                score_line(look, row.id),
                load_line(row, self.history, width=width, as_ascii=self.console.is_ascii),
            ],
        )

    def beside_tabs(self) -> Sequence[Span]:
        """Say what is sorted, filtered and wrong."""
        look = self.snapshot.look
        if self.shape != "wide" or look is None:
            return super().beside_tabs()
        return [*super().beside_tabs(), Span("   "), *alert_count(look.alerts)]

    def explained_beside(self) -> Sequence[TextLine]:
        """Explain the alerts, those about the Instance under the cursor first."""
        look = self.snapshot.look
        if look is None:
            return ()
        return alert_meanings(look.noted, look.rules, first=self.selected_id())

    def action_open_row(self) -> None:
        """Open the row under the cursor."""
        self.table.action_open()

    def opened(self, row_id: str) -> None:
        """Show one Instance."""
        self.app.push_screen(InstanceDetail(row_id))
