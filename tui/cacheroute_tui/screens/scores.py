"""The screen of scores: what each signal makes of each Instance, who got what, and what if.

Totals and weights are the Proxy's. A what-if is worked out here, is told so, and changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll

from cacheroute.console.heat import WeightProblem, read_weights
from cacheroute.console.look import Look
from cacheroute.console.patterns import Expression, search_pattern
from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.rows.scores import UnknownSignal, what_if
from cacheroute.console.score_map import of_look, of_rows
from cacheroute.console.store import Snapshot
from cacheroute_tui.keymap import Key
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.screens.instance import InstanceDetail
from cacheroute_tui.screens.score_panels import (
    cell_sheet,
    decision_columns,
    legend_line,
    spot_lines,
    spot_title,
    what_if_line,
)
from cacheroute_tui.widgets.heatmap import Heatmap
from cacheroute_tui.widgets.lines import Lines, Span
from cacheroute_tui.widgets.panel import Panel
from cacheroute_tui.widgets.sheet import Sheet
from cacheroute_tui.widgets.text_field import TextField, pattern_problem
from cacheroute_tui.widgets.vtable import VTable
from cacheroute_tui.widgets.weight_line import WeightLine


class Scores(ConsoleScreen):
    """The choice of an Instance, laid open."""

    NAME, TITLE, NUMBER, SHORT = "scores", "Scores", 5, "Score"
    NEEDS = frozenset({"decisions"})
    EXPLAINS = "scores"
    AUTO_FOCUS = "Heatmap"
    KEYS: ClassVar[tuple[Key, ...]] = (
        Key(id="scores.what_if", label="What if", action="what_if", rank=3,
            doc="Change weights for this view alone: inflight=0.5. The Proxy is not told."),
        Key(id="scores.plain", label="Drop what-if", action="drop_what_if",
            doc="Show the scores as they are again."),
        Key(id="scores.excluded", label="All", action="excluded", rank=5,
            doc="Show all Instances, or only those in the choice."),
        Key(id="scores.explain", label="Explain", action="explain_cell", rank=4,
            doc="Say what the cell under the cursor is made of, or why the Instance is left out."),
        Key(id="scores.open", label="Open", action="open_selected",
            doc="Show the Instance under the cursor; from a decision, go to the one chosen."),
        Key(id="scores.search", label="Search", action="search", rank=4,
            doc="Go to Instances whose names match an expression."),
        Key(id="scores.next", label="Next", action="found(1)",
            doc="Go to the next Instance that matches, to the right."),
        Key(id="scores.previous", label="Previous", action="found(-1)",
            doc="Go to the Instance before that matches."),
        Key(id="scores.pane", label="Decisions", action="other_pane", rank=6,
            doc="Go from the map to the decisions, or back."),
    )  # fmt: skip
    CSS = """
    Scores #map { height: auto; max-height: 60%; scrollbar-size-vertical: 1; }
    Scores #choices { height: 1fr; }
    Scores.-low #legend, Scores.-low #choices { display: none; }
    Scores.-low #map { max-height: 100%; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.wanted: dict[str, float] = {}
        """Weights of the what-if."""
        self.is_all = True
        self._scores = of_rows(())
        self._laid_for: str | None = None
        self._searched = ""
        self._pattern: Expression | None = None

    def body(self) -> ComposeResult:
        """Make the map, what is under its cursor, and the decisions."""
        with VerticalScroll(id="map", can_focus=False):
            yield Heatmap(id="heat")
        yield Lines(id="what-if")
        yield Lines(id="legend")
        yield Panel(id="spot")
        with Container(id="choices"):
            yield Panel("decisions", id="decisions-title")
            yield VTable[DecisionRow](
                decision_columns(is_wide=False),
                id_of=lambda row: str(row.seq),
                now=self.now,
                fixed=1,
                id="decisions",
            )

    def bottom(self) -> ComposeResult:
        """Make the fields of the weights and of the search."""
        yield WeightLine(id="weights", problem_of=self._weight_problem)
        yield TextField("/", id="search", problem_of=pattern_problem)
        yield from super().bottom()

    @property
    def heat(self) -> Heatmap:
        """The map."""
        return self.query_one(Heatmap)

    @property
    def decisions(self) -> VTable[DecisionRow]:
        """The decisions."""
        found: VTable[DecisionRow] = self.query_one("#decisions", VTable)
        return found

    # -- drawing -------------------------------------------------------------------------

    def draw(self, snapshot: Snapshot) -> None:
        """Draw the map and the decisions."""
        look = snapshot.look
        decisions = self.decisions
        if self.shape != self._laid_for:
            self._laid_for = self.shape
            decisions.take_columns(decision_columns(is_wide=self.shape == "wide"))
        if look is None:
            decisions.empty_text = snapshot.connection.trouble or "connecting …"
            decisions.show_rows(())
            return
        decisions.empty_text = self.missing("decisions") or "no request has come yet"
        decisions.show_rows(look.decisions, is_stale=self.is_stale)
        title = "decisions"
        if decisions.cursor_row is not None:
            title = f"decisions · {decisions.cursor_row.reason}"
        self.query_one("#decisions-title", Panel).entitle(title)
        self._draw_map()

    def source_changed(self) -> None:
        """Empty the map: the same name is another thing at another Proxy."""
        self._scores = of_rows(())
        self.heat.show(self._scores, weights={}, sources={}, wanted={})
        self.query_one("#decisions-title", Panel).entitle("decisions")
        self.query_one("#what-if", Lines).display = False
        self.query_one("#legend", Lines).show([])
        self._draw_spot()

    def _draw_map(self) -> None:
        look = self.snapshot.look
        if look is None:
            return
        document = look.look.snapshot
        wanted = self._wanted_told(look.look)
        if wanted:
            rows = what_if(look.scores, wanted)
            inside = [row for row in rows if row.excluded is None]
            self._scores = of_rows(rows if self.is_all else inside)
        else:
            self._scores = of_look(look.look, is_all=self.is_all)
        self.heat.show(
            self._scores,
            weights=document.weights,
            sources=document.sources,
            wanted=wanted,
            strategy=document.proxy.strategy,
            is_stale=self.is_stale,
        )
        told = self.query_one("#what-if", Lines)
        told.display = bool(wanted)
        told.show([what_if_line(self._scores, document.weights, wanted)] if wanted else [])
        self.query_one("#legend", Lines).show([legend_line(document.weights)])
        self._draw_spot()

    def _wanted_told(self, look: Look) -> Mapping[str, float]:
        """Return the weights of signals that anybody tells; that may be fewer than before."""
        if not self.wanted:
            return {}
        told = {term.signal for row in look.scores for term in row.terms}
        return {name: weight for name, weight in self.wanted.items() if name in told}

    def _draw_spot(self) -> None:
        look, row = self.snapshot.look, self.heat.cursor_row
        panel = self.query_one("#spot", Panel)
        if look is None or row is None:
            panel.fill("no Instance", [])
            return
        document = look.look.snapshot
        width = self.app.size.width - 10
        lines = spot_lines(row, self.heat.spot, document.weights, width=width)
        panel.fill(spot_title(row, self._scores, document.proxy.strategy), lines)

    def on_heatmap_moved(self, message: Heatmap.Moved) -> None:  # noqa: ARG002 - where it is now
        """Draw what is under the cursor, and let its line be seen."""
        self.query_one("#map").scroll_to_region(
            self.heat.cursor_lines, animate=False, force=True, immediate=True
        )
        self._draw_spot()

    def on_vtable_cursor_moved(self, message: VTable.CursorMoved) -> None:
        """Say why the decision under the cursor was made."""
        row = message.table.cursor_row
        if row is not None:
            self.query_one("#decisions-title", Panel).entitle(f"decisions · {row.reason}")

    def on_vtable_opened(self, message: VTable.Opened) -> None:  # noqa: ARG002 - the row under it
        """Go to the Instance of the decision."""
        self.action_go_to_chosen()

    # -- what is selected ----------------------------------------------------------------

    def selected_id(self) -> str | None:
        """Return the Instance under the cursor, or the one that was chosen."""
        if self.focused is self.decisions:
            row = self.decisions.cursor_row
            return None if row is None else row.instance_id
        return self.heat.spot.instance_id

    def selected_json(self) -> object | None:
        """Return the score under the cursor, part by part."""
        row = self.heat.cursor_row
        if row is None:
            return None
        return {
            "instance_id": row.id,
            "score": row.score,
            "rank": row.rank,
            "excluded": row.excluded,
            "weight": row.share,
            "terms": [
                {
                    "signal": term.signal,
                    "value": term.value,
                    "weight": term.weight,
                    "weighted": term.weighted,
                    "source": term.source,
                }
                for term in row.terms
            ],
        }

    def explained(self) -> tuple[str, ...]:
        """Return the signal under the cursor, then what a score is; or the columns of decisions."""
        if isinstance(self.focused, VTable):
            return tuple(column.key for column in self.decisions.shown_columns)
        signal = self.heat.spot.signal
        return (*([signal] if signal else []), "score", "weights", "what-if")

    def beside_tabs(self) -> Sequence[Span]:
        """Say that weights are not the Proxy's, and who is left out."""
        told = [] if self.is_all else [Span(" in the choice", "accent")]
        return [Span("what-if", "warn"), *told] if self.wanted else told

    # -- keys ----------------------------------------------------------------------------

    def action_what_if(self) -> None:
        """Type weights."""
        look, signal = self.snapshot.look, self.heat.spot.signal
        text = " ".join(f"{name}={weight:g}" for name, weight in self.wanted.items())
        if not text and look is not None and signal is not None:
            text = f"{signal}={look.look.snapshot.weights.get(signal, 0.0):g}"
        self.query_one(WeightLine).open(text)

    def action_drop_what_if(self) -> None:
        """Show the scores as they are."""
        self._want({})

    def _weight_problem(self, text: str) -> str | None:
        look = self.snapshot.look
        if look is None:
            return None
        try:
            what_if(look.scores, read_weights(text, look.look.snapshot.weights))
        except (WeightProblem, UnknownSignal) as problem:
            return str(problem)
        return None

    def on_weight_line_changed(self, message: WeightLine.Changed) -> None:
        """Weigh anew while it is typed."""
        look = self.snapshot.look
        # The Proxy may have taken other weights since the field has judged the text.
        if look is None or self._weight_problem(message.text) is not None:
            return
        weights = look.look.snapshot.weights
        wanted = read_weights(message.text, weights)
        message.field.tell("only here")
        self._want({name: one for name, one in wanted.items() if one != weights.get(name)})

    def on_weight_line_closed(self) -> None:
        """Give the focus back to the map."""
        self.set_focus(self.heat)

    def _want(self, wanted: dict[str, float]) -> None:
        self.wanted = wanted
        self._draw_map()
        self.refresh_frame()

    def action_excluded(self) -> None:
        """Show all, or only those in the choice."""
        self.is_all = not self.is_all
        self._draw_map()
        self.refresh_frame()

    def action_explain_cell(self) -> None:
        """Say what the cell under the cursor is made of."""
        look, row = self.snapshot.look, self.heat.cursor_row
        if look is None or row is None or isinstance(self.focused, VTable):
            self.console.action_explain()
            return
        title, lines = cell_sheet(row, self.heat.spot, self._scores, look.look.snapshot.weights)
        self.app.push_screen(Sheet(title, lines))

    def action_search(self) -> None:
        """Type what the name is like."""
        self.query_one("#search", TextField).open(self._searched)

    def on_text_field_changed(self, message: TextField.Changed) -> None:
        """Go to the first that matches while it is typed."""
        pattern = search_pattern(message.text)
        self._searched, self._pattern = message.text, pattern
        found = self._matching()
        message.field.tell(f"{len(found)} Instances" if pattern is not None else "")
        if found:
            self.heat.go_to(found[0])

    def on_text_field_closed(self) -> None:
        """Give the focus to the map."""
        self.set_focus(self.heat)

    def _matching(self) -> Sequence[str]:
        """Return who matches, from the cursor on and round."""
        pattern, ids = self._pattern, self._scores.ids
        if pattern is None:
            return ()
        here = self.heat.spot.instance_id
        at = ids.index(here) if here in ids else 0
        return [one for one in (*ids[at:], *ids[:at]) if pattern.is_in(one)]

    def action_found(self, step: int) -> None:
        """Go to another Instance that matches."""
        here = self.heat.spot.instance_id
        others = [one for one in self._matching() if one != here]
        if others:
            self.heat.go_to(others[0 if step > 0 else -1])
        else:
            self.notify("no other Instance matches; / searches", timeout=2)

    def action_other_pane(self) -> None:
        """Go to the decisions, or back."""
        decisions = self.decisions
        is_there = self.focused is decisions or not self.query_one("#choices").display
        self.set_focus(self.heat if is_there else decisions)

    def action_open_selected(self) -> None:
        """Show the Instance under the cursor, or go to the one that a decision chose."""
        who = self.heat.spot.instance_id
        if self.focused is self.decisions:
            self.action_go_to_chosen()
        elif who is not None:
            self.app.push_screen(InstanceDetail(who))

    def action_go_to_chosen(self) -> None:
        """Go to the Instance that the decision under the cursor chose."""
        row = self.decisions.cursor_row
        if row is None:
            return
        if row.instance_id is None:
            self.notify(f"nobody was chosen: {row.reason}", timeout=4, markup=False)
        elif self.heat.go_to(row.instance_id):
            self.set_focus(self.heat)
        else:
            self.notify(f"{row.instance_id} is not in the map", timeout=4, markup=False)
