"""What least_load makes of each Instance, part by part, and why some are not in the choice.

The score is the Proxy's total, never worked out again here. Only a what-if is: the same
parts under other weights, which changes nothing at the Proxy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from cacheroute.console import cast
from cacheroute.console.amounts import render_duration, render_number, render_score
from cacheroute.console.cells import UNKNOWN
from cacheroute.console.columns import NAME_FLOOR, Column, Kind
from cacheroute.console.lines import Line
from cacheroute.console.rows.states import (
    SIGNS,
    TONES,
    Liveness,
    Shown,
    liveness_of,
    shown_state,
)

if TYPE_CHECKING:
    from cacheroute.wire.debug import InstanceLoadRow, InstanceLoadsReply
    from cacheroute.wire.instances import InstanceRow

SHORT_NAMES: Mapping[str, str] = {
    "inflight": "infl",
    "active_prepare": "preparing",
    "active_ready": "released",
    "prepare_queue_depth": "prep",
    "ready_queue_depth": "ready",
    "pending_prefill_count": "prefill",
    "active_decode_count": "decode",
    "predicted_total_backlog_ms": "backlog_ms",
}


class UnknownSignal(ValueError):
    """A what-if names a weight that the Proxy does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One part of a score."""

    signal: str
    value: float
    weight: float
    weighted: float | None
    """Value times weight, as the Proxy says; None where the weight is 0."""
    source: str | None
    """Who counted it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """The score of one Instance."""

    id: str
    state: Shown
    rank: int | None
    """1 is the least loaded; None for those that are not in the choice."""
    score: float | None
    """The Proxy's total; lower wins."""
    share: float | None
    """The Instance's own weight, which divides the sum of the parts."""
    terms: tuple[Term, ...]
    excluded: str | None
    """Why it is not in the choice; None when it is."""
    behind: str | None
    """The one that ranks first, where that is another."""
    what_if_score: float | None
    """Worked out here, under other weights; None where nobody asked."""
    what_if_rank: int | None


def score_rows(entries: Sequence[InstanceRow], loads: InstanceLoadsReply) -> list[ScoreRow]:
    """Return a row for each Instance with a load, in the order that least_load prefers."""
    entry_of = {entry.instance_id: entry for entry in entries}
    return ranked(_row(load, entry_of.get(load.instance_id), loads) for load in loads.instances)


def ranked(rows: Iterable[ScoreRow]) -> list[ScoreRow]:
    """Number those that are in the choice, in the order that least_load prefers; the rest last."""
    rows = list(rows)
    inside = sorted((row for row in rows if row.excluded is None), key=_by_score)
    out = sorted((row for row in rows if row.excluded is not None), key=lambda row: row.id)
    first = inside[0] if inside else None
    ranks = _ranks([(row.id, row.score) for row in inside])
    numbered = [
        replace(
            row,
            rank=ranks[row.id],
            behind=first.id if first is not None and ranks[row.id] > 1 else None,
        )
        for row in inside
    ]
    return numbered + out


def _ranks(scores: Sequence[tuple[str, float | None]]) -> dict[str, int]:
    """Number what is sorted already; equals share the lowest number, as turns decide."""
    ranks: dict[str, int] = {}
    before: float | None = None
    rank = 0
    for place, (id_, score) in enumerate(scores, 1):
        rank = rank if place > 1 and score == before else place
        ranks[id_], before = rank, score
    return ranks


