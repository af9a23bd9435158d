"""Scores as a map of signals by Instances: how much of each score each signal makes up.

Totals are the Proxy's own. What no Instance has told is unknown, and is not 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cacheroute.console.amounts import render_number, render_score
from cacheroute.console.cells import UNTOLD
from cacheroute.console.look_rows import SIGNALS
from cacheroute.console.rows.scores import SHORT_NAMES, ScoreRow, Term

Shade = Literal["none", "light", "medium", "dark"]

ZERO_CELL = "·"
_DARK, _MEDIUM = 0.5, 0.25
_BRIEF: Mapping[str, str] = {
    "predicted_total_backlog_ms": "predicted_backlog_ms",
    "pending_prefill_count": "pending_prefill",
    "active_decode_count": "active_decode",
}


class WeightProblem(ValueError):
    """What was typed is no set of weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One signal of one Instance."""

    term: Term | None
    """None where nobody has told it."""
    share_ratio: float | None
    """Part of the score that it makes up; None where that is not known."""

    @property
    def text(self) -> str:
        """The weighted value; of a signal that does not count, the value itself."""
        if self.term is None:
            return UNTOLD
        weighted = self.term.value if self.term.weighted is None else self.term.weighted
        return ZERO_CELL if weighted == 0 else in_few_cells(weighted)

    @property
    def shade(self) -> Shade:
        """How dark it is."""
        share = self.share_ratio
        if not share or share < 0:
            return "none"
        return "dark" if share >= _DARK else "medium" if share >= _MEDIUM else "light"


def signals_of(weights: Mapping[str, float]) -> tuple[str, ...]:
    """Return the signals that the Proxy weighs: those that count first, in their usual order."""
    known = [*(name for name in SIGNALS if name in weights), *(set(weights) - set(SIGNALS))]
    return tuple(sorted(known, key=lambda name: (not weights[name], known.index(name))))


def cell_of(row: ScoreRow, signal: str) -> Cell:
    """Return the cell of one signal and one Instance."""
    term = next((term for term in row.terms if term.signal == signal), None)
    total = sum(term.weighted or 0.0 for term in row.terms)
    share = None
    if term is not None and term.weighted is not None and total > 0:
        share = term.weighted / total
    return Cell(term=term, share_ratio=share)


def total_text(score: float | None) -> str:
    """Write the Proxy's total."""
    return UNTOLD if score is None else render_score(score)


def rank_text(rank: int | None, ties: Mapping[int, int]) -> str:
    """Write a place in the order; `=` is a tie, `ex` is not in the choice."""
    if rank is None:
        return "ex"
    return f"{rank}=" if ties.get(rank, 0) > 1 else str(rank)


def brief(signal: str) -> str:
    """Return a signal's name for a narrow column."""
    return _BRIEF.get(signal, signal)


def in_few_cells(value: float) -> str:
    """Write a value in at most five cells; what is too small for that is not written as 0."""
    if value < 0 or value >= 10_000:
        return f"{value:.0f}" if -1_000 < value < 100_000 else f"{value / 1_000:.0f}k"
    if value >= 1_000:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 0.05 else "<.05"


def tails(ids: Sequence[str]) -> list[str]:
    """Return what tells ids apart: without the words that all of them begin with."""
    if len(ids) < 2:
        return list(ids)
    first, last = min(ids), max(ids)
    same = 0
    while same < len(first) and same < len(last) and first[same] == last[same]:
        same += 1
    while same and first[same - 1] not in "-_.:/":
        same -= 1
    return [id_[same:] or id_ for id_ in ids]


def read_weights(text: str, weights: Mapping[str, float]) -> dict[str, float]:
    """Read `inflight=0.5 ready=2`; a name may be cut short. Raises WeightProblem."""
    found: dict[str, float] = {}
    for part in text.replace(",", " ").split():
        name, _, typed = part.partition("=")
        signal = _signal(name, weights)
        try:
            weight = float(typed)
        except ValueError:
            raise WeightProblem(f"{signal}={typed}: a weight is a number") from None
        if not 0 <= weight < float("inf"):
            raise WeightProblem(f"{signal}={typed}: a weight is finite and not below 0")
        found[signal] = weight
    return found


def _signal(name: str, weights: Mapping[str, float]) -> str:
    if name in weights:
        return name
    short = [signal for signal, said in SHORT_NAMES.items() if said == name and signal in weights]
    near = short or [signal for signal in weights if name and signal.startswith(name)]
    if len(near) == 1:
        return near[0]
    if near:
        raise WeightProblem(f"{name!r} may be {' or '.join(near)}")
    raise WeightProblem(f"no signal is called {name!r}; there are {', '.join(weights)}")


def order_told(rows: Sequence[ScoreRow]) -> tuple[list[str], bool]:
    """Return the ids in the order of a what-if, and whether that is another than now."""
    inside = [row for row in rows if row.what_if_rank is not None]
    now = [row.id for row in sorted(inside, key=lambda row: (row.rank or 0, row.id))]
    then = [row.id for row in sorted(inside, key=lambda row: (row.what_if_rank or 0, row.id))]
    return then, now != then


def changes_told(weights: Mapping[str, float], wanted: Mapping[str, float]) -> str:
    """Say which weights a what-if changes."""
    return ", ".join(
        f"{brief(name)} {render_number(weights.get(name, 0.0))}→{render_number(weight)}"
        for name, weight in wanted.items()
    )
