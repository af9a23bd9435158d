"""What stands around the map of scores: the Instance under the cursor, and what a cell means."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cacheroute.console.cells import UNKNOWN, UNTOLD
from cacheroute.console.columns import Column
from cacheroute.console.glossary import GLOSSARY
from cacheroute.console.heat import (
    cell_of,
    changes_told,
    order_told,
    tails,
    total_text,
)
from cacheroute.console.rows.decisions import DECISIONS, DecisionRow
from cacheroute.console.rows.scores import ScoreRow, difference, explained, parts_of
from cacheroute.console.score_map import ScoreMap
from cacheroute.console.standing import LETTER_NAMES, LETTERS, letters_of, place_word
from cacheroute_tui.amounts import render_number, render_score
from cacheroute_tui.reading import explained_lines
from cacheroute_tui.widgets.heatmap import Spot
from cacheroute_tui.widgets.lines import Span, TextLine

_MOST_IN_ORDER = 12
_DECISION_SHAPES: Mapping[str, tuple[str, int | None, int]] = {
    "at": ("AT", 12, 4),
    "request_id": ("REQUEST", None, 3),
    "instance_id": ("INSTANCE", None, 0),
    "cost": ("COST", 6, 1),
    "runner_up": ("NEXT", None, 2),
    "runner_up_cost": ("COST", 6, 2),
    "considered": ("OF", 3, 5),
    "skipped": ("SKIPPED", 20, 7),
    "mode": ("KNOWLEDGE", 11, 6),
    "reason": ("WHY", None, 0),
}
"""Header, width and rank of each on a screen."""


def decision_columns(*, is_wide: bool) -> Sequence[Column[DecisionRow]]:
    """Return the columns of decisions, the reason last."""
    names = [name for name in _DECISION_SHAPES if is_wide or name not in ("skipped", "mode")]
    found = []
    for name in names:
        header, width, rank = _DECISION_SHAPES[name]
        found.append(
            replace(
                DECISIONS.column(name), header=header, width=width, rank=rank,
                gives_way=width is None,
            )
        )  # fmt: skip
    return found


def spot_title(row: ScoreRow, scores: ScoreMap, strategy: str | None) -> str:
    """Return an Instance and its place: `i-4 · rank 2/5 · behind i-1: infl +1`."""
    parts = [row.id]
    if row.rank is None:
        parts.append(f"not in the choice: {row.excluded or UNTOLD}")
    else:
        ties = scores.ties()[row.rank] - 1
        word = place_word(strategy)
        place = f"{word} {row.rank}/{scores.inside}"
        how = ": by turns" if word == "rank" else ""
        parts.append(f"{place}, tied with {ties}{how}" if ties else place)
    if (behind := difference(row, scores.with_first(row))) is not None:
        parts.append(behind)
    return " · ".join(parts)


def spot_lines(
    row: ScoreRow, spot: Spot, weights: Mapping[str, float], *, width: int
) -> list[TextLine]:
    """Return the score of an Instance as letters and as a sum, and the cell under the cursor."""
    points = {term.signal: term.weighted for term in row.terms if term.weighted}
    letters = letters_of(points, max(10, width // 3))
    share = "" if row.share in (None, 1.0) else f" / its weight {row.share:g}"
    lines: list[TextLine] = [
        [
            Span(" score "),
            Span(total_text(row.score), "title"),
            Span(f" = {parts_of(row)}{share}" if row.score is not None else "  not known"),
        ],
        [Span(" parts "), Span(letters or UNKNOWN, "accent")],
    ]
    if spot.signal is not None:
        told = Span(_cell_told(spot.signal, row, weights))
        if cell_of(row, spot.signal).term is None:
            told = Span("? nobody has told it; it is not 0", "dim")
        lines.append([Span(f" {spot.signal} ", "title"), told])
    return lines


def _cell_told(signal: str, row: ScoreRow, weights: Mapping[str, float]) -> str:
    cell = cell_of(row, signal)
    if cell.term is None:
        return UNTOLD
    weight = weights.get(signal, 0.0)
    told = f"{render_number(cell.term.value)} × {render_number(weight)}"
    if cell.term.weighted is None:
        return f"{told}: its weight is 0, so it does not count"
    told += f" = {render_number(cell.term.weighted)}"
    return told if cell.share_ratio is None else f"{told}, {cell.share_ratio:.0%} of the score"


def what_if_line(
    rows: Sequence[ScoreRow], weights: Mapping[str, float], wanted: Mapping[str, float]
) -> TextLine:
    """Say what a what-if changes; it is worked out here and nowhere else."""
    order, is_other = order_told(rows)
    shown = " ".join(tails(order)[:_MOST_IN_ORDER])
    more = f" and {len(order) - _MOST_IN_ORDER} more" if len(order) > _MOST_IN_ORDER else ""
    return [
        Span(" what-if, only here: ", "accent"),
        Span(changes_told(weights, wanted)),
        Span(" · another order: " if is_other else " · the same order: ", "dim"),
        Span(f"{shown}{more}", "accent" if is_other else "plain"),
    ]


def legend_line(weights: Mapping[str, float]) -> TextLine:
    """Say which letter is which signal."""
    shown = {LETTERS[signal] for signal, weight in weights.items() if weight and signal in LETTERS}
    told = "  ".join(f"{letter} {name}" for letter, name in LETTER_NAMES.items() if letter in shown)
    return [Span(f" {told}", "dim")]


def cell_sheet(
    row: ScoreRow, spot: Spot, scores: ScoreMap, weights: Mapping[str, float]
) -> tuple[str, list[TextLine]]:
    """Return all there is to say about a cell: its sum, its signal, and the whole score."""
    lines: list[TextLine] = []
    title = row.id if spot.signal is None else f"{spot.signal} of {row.id}"
    if spot.signal is not None:
        cell = cell_of(row, spot.signal)
        if cell.term is None:
            lines.append([Span("? Nobody has told it, so it is not in the sum. It is not 0.")])
        else:
            lines.append([Span(_cell_told(spot.signal, row, weights), "title")])
            lines.append([Span(f"counted by: {cell.term.source or UNTOLD}")])
        lines += explained_lines((spot.signal,), "queues")
    for line in explained(row, scores.with_first(row)):
        lines.append([Span(f"{line.label:<6}"), Span("  ".join(line.facts))])
    if row.excluded is not None:
        lines.append([Span(f"not in the choice: {row.excluded}", "warn")])
    elif tied := scores.tied_with(row):
        lines.append([Span(f"tied with {', '.join(tied[:5])}: they are taken by turns")])
    lines += [[], [Span(GLOSSARY["weights"], "dim")], [Span(f"total {render_score(row.score)} is "
              "the Proxy's own, never worked out here.", "dim")]]  # fmt: skip
    return title, lines