def what_if(rows: Sequence[ScoreRow], weights: Mapping[str, float]) -> list[ScoreRow]:
    """Add what the scores would be under these weights; raises UnknownSignal.

    Signals that no Instance has told are not in the sum, as at the Proxy.
    """
    known = {term.signal for row in rows for term in row.terms}
    for signal in weights:
        if signal not in known:
            near = get_close_matches(signal, known, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            there = ", ".join(sorted(known)) or "none"
            raise UnknownSignal(f"no Instance tells {signal!r}{meant or '.'} There are: {there}")
    totals = {
        row.id: sum(term.value * weights.get(term.signal, term.weight) for term in row.terms)
        / row.share
        for row in rows
        if row.excluded is None and row.terms and row.share
    }
    ranks = _ranks(sorted(totals.items(), key=lambda item: (item[1], item[0])))
    return [
        replace(row, what_if_score=totals.get(row.id), what_if_rank=ranks.get(row.id))
        for row in rows
    ]


def _row(load: InstanceLoadRow, entry: InstanceRow | None, loads: InstanceLoadsReply) -> ScoreRow:
    score = load.least_load_score
    liveness = liveness_of(
        is_alive=load.is_alive,
        said=entry.state if entry else None,
        age_s=_age_s(entry, loads),
        ttl_s=loads.ttl_s,
    )
    state = shown_state(
        liveness,
        draining=entry.draining if entry else False,
        ejected_for_s=entry.ejected_for_s if entry else 0.0,
    )
    return ScoreRow(
        id=load.instance_id,
        state=state,
        rank=None,
        score=score.total,
        share=entry.weight if entry else 1.0,
        terms=tuple(
            Term(
                signal=signal,
                value=value,
                weight=score.weights.get(signal, 0.0),
                weighted=score.weighted_components.get(signal),
                source=score.source.get(signal),
            )
            for signal, value in score.components.items()
        ),
        excluded=why_excluded(
            state,
            liveness,
            inflight=load.inflight,
            ejected_for_s=entry.ejected_for_s if entry else 0.0,
            weight=entry.weight if entry else 1.0,
            score=score.total,
        ),
        behind=None,
        what_if_score=None,
        what_if_rank=None,
    )


def _age_s(entry: InstanceRow | None, loads: InstanceLoadsReply) -> float | None:
    if entry is None:
        return None
    return entry.age_s if entry.age_s is not None else loads.generated_at - entry.last_seen_at


def why_excluded(
    state: Shown,
    liveness: Liveness,
    *,
    inflight: int | None,
    ejected_for_s: float,
    weight: float,
    score: float | None,
) -> str | None:
    """Say why an Instance is not in the choice; None when it is."""
    if liveness != "alive":
        return "last seen more than its time to live ago" if liveness == "stale" else "expired"
    if state == "drain":
        return f"draining ({UNKNOWN if inflight is None else inflight} left)"
    if state == "ejected":
        return f"failed lately, rests for {render_duration(ejected_for_s)}"
    if weight == 0:
        return "its weight is 0"
    return "no signal is known" if score is None else None


def _by_score(row: ScoreRow) -> tuple[float, str]:
    return (float("inf") if row.score is None else row.score, row.id)


def parts_of(row: ScoreRow) -> str:
    """Write the parts that count: `infl 4×1 + prep 1×1`."""
    parts = [
        f"{SHORT_NAMES.get(term.signal, term.signal)} "
        f"{render_number(term.value)}×{render_number(term.weight)}"
        for term in row.terms
        if term.weight and term.value
    ]
    return " + ".join(parts) or ("0" if row.terms else UNKNOWN)


def difference(row: ScoreRow, rows: Iterable[ScoreRow]) -> str | None:
    """Say what puts it behind the first: `behind i-1: infl +1, prep +1`."""
    first = next((other for other in rows if other.id == row.behind), None)
    if first is None:
        return None
    its = {term.signal: term.value * term.weight for term in first.terms}
    mine = {term.signal: term.value * term.weight for term in row.terms}
    changes = {signal: mine.get(signal, 0.0) - its.get(signal, 0.0) for signal in {**its, **mine}}
    told = ", ".join(
        f"{SHORT_NAMES.get(signal, signal)} {change:+.4g}"
        for signal, change in changes.items()
        if change
    )
    return f"behind {first.id}: {told or 'its weight'}"


_SOURCES: Mapping[str, str] = {
    "proxy_lifecycle_counter": "the Proxy",
    "proxy_queue_manager": "its queues",
    "instance_heartbeat": "heartbeat",
}
"""Who has a signal, in fewer letters than the published name."""


def source_in_words(source: str | None) -> str:
    """Say who has told a signal; as it came where that is a name we do not know."""
    return _SOURCES.get(source or "", source or "")


def explained(row: ScoreRow, rows: Iterable[ScoreRow]) -> list[Line]:
    """Write one score out, a line for each part."""
    head = [render_score(row.score)]
    if row.rank is not None:
        head.append(f"rank {row.rank}")
    if row.excluded is not None:
        head.append(f"not in the choice: {row.excluded}")
    parts = [
        f"{term.signal:<26} {render_number(term.value):>8} × {render_number(term.weight):<5} = "
        f"{'0' if term.weighted is None else render_number(term.weighted):>7}"
        f"  {source_in_words(term.source)}".rstrip()
        for term in row.terms
    ]
    if row.share not in (None, 1.0):
        parts.append(f"{'divided by its weight':<26} {render_number(row.share):>8}")
    if (behind := difference(row, rows)) is not None:
        parts.append(behind)
    if row.what_if_score is not None:
        what_if = f"{render_score(row.what_if_score)}, rank {row.what_if_rank}"
        parts.append(f"what-if, worked out here: {what_if}")
    return [
        Line(label="score", facts=(row.id, *head)),
        *(Line(label="", facts=(part,)) for part in parts),
    ]


COLUMNS: tuple[Column[ScoreRow], ...] = (
    Column(
        key="sign",
        header=" ",
        text=lambda row: SIGNS[row.state],
        value=lambda row: SIGNS[row.state],
        tone=lambda row: TONES[row.state],
        doc="The state as a sign.",
    ),
    cast.count("rank", "RANK", "Place in the order of least_load; equals share one.",
        unknown="It is not in the choice.", lacks=True),
    cast.word("id", "ID", "Name of the Instance.", gives_way=True, floor=NAME_FLOOR),
    cast.score(
        "score", "SCORE", "What least_load compares; lower wins. Ties go by turns.",
        source="the Proxy: signals times weights, divided by the Instance's weight",
        unknown="It has no known signals, or its weight is 0.", lacks=True,
    ),
    Column(
        key="parts",
        header="PARTS",
        text=lambda row: row.excluded or parts_of(row),
        value=lambda row: row.excluded or parts_of(row),
        doc="The signals that count times their weights, or why it is not in the choice.",
        gives_way=True,
    ),
    cast.score(
        "what_if_score", "WHAT-IF", "The score under the weights that were asked for.",
        source="worked out here from the Proxy's signals; nothing changes there",
        unknown="Nobody asked.", lacks=True, spare=True,
    ),
    cast.count(
        "what_if_rank", "RANK-IF", "Place in the order under those weights.", spare=True,
        unknown="Nobody asked.", lacks=True,
    ),
    cast.word("state", "STATE", "How the Instance is.", wide=True),
    cast.number("share", "WEIGHT", "Its own weight, which divides the sum of the parts.",
        wide=True),
    cast.word("excluded", "EXCLUDED", "Why it is not in the choice.", unknown="It is in it.",
        lacks=True,
        wide=True),
)  # fmt: skip

SCORES: Kind[ScoreRow] = Kind(
    name="scores",
    noun="scores",
    columns=COLUMNS,
    name_of=lambda row: row.id,
    searched=lambda row: row.id,
)
