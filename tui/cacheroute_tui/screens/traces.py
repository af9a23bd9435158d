"""The screen of traces: the last requests, and room by room the way of the one under the cursor."""

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult

from cacheroute.console.rows.traces import COLUMNS, TRACES, TraceRow
from cacheroute.console.sorting import Order
from cacheroute.console.store import Seen, Snapshot
from cacheroute_tui.drawing import as_ascii
from cacheroute_tui.feed import Question
from cacheroute_tui.keymap import LISTING, Key
from cacheroute_tui.screens.listing import ListScreen
from cacheroute_tui.screens.waterfall import decision_of, waterfall
from cacheroute_tui.widgets.lines import Lines, Span

_WHOLE = "trace"
_TALL_ROWS, _LOW_ROWS = 16, 11
"""Lines of the waterfall, where there is room and where there is little."""
_TABLE_ROWS = 11
"""Lines of the frame, of the rule, and of a table worth the name."""


class Traces(ListScreen[TraceRow]):
    """The last requests."""

    NAME, TITLE, NUMBER, SHORT = "traces", "Traces", 7, "Trace"
    NEEDS = frozenset({"traces", "decisions"})
    KIND = TRACES
    USUAL = ("newest", "The newest on top.")
    KEYS = (
        *LISTING,
        Key(id="traces.slow", label="Slow", action="slow_first", rank=4,
            doc="Show the slowest requests first, or the newest again."),
    )  # fmt: skip

    def body(self) -> ComposeResult:
        """Make the table and the waterfall."""
        yield self.make_table()
        yield Lines(id="waterfall")

    def rows_of(self, look: Seen) -> Sequence[TraceRow]:
        """Return the requests, those that came last on top; the Proxy tells them as they end."""
        return sorted(look.traces, key=_came, reverse=True)

    def id_of(self, row: TraceRow) -> str:
        """Return its number: two requests may have one name."""
        return str(row.seq)

    def is_alive(self, row: TraceRow) -> bool:
        """Whether it is a success."""
        return row.outcome == "ok"

    def empty_text(self, rows: Sequence[TraceRow]) -> str:
        """Say why there is nothing, where that is known."""
        return self.missing("traces") or super().empty_text(rows)

    def draw_more(self, snapshot: Snapshot) -> None:  # noqa: ARG002 - the cursor's row is enough
        """Draw the waterfall."""
        self._draw_waterfall()

    def cursor_moved(self, row_id: str | None) -> None:  # noqa: ARG002 - as above
        """Draw the waterfall of another request, and ask for all of it with the next look."""
        # The key behind the one that moved the cursor may have gone to another screen already.
        if self.console.front is self:
            self.console.feed.asks = self.asks()
            self._draw_waterfall()

    def asks(self) -> Mapping[str, Question]:
        """Ask for the decisions and the marks of the request under the cursor."""
        row = self.table.cursor_row if self.is_mounted else None
        if row is None:
            return {}
        return {_WHOLE: lambda source: source.trace(row.request_id)}

    def _whole(self) -> TraceRow | None:
        """Return all of the request under the cursor, as far as it has come."""
        row, look = self.table.cursor_row, self.snapshot.look
        found = None if look is None else look.beside.more.get(_WHOLE)
        if row is None or not isinstance(found, TraceRow) or found.seq != row.seq:
            return row
        return found

    def _draw_waterfall(self) -> None:
        panel = self.query_one("#waterfall", Lines)
        row, look = self._whole(), self.snapshot.look
        if row is None or look is None:
            panel.show(())
            return
        width = self.app.size.width
        lines = waterfall(
            row, decision_of(row, look.decisions), width, is_ascii=as_ascii(panel)
        )[: self._waterfall_rows()]  # fmt: skip
        rule = (Span(f" {'─' * max(0, width - 2)}", "dim"),)
        why = self.missing("decisions")
        if why is not None:
            lines.append((Span(f" decisions: {why}", "dim"),))
        if self.is_stale:
            lines = [tuple(Span(span.text, "dim") for span in line) for line in lines]
        panel.show([rule, *lines])

    def _waterfall_rows(self) -> int:
        """Return the lines for it, so that the table keeps some of its own."""
        height = self.app.size.height
        return _TALL_ROWS if self.is_tall else min(_LOW_ROWS, height - _TABLE_ROWS)

    def selected_id(self) -> str | None:
        """Return the name of the request under the cursor."""
        row = self.table.cursor_row
        return None if row is None else row.request_id

    def row_json(self, row: TraceRow) -> object:
        """Return a request with its rooms; of the one under the cursor all that has come of it."""
        whole = self._whole()
        return whole if whole is not None and whole.seq == row.seq else row

    def action_slow_first(self) -> None:
        """Show the slowest first, or the newest again."""
        is_slow = any(order.column.key == "e2e_ms" for order in self.table.orders)
        slowest = next(column for column in COLUMNS if column.key == "e2e_ms")
        self.take_order(() if is_slow else (Order(column=slowest, descending=True),))


def _came(row: TraceRow) -> tuple[float, int]:
    return (0.0 if row.at is None else row.at.timestamp(), row.seq)
